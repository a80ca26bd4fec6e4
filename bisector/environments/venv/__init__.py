"""Candidates as virtual environments, made with uv."""
