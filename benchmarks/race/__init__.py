"""The race: a web of known pages in, how many of them a CPU-second brings in out. See `benchmarks/crawl.py`."""
