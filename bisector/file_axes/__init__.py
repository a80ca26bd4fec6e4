"""Axes from files: what differs between two revisions of a Dockerfile, and the file of each candidate in between."""
