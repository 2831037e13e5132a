"""How well the tags of a source fit together: a parser repairs what does not, and so hides it."""

import re
from dataclasses import dataclass

# Each character is consumed once, whatever the source: nothing here looks ahead without a limit.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)([^<>]*)>?")
_RAW = re.compile(r"<(?:!--|(script|style|textarea|title|svg)\b)", re.IGNORECASE)
_RAW_ENDS = {
    name: re.compile(f"</{name}[^<>]*>?", re.IGNORECASE) for name in ("script", "style", "textarea", "title", "svg")
}
# Elements that hold nothing, or whose end may be left out.
_FREE = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
    | {"p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "option", "optgroup", "colgroup", "caption"}
    | {"html", "head", "body", "rp", "rt"}
)
_LOOK_BACK = 40
_MOST_TAGS = 40_000


@dataclass(frozen=True, slots=True)
class Balance:
    tags: int
    faults: int
    """Elements that nothing closes, and ends that close nothing."""


def balance_of(html: str, *, is_cut: bool) -> Balance:
    """Counts the faults. What is open at the end of a source that was cut is no fault of its author's."""
    source, faults = without_raw(html)
    open_names: list[str] = []
    tags = [
        (end, name)
        for end, given, rest in _TAG.findall(source)
        if (name := given.lower()) not in _FREE and rest[-1:] != "/"
    ]
    for end, name in tags[:_MOST_TAGS]:
        if end:
            faults += _close(open_names, name)
        else:
            open_names.append(name)
    is_whole = not is_cut and len(tags) <= _MOST_TAGS
    return Balance(min(len(tags), _MOST_TAGS), faults + (len(open_names) if is_whole else 0))


def _close(open_names: list[str], name: str) -> int:
    """Close the last one of this name. Returns the faults that shows: what was left open within it, or no such one."""
    if open_names and open_names[-1] == name:
        open_names.pop()
        return 0
    recent = open_names[-_LOOK_BACK:]
    if name not in recent:
        return 1
    within = recent[::-1].index(name)
    del open_names[-1 - within :]
    return within


def without_raw(html: str) -> tuple[str, int]:
    """Without comments, scripts and their like: what is in them are no tags. And how many of them never end."""
    parts, position = [], 0
    while (start := _RAW.search(html, position)) is not None:
        parts.append(html[position : start.start()])
        position = _end(html, start)
        if position < 0:
            return "".join(parts), 1
    return "".join([*parts, html[position:]]), 0


def _end(html: str, start: re.Match[str]) -> int:
    """Where what starts there has its end; -1 for nowhere."""
    if start[1]:
        found = _RAW_ENDS[start[1].lower()].search(html, start.end())
        return -1 if found is None else found.end()
    end = html.find("-->", start.start() + 2)
    return -1 if end < 0 else end + 3
