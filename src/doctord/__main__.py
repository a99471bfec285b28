"""`python -m doctord`: the command line, where no script of it is in the path."""

from doctord.cli import main

main()
