"""Candidates as virtual environments, made with uv."""

from bisector.environments.venv.environment import VenvEnvironment

__all__ = ["VenvEnvironment"]
