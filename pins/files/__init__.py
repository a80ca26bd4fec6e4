"""Where pins are written."""
