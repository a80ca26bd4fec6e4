"""Where probes run."""
