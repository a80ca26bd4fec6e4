"""What has moved since the last check: rules, what they may look at, and what is remembered between runs."""
