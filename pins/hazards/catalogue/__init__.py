"""What is said of each rule: why it matters, where it happened, what to do, a file that has it and one that has not."""
