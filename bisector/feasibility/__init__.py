"""What can be told of a candidate before it is built: that its pins exclude one another, or that people know it bad."""
