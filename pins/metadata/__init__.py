"""What one version requires: read from metadata and source trees, never by running them."""
