"""Parts of a page that each describe a thing of their own: headings of one level, with what stands below each."""

from collections.abc import Callable
from dataclasses import dataclass

from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.pairs import Pair

_MOST_PARTS = 30


@dataclass(frozen=True, slots=True)
class Part:
    """A heading and the lines and pairs below it."""

    name: str
    lines: list[Line]
    pairs: list[Pair]


def parts_of(lines: list[Line], pairs: list[Pair], is_one: Callable[[Part], bool]) -> list[Part]:
    """Parts that are all of the kind asked for: two at least, else the page is one thing."""
    for level in (2, 3):
        starts = [at for at, line in enumerate(lines) if line.level == level and line.zone is Zone.MAIN]
        if not 2 <= len(starts) <= _MOST_PARTS:
            continue
        ends = [*starts[1:], _end(lines, starts[-1], level)]
        parts = [
            Part(lines[start].text, lines[start + 1 : end], [pair for pair in pairs if start < pair.at < end])
            for start, end in zip(starts, ends, strict=True)
        ]
        found = [part for part in parts if is_one(part)]
        if len(found) >= 2:
            return found
    return []


def _end(lines: list[Line], start: int, level: int) -> int:
    for at in range(start + 1, len(lines)):
        if lines[at].zone is not Zone.MAIN or 0 < lines[at].level < level:
            return at
    return len(lines)
