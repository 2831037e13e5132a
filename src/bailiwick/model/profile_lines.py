"""Where in a TOML file a value stands: the parser does not say, and a person wants the line."""

import re
import tomllib

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.-]+)(?:\s*\.\s*(?:"[^"]*"|[A-Za-z0-9_-]+))*)\s*=""")


def line_of(text: str, location: tuple[str | int, ...]) -> int:
    """The line of the value at a location (`("bands", 1, "min")`), or of the nearest thing around it that is found.

    The text is valid TOML. Lines inside a value of several lines are told apart by parsing more and more of it.
    """
    lines = text.split("\n")
    places = _places(lines)
    for length in range(len(location), 0, -1):
        line = places.get(location[:length])
        if line is not None:
            rest = location[length:]
            return _element_line(lines, line, rest[0]) if rest and isinstance(rest[0], int) else line
    return 1


def _places(lines: list[str]) -> dict[tuple[str | int, ...], int]:
    """Lines of all tables and of the keys in them."""
    places: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    number = 1
    while number <= len(lines):
        line = lines[number - 1]
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = _path(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            for length in range(1, len(table) + 1):
                places.setdefault(table[:length], number)
        elif key is not None:
            path = (*table, *_path(key[1]))
            for length in range(1, len(path) + 1):
                places.setdefault(path[:length], number)
            number = _value_end(lines, number)
        number += 1
    return places


def _value_end(lines: list[str], start: int) -> int:
    """The last line of the value that begins on a line: the first at which it can be parsed."""
    for end in range(start, len(lines) + 1):
        try:
            tomllib.loads("\n".join(lines[start - 1 : end]))
        except tomllib.TOMLDecodeError:
            continue
        return end
    return start


def _element_line(lines: list[str], start: int, index: int) -> int:
    """The line on which an array's element ends; where that cannot be told, the array's first."""
    for end in range(start, _value_end(lines, start) + 1):
        part = "\n".join(lines[start - 1 : end])
        for closed in (part, part + "\n]"):
            try:
                (found,) = tomllib.loads(closed).values()
            except tomllib.TOMLDecodeError:
                continue
            if isinstance(found, list) and len(found) > index:
                return end
    return start


def _path(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key, unquoted by the parser itself."""
    try:
        tree: object = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted,)
    path: list[str] = []
    while isinstance(tree, dict):
        ((key, tree),) = tree.items()
        path.append(key)
    return tuple(path)
