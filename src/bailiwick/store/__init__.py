"""Packs of bodies: written by the crawl, read by whoever extracts."""
