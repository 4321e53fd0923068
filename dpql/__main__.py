"""`python -m dpql` is the command `dpql`."""

from dpql.cli.main import main

if __name__ == "__main__":
    main()
