"""The command line: one module per command; arguments in, verbs called, status out."""
