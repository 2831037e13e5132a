"""Calendars: dates that lead to dates, for ever."""

from datetime import date

from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, Tally, key_of
from bailiwick.crawl.traps.rules import TrapSettings
from bailiwick.crawl.traps.shapes import Span

_ALL = key_of(Kind.DATES, "")


class Calendars:
    """Dates found on other pages are vouched for, and so are the days of a month that is. The rest is budgeted.

    Tally of a family of dates: found = admitted that were found on another date; new = dates that led to a new page
    which is no date; dup = vouched ones.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapSettings, today: date) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings
        self._first = (today.year - settings.calendar_years_back) * 12 * 32
        self._last = ((today.year + settings.calendar_years_ahead) * 12 + today.month) * 32

    def refuse(self, path: str, span: Span, found_on: Span | None) -> bool:
        admitted = key_of(Kind.ADMITTED, path)
        if self._memory.has(admitted):
            return False
        tally = self._tallies.at(span.family)
        is_vouched = found_on is None or (span.is_within(found_on) and self._memory.has(_vouched(found_on)))
        if self._is_spent(tally, span, is_vouched=is_vouched):
            return True
        self._memory.add(admitted)
        if is_vouched:
            tally.debit()
            if span.days > 1:
                self._memory.add(_vouched(span))
        else:
            tally.spend()
            self._tallies.at(_ALL).spend()
        return False

    def yielded(self, span: Span) -> None:
        """A page with a date led to a new page without one."""
        self._tallies.at(span.family).credit()
        self._tallies.at(_ALL).credit()

    def _is_spent(self, tally: Tally, span: Span, *, is_vouched: bool) -> bool:
        settings, together = self._settings, self._tallies.at(_ALL)
        growth = settings.calendar_growth
        if is_vouched:
            return tally.dup >= settings.calendar_vouched + growth * tally.new
        is_usual = self._first <= span.start < self._last
        return (
            tally.found >= settings.calendar_pages + growth * tally.new
            or together.found >= 4 * settings.calendar_pages + growth * together.new
            or (not is_usual and 2 * tally.new < tally.found)
        )


def _vouched(span: Span) -> int:
    return key_of(Kind.VOUCHED, f"{span.start}+{span.days}")
