"""The text of a robots.txt, read for one crawler: bytes in, the lines that are meant for it out.

`protego` finds the group of an agent and matches patterns. The lines are put into groups here, for three reasons: a
User-agent line may say more than the product token (RFC 9309 section 2.2.1: `foo bar` is for foo); a group in which no
line can be understood is none, and its agent obeys `*` (2.2.4: such lines must not interfere); and a group's rules must
not be copied for each of its agents (a file of 14,000 agents and 16,000 rules would take minutes).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from protego import Protego

MAX_BYTES = 500 * 1024
"""What is read of a file (RFC 9309 section 2.5). Whoever cuts a longer one hands in at least a byte more than this."""


class Field(StrEnum):
    AGENT = "User-agent"
    ALLOW = "Allow"
    DISALLOW = "Disallow"
    DELAY = "Crawl-delay"
    SITEMAP = "Sitemap"
    HOST = "Host"
    HOURS = "Visit-time"
    OTHER = "other"


class Line(NamedTuple):
    field: Field
    value: str

    def __str__(self) -> str:
        return f"{self.field}: {self.value}"


_SPELLINGS = {
    Field.AGENT: ("user-agent", "user agent", "useragent"),
    Field.ALLOW: ("allow",),
    Field.DISALLOW: ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"),
    Field.DELAY: ("crawl-delay", "crawl delay"),
    Field.SITEMAP: ("sitemap", "sitemaps", "site-map"),
    Field.HOST: ("host",),
    Field.HOURS: ("visit-time", "visit time", "request-rate", "request rate"),
}
"""Fields as they are met with: protego's list."""
_FIELDS = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings}
_SITE_WIDE = frozenset({Field.SITEMAP, Field.HOST})
"""They stand anywhere, and end no group (RFC 9309 section 2.2.4)."""
_KNOWN = re.compile(rf"({'|'.join(_FIELDS)})(?:\s*+:|\s|$)(.*)", re.IGNORECASE | re.DOTALL | re.ASCII)
_LINE_END = re.compile(r"\r\n?|\n")
_BYTE_ORDER_MARK = re.compile(rb"\xef\xbb\xbf|\xff\xfe|\xfe\xff")
_HTML = re.compile(r"\s*<(!doctype\s+html|html|head)\b", re.IGNORECASE)


def read_lines(body: bytes) -> list[Line]:
    """The lines that mean something, in order. A page of HTML (a soft 404) has none."""
    text = _text(body)
    if _HTML.match(text):
        return []
    found = (_line(line.partition("#")[0].strip()) for line in _LINE_END.split(text))
    return [line for line in found if line]


def _line(text: str) -> Line | None:
    if match := _KNOWN.match(text):
        return Line(_FIELDS[match[1].lower()], match[2].strip())
    return Line(Field.OTHER, "") if ":" in text else None


def _text(body: bytes) -> str:
    if len(body) > MAX_BYTES:
        start = body[: MAX_BYTES + 1]
        body = start[: max(start.rfind(b"\n"), start.rfind(b"\r"), 0)]
    mark = _BYTE_ORDER_MARK.match(body)
    # Without its NULs, ASCII in UTF-16 can be read.
    return body[mark.end() if mark else 0 :].replace(b"\0", b"").decode("utf-8", "replace")


@dataclass(slots=True)
class _Group:
    """Agents, and the lines for them."""

    agents: set[str] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)


def lines_for(agent: str, lines: Iterable[Line]) -> list[Line]:
    """The lines of the agent's group, wherever it stands in pieces; those of `*` where it has none."""
    groups = _groups((line for line in lines if line.field not in _SITE_WIDE), _first_word(agent.lower()))
    ours = _lines_of(_chosen(agent, {name: None for group in groups for name in sorted(group.agents)}), groups)
    return ours if any(line.field is not Field.OTHER for line in ours) else _lines_of("*", groups)


def _lines_of(name: str | None, groups: Iterable[_Group]) -> list[Line]:
    return list(dict.fromkeys(line for group in groups if name in group.agents for line in group.lines))


def _groups(lines: Iterable[Line], product: str) -> list[_Group]:
    groups = [_Group()]
    for line in lines:
        if line.field is not Field.AGENT:
            groups[-1].lines.append(line)
            continue
        if groups[-1].lines:
            groups.append(_Group())
        if name := _name(line.value, product):
            groups[-1].agents.add(name)
    return groups


def _name(value: str, product: str) -> str:
    """Whom a User-agent line means: everybody, us by our product token, or somebody as it says."""
    name = " ".join(value.lower().split())
    first = _first_word(name)
    if first and not first.strip("*"):
        return "*"
    return product if first == product else name.replace("*", "").strip()


def _first_word(text: str) -> str:
    return re.split(r"[\s/]", text.strip(), maxsplit=1)[0]


def _chosen(agent: str, names: Iterable[str]) -> str | None:
    """The name that is the agent's by protego's rule. It is asked by way of delays: each name has its own."""
    numbered = list(names)
    text = "".join(f"User-agent: {name}\nCrawl-delay: {number}\n" for number, name in enumerate(numbered))
    number = Protego.parse(text).crawl_delay(agent)
    return None if number is None else numbered[int(number)]
