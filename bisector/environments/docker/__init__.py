"""Candidates as Docker images, and runs in containers of them."""
