"""Documents made to keep a parser busy, cut down to what it reads in good time.

The parsers are quadratic in the depth of a document and in the number of its blocks. What goes deeper than a limit is
laid flat (its tags are taken out, its text stays), what comes after very many tags is left out. Ordinary pages pass
untouched, for the price of counting their `<` or, if they have many, of reading the names of their tags.
"""

import re
from collections.abc import Iterable
from itertools import accumulate, islice
from operator import sub

_CALM_TAGS = 5_000
"""A document with fewer tags cannot be deep enough to matter: at worst it takes half a second."""
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>?")
_NAME = re.compile(r"<(/?[a-zA-Z][a-zA-Z0-9]*)")
"""Of the same tags no more than the name, with the stroke of a closing one."""
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
    tags = html.count("<")
    if tags <= _CALM_TAGS:
        return html
    if _is_deep(html, max_depth):
        html = _flattened(html, max_depth)
    following = next(islice(re.finditer("<", html), max_tags, None), None) if tags > max_tags else None
    return html if following is None else html[: following.start()]


def _is_deep(html: str, max_depth: int) -> bool:
    """Whether anything is deeper than allowed. A pass of its own: nearly no page is, and rewriting one takes longer."""
    names = _NAME.findall(html)
    steps = {name: _step(name) for name in set(names)}
    lists = {name: step for name, step in steps.items() if name.lstrip("/").lower() in _LISTS}
    others = steps | dict.fromkeys(lists, 0)
    return _goes_below(map(others.__getitem__, names), max_depth) or _goes_below(
        map(lists.__getitem__, filter(lists.__contains__, names)), _MAX_LIST_DEPTH
    )


def _step(name: str) -> int:
    """How much deeper what follows a tag is."""
    if name.lstrip("/").lower() in _NEVER_DEEP:
        return 0
    return -1 if name[0] == "/" else 1


def _goes_below(steps: Iterable[int], limit: int) -> bool:
    """Whether a walk that never goes above its start gets deeper than that, without a step of Python for each tag."""
    heights = list(accumulate(steps, initial=0))
    if max(heights) - min(heights) <= limit:  # as deep as it can be, whatever comes first
        return False
    depths: Iterable[int] = map(sub, heights, accumulate(heights, min))
    return max(depths) > limit


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
