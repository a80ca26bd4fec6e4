"""Environments: what is installed together, gathered from the files that say so."""
