"""Reading a `setup.py` without running it."""
