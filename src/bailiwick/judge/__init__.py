"""Search results in; for each a confidence from 0 to 1 with every judge's score and reason out. Pure."""

from bailiwick.judge.panel import Panel

__all__ = ["Panel"]
