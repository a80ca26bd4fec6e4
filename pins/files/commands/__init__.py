"""What single commands install, check out or download."""
