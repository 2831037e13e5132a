"""Calendars: dates that lead to dates, for ever."""

from datetime import date

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.dates import WIDTHS, Span
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, Tally, key_of

_ALL = key_of(Kind.DATE_WIDTH, "")
_WIDTHS = {days: key_of(Kind.DATE_WIDTH, str(days)) for days in WIDTHS}


class Calendars:
    """A date found on a page without one is vouched for, and so are the days of such a month. Others are budgeted.

    A date yields when it leads to a new page without one: that speaks for its family, and for all wider spans (a month
    whose days yield). Tally of a family of dates, of each width, and of all dates together: found = admitted that
    nobody vouched for; run = of these, since the last yield; new = yields; dup = dates fetched.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapsSettings, today: date) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings
        self._first = (today.year - settings.calendar_years_back) * 12 * 32
        self._last = ((today.year + settings.calendar_years_ahead) * 12 + today.month) * 32

    def refuse(self, path: str, span: Span, found_on: Span | None) -> bool:
        admitted = key_of(Kind.ADMITTED, path)
        if self._memory.has(admitted):
            return False
        tallies = self._tallies_of(span)
        if self._is_vouched(span, found_on) and not self._is_barren(*tallies):
            if span.days > 1:
                self._memory.add(_vouched(span))
        elif self._is_spent(span, *tallies):
            return True
        else:
            for tally in (*tallies, self._tallies.at(_ALL)):
                tally.spend_in_row()
        self._memory.add(admitted)
        return False

    def learn(self, span: Span) -> None:
        """A page with a date was fetched."""
        self._tallies.at(span.family).debit()

    def yielded(self, span: Span) -> None:
        """A page with a date led to a new page without one."""
        wider = [_WIDTHS[days] for days in _WIDTHS if days > span.days]
        for key in (span.family, _ALL, *wider):
            tally = self._tallies.at(key)
            tally.credit()
            tally.run = 0

    def _tallies_of(self, span: Span) -> tuple[Tally, Tally]:
        return self._tallies.at(span.family), self._tallies.at(_WIDTHS[span.days])

    def _is_vouched(self, span: Span, found_on: Span | None) -> bool:
        return found_on is None or (span.is_within(found_on) and self._memory.has(_vouched(found_on)))

    def _is_barren(self, family: Tally, width: Tally) -> bool:
        return family.dup >= 2 * self._settings.calendar_pages and 20 * (family.new + width.new) < family.dup

    def _is_spent(self, span: Span, family: Tally, width: Tally) -> bool:
        pages, together = self._settings.calendar_pages, self._tallies.at(_ALL)
        if family.found < 2 * family.new:
            return False
        is_usual = self._first <= span.start < self._last
        return min(family.run, width.run) >= pages or together.run >= 4 * pages or not (is_usual or width.new)


def _vouched(span: Span) -> int:
    return key_of(Kind.VOUCHED, f"{span.start}+{span.days}")
