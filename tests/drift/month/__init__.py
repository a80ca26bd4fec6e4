"""A simulated month: small sources on localhost and repositories that move, checked every day."""
