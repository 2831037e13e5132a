"""Markdown of a page's main content, by trafilatura: the dear step, for pages that matter. In the extra `content`."""

import logging
import re
from functools import cache

from bailiwick.extract.clean import clean
from bailiwick.extract.extras import has_content
from bailiwick.extract.sniffing import kind_of
from bailiwick.extract.taming import tamed
from bailiwick.model.content import ContentKind
from bailiwick.net.charsets import decode

MAX_MARKDOWN_CHARS = 1_000_000
_MAX_HTML_CHARS = 3_000_000
_MAX_TAGS = 40_000
_MAX_DEPTH = 200
"""libxml2 gives a document up at 256."""
_RULER = re.compile(r"^[ \t]*\|?[ \t:|-]*---[ \t:|-]*$", re.M)
_LINK = re.compile(r"(?:!\[|\[)([^\[\]\n]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?\)")
_LINE_MARK = re.compile(r"\n[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+][ \t]+|```\w*[ \t]*$)", re.M)
_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.M)
_INLINE_MARK = re.compile(r"\*(?:\*\*?|(?<!\w\*)(?=\S)|(?<=\S\*)(?!\w))|`|~~|__")
# Each of them that is looked for in a whole text begins with one of a few characters: an expression that may begin with
# anything is tried at every place, which took a fifth of trafilatura's own time.


def markdown_of(body: bytes, content_type: str, url: str) -> str | None:
    """None where the extra is missing, the body is no HTML, or nothing in it is main content."""
    if not has_content() or kind_of(body, content_type) is not ContentKind.HTML:
        return None
    html = tamed(decode(body, content_type), max_chars=_MAX_HTML_CHARS, max_tags=_MAX_TAGS, max_depth=_MAX_DEPTH)
    found = _extract(html, url)
    return (clean(found, MAX_MARKDOWN_CHARS) or None) if found else None


def text_of_markdown(markdown: str) -> str:
    """The words alone, for scoring and search: no marks, no addresses of links."""
    text = _RULER.sub("", markdown) if "---" in markdown else markdown
    text = _LINK.sub(r"\1", text) if "](" in text else text
    text = _LINE_MARK.sub("\n", f"\n{text}")[1:]
    text = _ROW.sub(lambda row: row[0].strip("| ").replace("|", " "), text) if "|" in text else text
    text = _INLINE_MARK.sub("", text)
    return clean(text, MAX_MARKDOWN_CHARS)


def _extract(html: str, url: str) -> str | None:
    """trafilatura gives up with exceptions of many kinds on odd documents: no markdown then, the text is there."""
    _silence()
    import trafilatura

    try:
        return trafilatura.extract(
            html, url=url, output_format="markdown", include_comments=False, include_tables=True, include_links=True,
            deduplicate=False, with_metadata=False,
        )  # fmt: skip
    except Exception:  # noqa: BLE001
        return None


@cache
def _silence() -> None:
    """A line for each odd page is nothing that a person reads; what became of a page is in its outcome.

    Before the first import: some of them talk while they are loaded."""
    for name in ("trafilatura", "htmldate", "courlan", "justext", "readability", "lxml"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
