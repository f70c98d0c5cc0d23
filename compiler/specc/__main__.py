"""`python -m specc` is the command `specc`."""

from specc.cli import main

if __name__ == "__main__":
    main()
