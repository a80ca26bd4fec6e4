"""Candidates as Docker images, and runs in containers of them."""

from bisector.environments.docker.environment import DockerEnvironment

__all__ = ["DockerEnvironment"]
