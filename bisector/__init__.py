"""Find the first bad pin."""
