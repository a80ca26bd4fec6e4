"""`python -m bisector`: the console command, from a checkout or an environment without its scripts."""

from bisector.cli import main

main()
