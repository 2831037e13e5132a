"""Exports. In: what is known of pages, items and domains; out: a file, whole or not at all, that can go on later."""
