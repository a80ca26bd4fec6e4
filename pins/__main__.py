"""`python -m pins`: the console command, from a checkout or an environment without its scripts."""

from pins.cli import main

main()
