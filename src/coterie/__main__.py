"""`python -m coterie` is the command line."""

from coterie.cli.main import run

if __name__ == "__main__":
    run()
