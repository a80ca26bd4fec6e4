"""Dockerfiles: split into instructions, variables evaluated, stages tied together."""
