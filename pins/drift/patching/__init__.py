"""Whether patches still fit the sources that they are applied to."""
