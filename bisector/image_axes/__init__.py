"""Prebuilt images as candidates: the tags of a repository from one that is good to one that is bad."""
