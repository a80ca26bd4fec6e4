"""What fits together: exact windows over constraints, and why a version is outside of one."""
