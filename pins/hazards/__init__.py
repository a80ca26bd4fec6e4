"""Hazards: patterns in a file that make its pins lie.

One rule is one function; `table` lists them all. `subject` is what a rule looks at, `check` runs them.
"""
