"""What rules read from outside: package indexes, repositories, registries, downloads."""
