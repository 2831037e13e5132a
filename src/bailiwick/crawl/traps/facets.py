"""Faceted lists: every combination of every filter, in any order, is a URL."""

import re

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.families import names_in
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, key_of

_PAGING = frozenset(
    """
    page p pg pn paged pagenum pageno page_no pageindex pagenumber seite start offset skip from first cursor limit
    per_page perpage pagesize page_size
    """.split()  # noqa: SIM905 (four lines of quotes otherwise)
)
_BARS = re.compile(r"[|;~]|%(?:7C|3B)")
_COMMAS = re.compile(r",|%2C")
_COMMA_LIST = re.compile(r"[0-9A-Za-z-]{1,20}(?:(?:,|%2C)[0-9A-Za-z-]{1,20})+")
_MOST_PARAMETERS = 40


class Facets:
    """A query with a value that is new is a page like any other; one that only combines known values is budgeted.

    So a forum (`?f=3&t=1207`: each topic is a new value) is free, as is the next page of what was admitted. Tallies of
    a path, its first folder, and its sets of names: found = combinations admitted; new = such that led to a new page.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapsSettings) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings

    def refuse(self, head: str, query: str, *, is_vouched: bool) -> bool:
        if "&" not in query and not _is_list(query):
            return False
        admitted = key_of(Kind.ADMITTED, f"{head}?{query}")
        return not self._memory.has_lately(admitted) and self._refuse(head, query, admitted, 2 if is_vouched else 1)

    def _refuse(self, head: str, query: str, admitted: int, factor: int) -> bool:
        memory = self._memory
        filters, pages = parameters_of(query)
        combination = f"{head}?{'&'.join(filters)}"
        whole = f"{combination}&{'&'.join(pages)}" if pages else combination
        # Two keys, because nothing but this memory, which may err, stands against the page.
        keys = [key_of(kind, whole) for kind in (Kind.COMBINATION, Kind.COMBINATION_AGAIN)]
        is_known = memory.has(admitted)
        if not is_known and all(map(memory.has, keys)):
            return True  # the same in another order
        news = [memory.add(key_of(Kind.PARAMETER, f"{head}?{pair}")) for pair in filters]
        keys.append(key_of(Kind.COMBINATION, combination))
        if not is_known and len(filters) > 1 and not any(news) and not memory.has(keys[-1]):
            if self._is_spent(head, query, factor):
                return True
            for key, _ in self._budgets(head, query):
                self._tallies.at(key).spend()
        for key in (admitted, *keys):
            memory.add(key)
        return False

    def yielded(self, head: str, query: str) -> None:
        """A combination led to a new page on another path."""
        for key, _ in self._budgets(head, query):
            self._tallies.at(key).credit()

    def _is_spent(self, head: str, query: str, factor: int) -> bool:
        growth = self._settings.facet_growth
        for key, budget in self._budgets(head, query):
            tally = self._tallies.at(key)
            if tally.found >= factor * budget + growth * tally.new:
                return True
        return False

    def _budgets(self, head: str, query: str) -> tuple[tuple[int, int], ...]:
        budget = self._settings.facet_combinations
        return (
            (key_of(Kind.FACET_NAMES, f"{head}?{names_in(query)}"), budget // 2),
            (key_of(Kind.FACET_PATH, head), budget),
            (key_of(Kind.FACET_FOLDER, head[: head.find("/", 1) + 1]), 4 * budget),
        )


def parameters_of(query: str) -> tuple[list[str], list[str]]:
    """(filters, pages): each `name=value` of a query, sorted; those that only turn pages are kept apart.

    A list of values (`colour=red,blue`) counts as so many parameters.
    """
    filters: set[str] = set()
    pages: list[str] = []
    for part in query.split("&")[:_MOST_PARAMETERS]:
        name, _, value = part.partition("=")
        if name.lower() in _PAGING and value.isdecimal():
            pages.append(part)
        elif _is_list(part):
            separator = _BARS if _BARS.search(value) else _COMMAS
            filters |= {f"{name}={one}" for one in separator.split(value)}
        else:
            filters.add(part)
    return sorted(filters)[:_MOST_PARAMETERS], sorted(pages)


def _is_list(parameter: str) -> bool:
    """Commas are in titles, too: they part values only where these are short and have no spaces."""
    value = parameter.partition("=")[2]
    return _BARS.search(value) is not None or (("," in value or "%2C" in value) and bool(_COMMA_LIST.fullmatch(value)))
