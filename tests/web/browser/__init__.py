"""The web interface in a real browser: Debian's Chromium, driven by Playwright, on the program of the built wheel."""

from pathlib import Path

CHROMIUM = Path("/usr/bin/chromium")
