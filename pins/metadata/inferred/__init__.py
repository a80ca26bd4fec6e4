"""Constraints that code implies without declaring them."""
