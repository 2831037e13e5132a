"""Documents made to keep a parser busy, cut down to what it reads in good time.

The parsers are quadratic in the depth of a document and in the number of its blocks. What goes deeper than a limit is
laid flat (its tags are taken out, its text stays), what comes after very many tags is left out. Ordinary pages pass
untouched, for the price of counting their `<`.
"""

import re
from itertools import islice

_CALM_TAGS = 5_000
"""A document with fewer tags cannot be deep enough to matter: at worst it takes half a second."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>?")
# Elements that hold nothing, or that the next one of their kind closes: they nest only within another element.
_NEVER_DEEP = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup"}
    | {"script", "style", "title"}
)


def tamed(html: str, *, max_chars: int, max_tags: int, max_depth: int) -> str:
    """The document within these limits; itself, if it is."""
    html = html[:max_chars]
    tags = html.count("<")
    if tags <= _CALM_TAGS:
        return html
    if tags > max_tags:
        html = html[: next(islice(re.finditer("<", html), max_tags, None)).start()]
    return _flattened(html, max_depth)


def _flattened(html: str, max_depth: int) -> str:
    depth = 0

    def flatten(tag: re.Match[str]) -> str:
        nonlocal depth
        if tag[2].lower() in _NEVER_DEEP:
            return tag[0]
        if tag[1]:
            is_deep = depth > max_depth
            depth = max(0, depth - 1)
        else:
            depth += 1
            is_deep = depth > max_depth
        return "\n" if is_deep else tag[0]

    return _TAG.sub(flatten, html)
