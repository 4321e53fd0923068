"""One module or folder per command of `dpql`."""
