"""Calendars: dates that lead to dates, for ever."""

from datetime import date

from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, Tally, key_of
from bailiwick.crawl.traps.rules import TrapSettings
from bailiwick.crawl.traps.shapes import Span

_ALL = key_of(Kind.DATES, "")


class Calendars:
    """A date found on a page without one is vouched for, and so are the days of such a month. Others are budgeted.

    Tally of a family of dates: found = admitted that nobody vouched for; run = of these, since the last yield; new =
    yields: dates that led to a new page without one; dup = dates fetched.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapSettings, today: date) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings
        self._first = (today.year - settings.calendar_years_back) * 12 * 32
        self._last = ((today.year + settings.calendar_years_ahead) * 12 + today.month) * 32

    def refuse(self, path: str, span: Span, found_on: Span | None) -> bool:
        admitted = key_of(Kind.ADMITTED, path)
        if self._memory.has(admitted):
            return False
        family, together = self._tallies.at(span.family), self._tallies.at(_ALL)
        if self._is_vouched(span, found_on) and not self._is_barren(family):
            if span.days > 1:
                self._memory.add(_vouched(span))
        elif self._is_spent(family, 1) or self._is_spent(together, 4) or self._is_far(span, family):
            return True
        else:
            family.spend_in_row()
            together.spend_in_row()
        self._memory.add(admitted)
        return False

    def learn(self, span: Span) -> None:
        """A page with a date was fetched."""
        self._tallies.at(span.family).debit()

    def yielded(self, span: Span) -> None:
        """A page with a date led to a new page without one."""
        for tally in (self._tallies.at(span.family), self._tallies.at(_ALL)):
            tally.credit()
            tally.run = 0

    def _is_vouched(self, span: Span, found_on: Span | None) -> bool:
        return found_on is None or (span.is_within(found_on) and self._memory.has(_vouched(found_on)))

    def _is_barren(self, family: Tally) -> bool:
        return family.dup >= 2 * self._settings.calendar_pages and 20 * family.new < family.dup

    def _is_spent(self, tally: Tally, factor: int) -> bool:
        return tally.run >= factor * self._settings.calendar_pages and tally.found >= 2 * tally.new

    def _is_far(self, span: Span, family: Tally) -> bool:
        return not self._first <= span.start < self._last and family.found >= 2 * family.new


def _vouched(span: Span) -> int:
    return key_of(Kind.VOUCHED, f"{span.start}+{span.days}")
