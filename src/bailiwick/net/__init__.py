"""Fetch one thing politely: a URL and a permission in, an answer out."""
