"""Renderers: one data model, several formats."""
