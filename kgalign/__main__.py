"""`python -m kgalign` is the command line."""

from kgalign.cli import main

if __name__ == "__main__":
    main()
