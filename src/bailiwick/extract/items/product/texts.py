"""The short texts that a page shows, each in an element of its own. They are handled all at once."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from bailiwick.extract.items.product.words import keys_in, says_something

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BETWEEN = "\0"
"""Stands between texts that are put in order together; no tree holds one."""
_WITHOUT_SPACES = "\u2e80"
"""What begins beyond it is written without spaces between words."""


class Seen(NamedTuple):
    """An element with a short text, and its place in the order of the page."""

    node: "HtmlElement"
    place: int
    text: str


class Texts:
    """Elements, their places, and the first text of each: as written but for its white space, and in lower case."""

    def __init__(self, nodes: "list[HtmlElement]", places: list[int], given: list[str]) -> None:
        self.nodes, self.places = nodes, places
        joined = " ".join(_BETWEEN.join(given).split())
        joined = joined.replace(f" {_BETWEEN}", _BETWEEN).replace(f"{_BETWEEN} ", _BETWEEN)
        self.written = joined.split(_BETWEEN) if given else []
        self.low = joined.lower().split(_BETWEEN) if given else []

    def __len__(self) -> int:
        return len(self.nodes)

    def seen(self, at: int) -> Seen:
        """One of them, in lower case."""
        return Seen(self.nodes[at], self.places[at], self.low[at])

    def of_length(self, most: int) -> "Texts":
        """Those that are no longer."""
        kept = [at for at, text in enumerate(self.written) if len(text) <= most]
        found = Texts([self.nodes[at] for at in kept], [self.places[at] for at in kept], [])
        found.written, found.low = [self.written[at] for at in kept], [self.low[at] for at in kept]
        return found

    def telling(self) -> Iterator[Seen]:
        """Those that say something a shop says. Of most pages few words have to be looked for, in few texts."""
        joined = "\n".join(self.low)
        starts = list(accumulate((len(text) + 1 for text in self.low), initial=0))
        found = {at for at, text in enumerate(self.low) if text > _WITHOUT_SPACES} if not joined.isascii() else set()
        for key in keys_in(joined):
            place = joined.find(key)
            while place >= 0:
                found.add(bisect_right(starts, place) - 1)
                place = joined.find(key, place + 1)
        return (self.seen(at) for at in sorted(found) if says_something(self.low[at]))
