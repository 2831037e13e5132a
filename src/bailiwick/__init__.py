"""Bailiwick: find, judge, approve, crawl, extract, score, review and refresh web domains."""

__version__ = "0.1.0"
