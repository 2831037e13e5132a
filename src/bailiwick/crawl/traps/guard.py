"""TrapGuard: one domain's rules on links, and what they have learned from its pages."""

from collections.abc import Mapping
from datetime import date
from typing import Self

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.calendars import Calendars
from bailiwick.crawl.traps.facets import Facets
from bailiwick.crawl.traps.families import Families
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, key_of
from bailiwick.crawl.traps.mirrors import Mirrors
from bailiwick.crawl.traps.repetitions import Repetitions
from bailiwick.crawl.traps.rules import Refusal
from bailiwick.crawl.traps.sessions import Sessions
from bailiwick.crawl.traps.shapes import Shape, folder_of, is_odd_name, odd_shape_of, shape_of

DEFAULT_TRAPS = TrapsSettings()
STATE_BYTES = 64_000
"""The state as JSON is never larger than this."""
_VERSION = 1
_TEXT_BITS = (1 << 64) - 1


class _Standpoint:
    """The page on which links are found just now."""

    __slots__ = ("folder_key", "may_yield", "path", "shape")

    def __init__(self, path: str) -> None:
        self.path = path
        self.shape = shape_of(path)
        self.folder_key = self.shape.folder.key
        self.may_yield = self.shape.span is not None or "&" in self.shape.query
        """It is a date or a combination, and none of its links was a credit to it yet."""


_OUTSIDE = _Standpoint("")
"""A sitemap, or nowhere yet."""


class TrapGuard:
    """Says of each link that a domain's pages hold whether it may become a page, and learns from each page fetched.

    Links of one page are asked about together. Asking again changes nothing for a link that was admitted, as long as it
    is remembered; a refused one may be admitted later, when its family has proved its worth: so a link that was refused
    must not be kept out of later questions (`SeenLinks.forget`). Pages that wait already are none of its business.
    The same calls lead to the same answers on every machine. `today` bounds calendars.
    """

    def __init__(self, today: date, settings: TrapsSettings = DEFAULT_TRAPS) -> None:
        self._set_up(today, settings, Memory(), Tallies())

    def _set_up(self, today: date, settings: TrapsSettings, memory: Memory, tallies: Tallies) -> None:
        self._settings = settings
        self._max_chars, self._max_segments = settings.max_path_chars, settings.max_segments
        self._memory, self._tallies = memory, tallies
        self._repetitions = Repetitions(tallies, settings)
        self._sessions = Sessions(memory, tallies, settings)
        self._calendars = Calendars(memory, tallies, settings, today)
        self._facets = Facets(memory, tallies, settings)
        self._mirrors = Mirrors(memory, settings.mirror_pages)
        self._families = Families(memory, tallies, settings)
        self._is_watching = False
        """A mirror is proven or a family closed: every link has to be looked at."""
        self._on = _OUTSIDE

    # Links

    def refuses(self, path: str, depth: int, found_on: str) -> Refusal | None:
        """The rule that keeps this link, found on that page (or `""`: a sitemap), from becoming a page; None: it may.

        A link of the home page, of depth 1, or found outside of pages is taken on its word as far as that goes.
        """
        if found_on != self._on.path:
            self._on = _Standpoint(found_on)
        return Refusal.TOO_LONG if len(path) > self._max_chars else self._judged(path, depth)

    def _judged(self, path: str, depth: int) -> Refusal | None:
        head, _, query = path.partition("?")
        cut = head.rfind("/") + 1
        folder, last = folder_of(head[:cut]), head[cut:]
        if len(folder.names) >= self._max_segments and len(folder.names) + bool(last) > self._max_segments:
            return Refusal.TOO_MANY_SEGMENTS
        if (folder.is_doubled or last in folder.names) and self._repetitions.refuse(folder, last):
            return Refusal.PATH_REPETITION
        if query or folder.is_odd or is_odd_name(last):
            return self._odd(path, depth, odd_shape_of(path, head, query))
        if self._is_watching or self._on.may_yield:
            return self._plain(Shape(path, head, query, folder), depth)
        if folder.key == self._on.folder_key and depth > 1:
            return self._families.refuse_own(path, folder)
        return None

    def _odd(self, path: str, depth: int, shape: Shape) -> Refusal | None:
        """A link with a query, or that may hold a date or a token."""
        if shape.token is not None and self._sessions.refuse(path, shape.token):
            return Refusal.SESSION_ID
        on, is_vouched = self._on.shape, depth <= 1 or not self._on.path
        if shape.span is not None:
            if self._calendars.refuse(shape.path, shape.span, None if is_vouched else on.span):
                return Refusal.CALENDAR
        elif shape.query and self._facets.refuse(
            shape.head, shape.query, is_vouched=is_vouched or on.head != shape.head
        ):
            return Refusal.FACETS
        return self._plain(shape, depth)

    def _plain(self, shape: Shape, depth: int) -> Refusal | None:
        rule = None
        if self._is_watching:
            if self._mirrors.refuse(shape.path):
                return Refusal.MIRROR
            rule = self._families.refuse_closed(shape.path, shape.folder)
        if rule is None and shape.folder.key == self._on.folder_key and depth > 1:
            rule = self._families.refuse_own(shape.path, shape.folder)
        if rule is None and self._on.may_yield:
            self._credit(shape)
        return rule

    def _credit(self, link: Shape) -> None:
        """A date, or a combination of filters, that leads to a new page of another kind was worth its fetch."""
        page, memory = self._on.shape, self._memory
        is_other = link.span is None if page.span else link.head != page.head
        if not is_other or memory.has(key_of(Kind.FETCHED, link.path)) or not memory.add(key_of(Kind.YIELD, link.path)):
            return
        self._on.may_yield = False
        if page.span is not None:
            self._calendars.yielded(page.span)
        else:
            self._facets.yielded(page.head, page.query)

    # Pages

    def learned(self, path: str, text_hash: int | None, *, is_new_content: bool) -> None:
        """A page was fetched well. Call it once for each fetch, before its links are asked about.

        `text_hash` is None for what has no text (a PDF); `is_new_content` says that the page was fetched for the first
        time or has changed: an unchanged page proves nothing, and is only remembered. That its text is the text of
        other pages is for the guard to find out.
        """
        self._on = _OUTSIDE  # its links come next, also where they are asked about after those of the same page
        shape, memory = shape_of(path), self._memory
        fetched = key_of(Kind.FETCHED, shape.path)
        is_known_text = text_hash is not None and not memory.add(text_hash & _TEXT_BITS)
        is_again = is_known_text and shape.token is None and memory.has(fetched)
        if is_new_content and not is_again:
            self._learn(shape, text_hash, is_known_text=is_known_text)
        memory.add(fetched)

    def _learn(self, shape: Shape, text_hash: int | None, *, is_known_text: bool) -> None:
        if shape.token is not None:
            self._sessions.learn(shape.token, is_known_text=is_known_text)
        if shape.span is not None:
            self._calendars.learn(shape.span)
        self._repetitions.learn(shape.head, is_known_text=is_known_text)
        self._families.learn(shape.path, shape.folder, is_known_text=is_known_text)
        if text_hash is not None:
            self._mirrors.learn(shape.path, text_hash)
        self._watch()

    def _watch(self) -> None:
        self._is_watching = self._mirrors.is_any_proven or self._families.is_any_closed

    # State

    def to_json(self) -> dict[str, object]:
        """All that it knows, in at most STATE_BYTES of JSON; some 3 KB for an ordinary small site."""
        return {
            "version": _VERSION,
            "memory": self._memory.to_json(),
            "tallies": self._tallies.to_json(),
            "mirrors": self._mirrors.to_json(),
            "closed": self._families.to_json(),
        }

    @classmethod
    def from_json(cls, state: Mapping[str, object], today: date, settings: TrapsSettings = DEFAULT_TRAPS) -> Self:
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
        self._watch()
