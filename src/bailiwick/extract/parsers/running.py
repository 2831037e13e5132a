"""Runs the parser that a page has, in a child process. Whatever it does, the outcome is a value."""

import asyncio
import inspect
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from bailiwick.extract.parsers.facts import ParserOrder, StoredPage
from bailiwick.extract.parsers.timing import TooLongError, within
from bailiwick.model.items import Gathered, ItemKind, ParserOutcome, ParserTry

if TYPE_CHECKING:
    from url_matcher import URLMatcher

    from bailiwick.extract.parsers.loading import Parser

Announce = Callable[[ParserTry], None]
"""Told before a parser is run as what it counts if the process does not live to tell; and afterwards."""
_WHY_CHARS = 400


class SiteParsers:
    """The parsers of an order, loaded when the first page comes that one may be for."""

    def __init__(self, order: ParserOrder, announce: Announce = lambda _: None) -> None:
        self._order, self._announce = order, announce
        self._loaded: dict[ItemKind, tuple[URLMatcher, list[Parser]]] | None = None

    def run(self, page: StoredPage, kind: ItemKind) -> Gathered | None:
        """What the parser of this kind makes of a page, with what became of it; None where there is no parser."""
        parser = self._parser(kind, page.url)
        if parser is None:
            return None
        facts = parser.facts
        self._announce(ParserTry(facts.name, facts.version, kind, ParserOutcome.DIED, "its process ended over it"))
        found, outcome, why = self._tried(parser, page)
        found.tries.append(ParserTry(facts.name, facts.version, kind, outcome, why and why[:_WHY_CHARS]))
        self._announce(found.tries[-1])
        return found

    def reads(self, url: str, kinds: Collection[ItemKind]) -> bool:
        """Whether there is a parser for the page that gives one of these kinds."""
        return any(self._parser(kind, url) is not None for kind in kinds)

    def _parser(self, kind: ItemKind, url: str) -> "Parser | None":
        """A pattern is about hosts: a port in an address matters only to a pattern that has one."""
        if not self._order.sources or not self._order.covers(url):
            return None
        if self._loaded is None:
            self._loaded = _load(self._order)
        if kind not in self._loaded:
            return None
        matcher, parsers = self._loaded[kind]
        number = matcher.match(url)
        if number is None:
            number = matcher.match(_without_port(url))
        return None if number is None else parsers[-number]

    def _tried(self, parser: "Parser", page: StoredPage) -> tuple[Gathered, ParserOutcome, str | None]:
        from bailiwick.extract.items.checked import Maker  # loads all extractors
        from bailiwick.extract.parsers.items import NothingError, gathered

        maker = Maker(parser.facts.name, parser.facts.version)
        try:
            with within(self._order.seconds):
                found = gathered(parser.kind, _returned(parser, page), page.url, maker)
        except NothingError as error:
            return Gathered(), ParserOutcome.EMPTY, str(error)
        except TooLongError:
            return Gathered(), ParserOutcome.TIMEOUT, f"it took more than {self._order.seconds:g} s"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the user's code
            return Gathered(), ParserOutcome.RAISED, _told(parser, error)
        if found.items:
            return found, ParserOutcome.SUCCEEDED, None
        why = next((reject.why for reject in found.rejects if reject.field is None), None)
        return found, ParserOutcome.REFUSED, why


def _load(order: ParserOrder) -> "dict[ItemKind, tuple[URLMatcher, list[Parser]]]":
    from url_matcher import URLMatcher

    from bailiwick.extract.parsers.loading import load

    loaded: dict[ItemKind, tuple[URLMatcher, list[Parser]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for parser in load(order.sources).parsers:
            matcher, parsers = loaded.setdefault(parser.kind, (URLMatcher(), []))
            # Of two with the same pattern and priority the greater number wins: it is to be the first one.
            matcher.add_or_update(-len(parsers), parser.patterns)
            parsers.append(parser)
    return loaded


def _returned(parser: "Parser", page: StoredPage) -> object:
    """What the page object's `to_item` gives."""
    from bailiwick.extract.parsers.inputs import page_of

    returned = page_of(parser.page, page).to_item()
    return asyncio.run(_awaited(returned)) if inspect.isawaitable(returned) else returned


async def _awaited(returned: object) -> object:
    return await returned if inspect.isawaitable(returned) else returned


def _told(parser: "Parser", error: BaseException) -> str:
    from bailiwick.extract.parsers.loading import fault_of

    where = Path(parser.facts.where)
    fault = fault_of(parser.facts.name, where.parent if where.is_absolute() else None, error)
    place = f" ({Path(fault.where).name}, line {fault.line})" if fault.line else ""
    return f"{fault.what}{place}"


def _without_port(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.hostname or ""))
