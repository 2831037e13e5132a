"""The command line: one module a noun. Data goes to stdout, everything else to stderr."""
