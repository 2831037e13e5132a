"""Faceted lists: every combination of every filter, in any order, is a URL."""

from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, key_of
from bailiwick.crawl.traps.rules import TrapSettings
from bailiwick.crawl.traps.shapes import names_in, parameters_of


class Facets:
    """A query with a value that is new is a page like any other; one that only combines known values is budgeted.

    So a forum (`?f=3&t=1207`: each topic is a new value) is free, as is the next page of what was admitted. Tallies of
    a path, its first folder, and its sets of names: found = combinations admitted; new = such that led to a new page.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapSettings) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings

    def refuse(self, head: str, query: str, *, is_vouched: bool) -> bool:
        filters, pages = parameters_of(query)
        if len(filters) + len(pages) < 2:
            return False
        memory, path = self._memory, f"{head}?{query}"
        admitted = key_of(Kind.ADMITTED, path)
        # Two keys, because nothing but this memory, which may err, stands against the page.
        sorted_path = f"{head}?{'&'.join(filters)}&{'&'.join(pages)}"
        whole = [key_of(kind, sorted_path) for kind in (Kind.WHOLE, Kind.WHOLE_AGAIN)]
        combination = key_of(Kind.COMBINATION, f"{head}?{'&'.join(filters)}")
        is_known = memory.has(admitted)
        if not is_known and all(map(memory.has, whole)):
            return True  # the same in another order
        news = [memory.add(key_of(Kind.PARAMETER, f"{head}?{pair}")) for pair in filters]
        if not is_known and len(filters) > 1 and not any(news) and not memory.has(combination):
            if self._is_spent(head, query, 2 if is_vouched else 1):
                return True
            for key, _ in self._budgets(head, query):
                self._tallies.at(key).spend()
        for key in (admitted, *whole, combination):
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
