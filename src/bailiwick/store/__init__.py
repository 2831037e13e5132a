"""Packs of bodies. In: what the crawl fetched; out: the same bytes by reference, for whoever extracts."""
