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


_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_MAX_LIST_DEPTH = 20
"""A list is indented by its depth: a text of lists within lists grows with its square."""


def tamed(html: str, *, max_chars: int, max_tags: int, max_depth: int) -> str:
    """The document within these limits; itself, if it is."""
    html = html[:max_chars]
    if html.count("<") <= _CALM_TAGS:
        return html
    html = _flattened(html, max_depth) if _is_deep(html, max_depth) else html
    following = next(islice(re.finditer("<", html), max_tags, None), None)
    return html if following is None else html[: following.start()]


def _is_deep(html: str, max_depth: int) -> bool:
    """Whether anything is deeper than allowed. A pass of its own: nearly no page is, and rewriting one takes longer."""
    depth = lists = 0
    for closing, name in _TAG.findall(html):
        name = name.lower()  # noqa: PLW2901
        if name in _NEVER_DEEP:
            continue
        if name in _LISTS:
            lists = max(0, lists - 1) if closing else lists + 1
        else:
            depth = max(0, depth - 1) if closing else depth + 1
        if depth > max_depth or lists > _MAX_LIST_DEPTH:
            return True
    return False


def _flattened(html: str, max_depth: int) -> str:
    """With the tags of what is too deep taken out; each leaves a newline, so that words stay apart."""
    depths = {False: 0, True: 0}

    def flatten(tag: re.Match[str]) -> str:
        name = tag[2].lower()
        if name in _NEVER_DEEP:
            return tag[0]
        is_list = name in _LISTS
        limit = _MAX_LIST_DEPTH if is_list else max_depth
        before = depths[is_list]
        after = depths[is_list] = max(0, before - 1) if tag[1] else before + 1
        return "\n" if max(before, after) > limit else tag[0]

    return _TAG.sub(flatten, html)
