"""Which candidate to try next, and when to stop."""
