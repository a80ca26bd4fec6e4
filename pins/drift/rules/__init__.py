"""The rules of `pins drift`, one subject a module."""
