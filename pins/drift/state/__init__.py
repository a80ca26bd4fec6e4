"""What is remembered between checks: the document, how a run changes it, and where it is kept."""
