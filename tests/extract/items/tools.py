"""A page as extractors see it, from a piece of HTML."""

from datetime import date

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content

URL = "https://www.oakfund.org.uk/page"


def source(body: str, url: str = URL, *, head: str = "", lang: str = "en") -> Source:
    html = f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'
    opened = open_body(html.encode(), "text/html; charset=utf-8", ContentLimits())
    assert isinstance(opened, Opened)
    content = read_opened(opened, url, ContentLimits())
    assert isinstance(content, Content), content
    return Source(url, opened.text, content, seen_on=date(2026, 11, 16))
