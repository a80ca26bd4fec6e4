"""What is pinned, what fits, what has moved."""
