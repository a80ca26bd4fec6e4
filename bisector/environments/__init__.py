"""How a candidate becomes something that can be run."""
