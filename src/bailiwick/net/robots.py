"""robots.txt by RFC 9309: an answer's status and bytes in, what may be fetched out. The caller fetches and caches."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import quote

from protego import Protego

from bailiwick.net.robots_text import MAX_BYTES, Field, Line, lines_for, read_lines

__all__ = ["MAX_BYTES", "Robots", "RobotsKind", "RobotsVerdict", "decide", "parse_robots"]

_MOST_SITEMAPS = 50
_LONGEST_URL = 2_048
_LONGEST_DELAY_SECONDS = 3_600.0
_HOUR, _DAY = 3_600, 86_400
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_ORIGIN = "http://robots.invalid"
_SOMEWHERE = "/4b41494c5749434b"
_MOST_OPENINGS = 200
_MOST_LOOKED_AT = 500
"""Each line costs 14 microseconds, and a page that is refused costs no request that would slow us down."""


@dataclass(frozen=True, slots=True)
class Robots:
    """What one origin asks of our agent. Without rules everything is allowed; /robots.txt itself always is."""

    rules: tuple[Line, ...] = ()
    crawl_delay_seconds: float | None = None
    sitemaps: tuple[str, ...] = ()
    _matcher: Protego = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_matcher", _matcher(self.rules))

    def allows(self, path_and_query: str) -> bool:
        return not self.rules or self._matcher.can_fetch(_url(path_and_query), "*")

    def rule_for(self, path_and_query: str) -> str | None:
        """The line that forbids the path: the longest of those that match. Among thousands it is not looked for."""
        if self.allows(path_and_query):
            return None
        if len(self.rules) > _MOST_LOOKED_AT:
            return f"one of {len(self.rules):,} lines"
        url = _url(path_and_query)
        longest_first = sorted(self._lines(Field.DISALLOW), key=lambda line: len(line.value), reverse=True)
        return next((str(line) for line in longest_first if not _matcher([line]).can_fetch(url, "*")), None)

    @property
    def denies_everything(self) -> bool:
        """Whether nothing can be fetched: the home page, some other page, and whatever an Allow line names are denied.

        Hundreds of Allow lines are taken to open something, untried: who writes them means it.
        """
        if self.allows("/") or self.allows(_SOMEWHERE):
            return False
        patterns = [line.value.removesuffix("$") for line in self._lines(Field.ALLOW)]
        if len(patterns) > _MOST_OPENINGS:
            return False
        opened = {pattern.replace("*", filling) for pattern in patterns for filling in ("", "0")} - {"/robots.txt"}
        return not any(map(self.allows, opened))

    def _lines(self, wanted: Field) -> list[Line]:
        return [line for line in self.rules if line.field is wanted]


def parse_robots(body: bytes, agent: str) -> Robots:
    """Read a robots.txt for our agent: a product token (best), or a whole User-Agent header.

    Whatever the bytes are, this answers, and in time that grows with their number, which is bounded (MAX_BYTES).
    """
    everything = read_lines(body)
    ours = lines_for(agent, everything)
    return Robots(
        tuple(line for line in ours if line.field in (Field.ALLOW, Field.DISALLOW) and line.value),
        _delay(line.value for line in ours if line.field is Field.DELAY),
        _sitemaps(line.value for line in everything if line.field is Field.SITEMAP),
    )


class RobotsKind(StrEnum):
    RULES = "rules"
    OPEN = "open"
    CLOSED_FOR_NOW = "closed_for_now"


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    kind: RobotsKind
    robots: Robots
    expires_seconds: int
    reason: str

    @property
    def denies_domain(self) -> bool:
        """Whether the site itself says no to everything. A server that could not be asked did not."""
        return self.kind is RobotsKind.RULES and self.robots.denies_everything


class _Row(NamedTuple):
    statuses: range
    kind: RobotsKind
    expires_seconds: int
    reason: str


_NO_ANSWER = _Row(range(0), RobotsKind.CLOSED_FOR_NOW, _HOUR, "robots.txt could not be reached (2.3.1.4)")
_ROWS = (
    _Row(range(200, 300), RobotsKind.RULES, _DAY, "robots.txt was read (2.3.1.1)"),
    # Redirects are followed by the caller; one that is handed in was one too many, or led nowhere.
    _Row(range(300, 400), RobotsKind.OPEN, _HOUR, "robots.txt redirects too often (2.3.1.2)"),
    # The RFC counts 429 among the other 4xx: yes. We take it for what it says: not now.
    _Row(range(429, 430), RobotsKind.CLOSED_FOR_NOW, _HOUR, "the server asked for a pause"),
    _Row(range(400, 500), RobotsKind.OPEN, _DAY, "there is no robots.txt (2.3.1.3)"),
    _Row(range(500, 600), RobotsKind.CLOSED_FOR_NOW, _HOUR, "the server failed (2.3.1.4)"),
)
"""The first row that holds the status decides; where none does, or there is none, `_NO_ANSWER`. Sections: RFC 9309."""


def decide(status: int | None, body: bytes | None, agent: str) -> RobotsVerdict:
    """What the answer to a request for robots.txt means. No status: no answer. No body: it broke off.

    A 304 is for the caller, who has the body it stands for.
    """
    row = next((row for row in _ROWS if status is not None and status in row.statuses), _NO_ANSWER)
    robots = Robots()
    if row.kind is RobotsKind.RULES:
        if body is None:
            row = _NO_ANSWER
        else:
            robots = parse_robots(body, agent)
    if row.kind is RobotsKind.CLOSED_FOR_NOW:
        robots = Robots((Line(Field.DISALLOW, "/"),))
    return RobotsVerdict(row.kind, robots, row.expires_seconds, row.reason)


def _matcher(rules: Iterable[Line]) -> Protego:
    # Quoted, as RFC 9309 section 2.2.2 wants it: so no value holds what protego takes for the end of a line.
    lines = (f"{line.field}: {quote(line.value, safe=_PRINTABLE)}" for line in rules)
    return Protego.parse("\n".join(["User-agent: *", *lines]))


def _url(path_and_query: str) -> str:
    """In front of it an origin, so that `//x` is a path; lone surrogates, which nobody could send, are replaced."""
    path = path_and_query.encode("utf-8", "replace").decode("utf-8")
    return f"{_ORIGIN}{path}" if path.startswith("/") else f"{_ORIGIN}/{path}"


def _delay(values: Iterable[str]) -> float | None:
    """The longest of them, an hour at most; what is no number does not count."""
    numbers = [float(value) for value in values if re.fullmatch(r"\d+\.?\d*|\.\d+", value, re.ASCII)]
    return min(max(numbers), _LONGEST_DELAY_SECONDS) if numbers else None


def _sitemaps(values: Iterable[str]) -> tuple[str, ...]:
    """Those that are absolute, as they have to be, without repetitions."""
    absolute = (v for v in values if len(v) <= _LONGEST_URL and re.match(r"https?://[^/\s]", v, re.IGNORECASE))
    return tuple(dict.fromkeys(absolute))[:_MOST_SITEMAPS]
