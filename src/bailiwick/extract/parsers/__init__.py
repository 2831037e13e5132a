"""Site parsers: `web-poet` page objects of the user's own, each for the pages of some sites.

In come a folder `parsers/` and installed packages; out go items in place of the generic extractor's, and what became of
each parser on each page. Their code runs in child processes only.
"""
