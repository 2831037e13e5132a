"""Session ids in URLs: the same page under ever new addresses."""

from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.traps.memory import Kind, Memory, Tallies, Tally, key_of
from bailiwick.crawl.traps.tokens import Token

_PROOFS = 3


class Sessions:
    """Each page is admitted with the first token it is found with; with another one only while that may be an id.

    Tally of a token's place: found = pages admitted under a second token; dup = of these, the text was known; new = it
    was another one; run = pages that were seen with a token there.
    """

    def __init__(self, memory: Memory, tallies: Tallies, settings: TrapsSettings) -> None:
        self._memory, self._tallies, self._settings = memory, tallies, settings

    def refuse(self, path: str, token: Token) -> bool:
        tally = self._tallies.at(token.key)
        is_first = self._memory.add(key_of(Kind.REST, token.rest))
        if is_first:
            tally.run = min(tally.run + 1, 0xFFFF)
        admitted = key_of(Kind.ADMITTED, path)
        if self._memory.has(admitted):
            return False
        if is_first and not self._memory.has(key_of(Kind.FETCHED, token.rest)):
            self._memory.add(admitted)
            return False
        if self._is_proven(tally):
            return True
        if tally.run <= self._settings.session_rests:
            return False
        if tally.found >= self._allowed(tally, token):
            return True
        tally.spend()
        self._memory.add(admitted)
        return False

    def learn(self, token: Token, *, is_known_text: bool) -> None:
        """A page was fetched with a token: did its page, fetched before with another one, have this text?"""
        if not self._memory.has(key_of(Kind.FETCHED, token.rest)):
            return
        tally = self._tallies.at(token.key)
        if is_known_text:
            tally.debit()
        else:
            tally.credit()

    def _allowed(self, tally: Tally, token: Token) -> int:
        """A page under a session's name may well have another text each time (the hour, a visitor's number)."""
        probes = self._settings.session_probes
        return probes if token.is_named else probes + 2 * tally.new

    def _is_proven(self, tally: Tally) -> bool:
        return tally.dup >= _PROOFS and tally.dup > tally.new
