"""The shell inside RUN: which commands run, under which condition, with which words."""
