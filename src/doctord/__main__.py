"""`python -m doctord`: the command line, where no script of it is in the path."""

from doctord.cli import main

if __name__ == "__main__":  # a tool of `doctord mcp` has a process that reads this file too
    main()
