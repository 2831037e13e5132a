"""How much of a body is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ContentLimits:
    """What lies beyond is left out; a PDF beyond `max_pdf_bytes` is not opened at all."""

    max_text_chars: int = 1_000_000
    max_html_chars: int = 5_000_000
    max_html_tags: int = 40_000
    """resiliparse takes time by the product of tags and text: at both limits five seconds, ten times that beyond."""
    max_html_depth: int = 400
    """Parser and main text are quadratic in depth: 1,000 take 30 ms, 100,000 a minute. Real pages stay below 100."""
    max_pdf_pages: int = 500
    max_pdf_bytes: int = 50_000_000
