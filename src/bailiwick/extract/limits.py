"""How much of a body is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """What lies beyond is left out; a PDF beyond `max_pdf_bytes` is not opened at all."""

    max_text_chars: int = 1_000_000
    max_html_chars: int = 5_000_000
    max_html_tags: int = 60_000
    """resiliparse is quadratic in the blocks of a page: 60,000 tags take half a second, 400,000 over 20."""
    max_html_depth: int = 1_000
    """Both parser and main text are quadratic in depth: 1,000 take 30 ms, 100,000 a minute."""
    max_pdf_pages: int = 500
    max_pdf_bytes: int = 50_000_000
