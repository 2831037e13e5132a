"""Labels with what they say: rows of tables, lists of definitions, "Label: value", headings with the text below."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from bailiwick.extract.items.lines import Line, Link, Zone

_MOST_LABEL_CHARS = 80
_MOST_VALUE_CHARS = 1_500
_MOST_VALUE_LINES = 20
_INLINE = re.compile(r"^([^:：.!]{2,60}?)\s?[:：]\s+(\S.*)$")
_SHORT_WORDS = 8


@dataclass(slots=True)
class Pair:
    """A label and its value: the lines of it, and the links within."""

    label: str
    lines: list[str]
    zone: Zone
    at: int
    """Place of the label among the page's lines."""
    end: int
    is_structural: bool
    """The markup says that it is a label; otherwise only its shortness does."""
    links: list[Link] = field(default_factory=list)

    @property
    def value(self) -> str:
        return " ".join(self.lines)[:_MOST_VALUE_CHARS]


def read_pairs(lines: list[Line]) -> list[Pair]:
    """All pairs of the matter in the order of their labels. One line may be the label of several."""
    found: list[Pair] = []
    for at, line in enumerate(lines):
        if line.text and line.zone in (Zone.MAIN, Zone.HEADER):
            found += _pairs_at(lines, at, line)
    return found


def _pairs_at(lines: list[Line], at: int, line: Line) -> Iterable[Pair]:
    text = line.text
    if line.lead:
        rest = text[len(line.lead) :].lstrip(" :.–—-") if text.startswith(line.lead) else ""
        if rest:
            yield Pair(_label(line.lead), [rest], line.zone, at, at + 1, is_structural=True, links=line.links)
            if line.lead.rstrip().endswith((":", "?", ".")):
                return
    inline = _INLINE.match(text)
    if inline and not inline[2].startswith("//"):
        yield Pair(
            _label(inline[1]), [inline[2]], line.zone, at, at + 1, is_structural=line.tag != "p", links=line.links
        )
    if len(text) > _MOST_LABEL_CHARS:
        return
    if line.row and (beside := _beside(lines, at, line)) is not None:
        yield beside
        return
    is_structural = line.level > 0
    is_only_link = any(link.text == text and not link.is_button for link in line.links)
    if is_structural or (not is_only_link and len(text.split()) <= _SHORT_WORDS and text[-1] not in ".!,;"):
        value, links, end = _below(lines, at, line, is_structural=is_structural)
        if value:
            yield Pair(_label(text), value, line.zone, at, end, is_structural, links)


def _label(text: str) -> str:
    return text.strip(" \t:：.–—-")[:_MOST_LABEL_CHARS].casefold()


def _beside(lines: list[Line], at: int, line: Line) -> Pair | None:
    """In a row of two cells the first is the label of the second."""
    if line.cell != 1:
        return None
    value: list[str] = []
    links: list[Link] = []
    end = at + 1
    while end < len(lines) and lines[end].row == line.row and len(value) < _MOST_VALUE_LINES:
        if lines[end].cell > 2 or lines[end].cell < 1:
            return None
        if lines[end].cell == 2:
            value.append(lines[end].text)
            links += lines[end].links
        end += 1
    return Pair(_label(line.text), value, line.zone, at, end, is_structural=True, links=links) if value else None


def _below(lines: list[Line], at: int, label: Line, *, is_structural: bool) -> tuple[list[str], list[Link], int]:
    """The text below a label: down to the next heading, or one paragraph of a label that only looks like one."""
    value: list[str] = []
    links: list[Link] = []
    chars, place = 0, at + 1
    for place in range(at + 1, min(len(lines), at + 1 + _MOST_VALUE_LINES)):
        line = lines[place]
        if line.level or line.zone is not label.zone or line.row != label.row:
            break
        if (
            not is_structural
            and value
            and not (line.tag == "li" or line.block == lines[place - 1].block or value[-1].endswith(":"))
        ):
            break
        if is_structural and label.tag == "dt" and line.tag == "dt":
            break
        links += line.links
        if value and any(link.is_button and link.text == line.text for link in line.links):
            continue  # a button below the text is no part of it
        value.append(line.text)
        chars += len(line.text)
        if chars > _MOST_VALUE_CHARS:
            break
    else:
        place += 1
    return [text for text in value if text], links, place
