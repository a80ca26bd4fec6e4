"""Git repositories as a source of versions: a clone of our own of each, its history, its contents, checkouts of it.

Nothing is written to a repository that a user names, and nothing that it holds or configures is run.
"""
