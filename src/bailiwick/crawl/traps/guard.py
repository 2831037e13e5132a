"""TrapGuard: one domain's rules on links, and what they have learned from its pages."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Self

from bailiwick.crawl.traps.calendars import Calendars
from bailiwick.crawl.traps.facets import Facets
from bailiwick.crawl.traps.families import Families
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, key_of
from bailiwick.crawl.traps.mirrors import Mirrors
from bailiwick.crawl.traps.repetitions import Repetitions
from bailiwick.crawl.traps.rules import Refusal, TrapSettings
from bailiwick.crawl.traps.sessions import Sessions
from bailiwick.crawl.traps.shapes import (
    Folder,
    Span,
    folder_of,
    is_odd_name,
    span_of,
    token_of,
)

DEFAULT_TRAPS = TrapSettings()
STATE_BYTES = 64_000
"""The state as JSON is never larger than this."""
_VERSION = 1


@dataclass(slots=True)
class _Standpoint:
    """The page on which links are found just now."""

    path: str
    folder: int
    span: Span | None
    head: str
    query: str
    has_yielded: bool = False


class TrapGuard:
    """Says of each link that a domain's pages hold whether it may become a page, and learns from each page fetched.

    Links of one page are asked about together. Asking again changes nothing for a link that was admitted, as long as it
    is remembered; a refused one may be admitted later, when its family has proved its worth: so a link that was refused
    must not be kept out of later questions (`Slice.is_seen`). A page that waits already is none of the guard's business.
    The same calls lead to the same answers on every machine. `today` bounds calendars.
    """

    def __init__(self, today: date, settings: TrapSettings = DEFAULT_TRAPS) -> None:
        self._set_up(today, settings, Memory(), Tallies())

    def _set_up(self, today: date, settings: TrapSettings, memory: Memory, tallies: Tallies) -> None:
        self._settings = settings
        self._max_chars, self._max_segments = settings.max_path_chars, settings.max_segments
        self._memory, self._tallies = memory, tallies
        self._repetitions = Repetitions(tallies, settings)
        self._sessions = Sessions(memory, tallies, settings)
        self._calendars = Calendars(memory, tallies, settings, today)
        self._facets = Facets(memory, tallies, settings)
        self._mirrors = Mirrors(memory, settings.mirror_pages)
        self._families = Families(memory, tallies, settings)
        self._on = _standpoint("")
        self.refused: Counter[Refusal] = Counter()
        """Links refused by each rule, since the domain is known; a link that is met twice counts twice."""

    # Links

    def refuses(self, path: str, depth: int, found_on: str) -> Refusal | None:
        """The rule that keeps this link, found on that page (or `""`: a sitemap), from becoming a page; None: it may.

        A link of the home page, of depth 1, or found outside of pages is taken on its word as far as that goes.
        """
        if found_on != self._on.path:
            self._on = _standpoint(found_on)
        head, _, query = path.partition("?")
        cut = head.rfind("/") + 1
        folder, last = folder_of(head[:cut]), head[cut:]
        if (
            folder.is_doubled
            or last in folder.names
            or len(path) > self._max_chars
            or len(folder.names) >= self._max_segments
        ):
            rule = self._misshapen(path, folder, last)
            if rule is not None:
                return self._refused(rule)
        if query or folder.is_odd or is_odd_name(last):
            rule = self._odd(path, head, query, depth)
        else:
            rule = self._plain(path, folder, depth)
        return None if rule is None else self._refused(rule)

    def _refused(self, rule: Refusal) -> Refusal:
        self.refused[rule] += 1
        return rule

    def _misshapen(self, path: str, folder: Folder, last: str) -> Refusal | None:
        if len(path) > self._max_chars:
            return Refusal.TOO_LONG
        names = (*folder.names, last) if last else folder.names
        if len(names) > self._max_segments:
            return Refusal.TOO_MANY_SEGMENTS
        return Refusal.PATH_REPETITION if self._repetitions.refuse(names) else None

    def _odd(self, path: str, head: str, query: str, depth: int) -> Refusal | None:
        """A link with a query, or that may hold a date or a token."""
        token = token_of(head, query)
        if token is not None:
            if self._sessions.refuse(path, token):
                return Refusal.SESSION_ID
            path = token.rest
            head, _, query = path.partition("?")
        on, is_vouched = self._on, depth <= 1 or not self._on.path
        span = span_of(head, query)
        if span is not None:
            if self._calendars.refuse(path, span, None if is_vouched else on.span):
                return Refusal.CALENDAR
        elif query and self._facets.refuse(head, query, is_vouched=is_vouched or on.head != head):
            return Refusal.FACETS
        rule = self._plain(path, folder_of(head[: head.rfind("/") + 1]), depth, span)
        return rule

    def _plain(self, path: str, folder: Folder, depth: int, span: Span | None = None) -> Refusal | None:
        on = self._on
        if self._mirrors.refuse(path):
            return Refusal.MIRROR
        rule = self._families.refuse(path, folder, is_own=folder.key == on.folder and depth > 1)
        if rule is None and not on.has_yielded and (on.span or "&" in on.query):
            self._credit(path, span)
        return rule

    def _credit(self, path: str, span: Span | None) -> None:
        """A date, or a combination of filters, that leads to a new page of another kind was worth its fetch."""
        on = self._on
        is_other = span is None if on.span else path.partition("?")[0] != on.head
        if (
            not is_other
            or self._memory.has(key_of(Kind.FETCHED, path))
            or not self._memory.add(key_of(Kind.YIELD, path))
        ):
            return
        on.has_yielded = True
        if on.span is not None:
            self._calendars.yielded(on.span)
        else:
            self._facets.yielded(on.head, on.query)

    # Pages

    def learned(self, path: str, text_hash: int | None, *, is_new_content: bool) -> None:
        """A page was fetched well. Call it once for each fetch, before its links are asked about.

        `text_hash` is None for what has no text (a PDF); `is_new_content` says that the page was fetched for the first
        time or has changed: an unchanged page proves nothing, and is only remembered. That its text is the text of
        other pages is for the guard to find out.
        """
        head, _, query = path.partition("?")
        token = token_of(head, query)
        rest = path if token is None else token.rest
        fetched = key_of(Kind.FETCHED, rest)
        is_known_text = text_hash is not None and not self._memory.add(_text_key(text_hash))
        is_again = token is None and is_known_text and self._memory.has(fetched)
        if is_new_content and not is_again:
            if token is not None:
                self._sessions.learn(token, is_known_text=is_known_text)
            head, _, query = rest.partition("?")
            if (span := span_of(head, query)) is not None:
                self._calendars.learn(span)
            self._repetitions.learn(tuple(filter(None, head.split("/"))), is_known_text=is_known_text)
            self._families.learn(rest, folder_of(head[: head.rfind("/") + 1]), is_known_text=is_known_text)
            if text_hash is not None:
                self._mirrors.learn(rest, text_hash)
        self._memory.add(fetched)

    # State

    def to_json(self) -> dict[str, object]:
        """All that it knows, in at most STATE_BYTES of JSON; some 3 KB for an ordinary small site."""
        return {
            "version": _VERSION,
            "refused": {rule.value: count for rule, count in self.refused.items()},
            "memory": self._memory.to_json(),
            "tallies": self._tallies.to_json(),
            "mirrors": self._mirrors.to_json(),
            "closed": self._families.to_json(),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, object], today: date, settings: TrapSettings = DEFAULT_TRAPS) -> Self:
        """The guard that had this state. One that cannot be read, or of another version, is forgotten."""
        guard = cls(today, settings)
        if state.get("version") != _VERSION:
            return guard
        try:
            guard._read(state, today)
        except (ValueError, TypeError, AttributeError):
            return cls(today, settings)
        return guard

    def _read(self, state: Mapping[str, object], today: date) -> None:
        memory, tallies = Memory.from_json(str(state.get("memory"))), Tallies.from_json(str(state.get("tallies")))
        self._set_up(today, self._settings, memory, tallies)
        self._mirrors.read_json(state.get("mirrors"))
        self._families.read_json(state.get("closed"))
        refused = state.get("refused")
        if isinstance(refused, dict):
            self.refused.update({Refusal(rule): int(count) for rule, count in refused.items()})


def _standpoint(path: str) -> _Standpoint:
    head, _, query = path.partition("?")
    token = token_of(head, query)
    if token is not None:
        head, _, query = token.rest.partition("?")
    return _Standpoint(path, folder_of(head[: head.rfind("/") + 1]).key, span_of(head, query), head, query)


def _text_key(text_hash: int) -> int:
    """As wide as it is: texts are the one thing of which there are very many."""
    return text_hash & 0xFFFFFFFFFFFFFFFF
