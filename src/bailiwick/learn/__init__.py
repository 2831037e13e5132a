"""Decisions of people in; models fitted, compared and explained out. One place for judging, relevance and review."""
