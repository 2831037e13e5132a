"""`python -m bailiwick` is the same program as `bailiwick`."""

from bailiwick.cli.main import run

run()
