"""Text for pages: a theme's sentences, filled by seeded dice into paragraphs that are made once and used often."""

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

_MASK = (1 << 64) - 1
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_POOL = 160


@dataclass(frozen=True, slots=True)
class Theme:
    """What the pages of a site are about. Words need no escaping: letters, digits, spaces and `.,:'-` only."""

    name: str
    tagline: str
    sections: tuple[str, ...]
    """First folders of paths: one lower-case word each."""
    subjects: tuple[str, ...]
    aspects: tuple[str, ...]
    sentences: tuple[str, ...]
    """May hold `{subject}`, `{number}` and `{day}`."""

    def title(self, index: int) -> str:
        """Of the page with this index; the site's own name for the first."""
        if index == 0:
            return self.name
        round_, at = divmod(index, len(self.subjects))
        return f"{self.subjects[at].capitalize()}: {self.aspects[round_ % len(self.aspects)]}"


class Dice:
    """A small generator of our own, because the same seed must give the same web on every Python."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = mixed(seed, 1)

    def below(self, limit: int) -> int:
        self._state = step(self._state)
        return (self._state >> 33) % limit

    def one_of(self, choices: tuple[str, ...]) -> str:
        return choices[self.below(len(choices))]


def step(state: int) -> int:
    """The next state of a 64-bit congruential generator. Use the high bits: the low ones have short periods."""
    return (state * 6364136223846793005 + 1442695040888963407) & _MASK


def mixed(seed: int, salt: int) -> int:
    """A state far from that of the neighbouring seed or salt."""
    state = ((seed + 1) * 0x9E3779B97F4A7C15 ^ (salt + 1) * 0xD6E8FEB86659FD93) & _MASK
    return step(state ^ state >> 29)


def seed_of(seed: int, name: str) -> int:
    """A seed for the thing of this name."""
    return mixed(seed, crc32(name.encode()))


@lru_cache(maxsize=64)
def paragraphs(theme: Theme, seed: int) -> tuple[str, ...]:
    """The paragraphs, marked up, that pages of this theme are put together from: 200 to 500 characters each."""
    dice = Dice(seed_of(seed, theme.name))
    return tuple(f"<p>{' '.join(_sentences(theme, dice))}</p>\n" for _ in range(_POOL))


def _sentences(theme: Theme, dice: Dice) -> list[str]:
    at = dice.below(len(theme.sentences))
    count = 3 + dice.below(2)
    chosen = [theme.sentences[(at + 3 * n) % len(theme.sentences)] for n in range(count)]
    return [_filled(sentence, theme, dice) for sentence in chosen]


def _filled(sentence: str, theme: Theme, dice: Dice) -> str:
    filled = sentence.format(subject=dice.one_of(theme.subjects), number=2 + dice.below(58), day=dice.one_of(_DAYS))
    return filled[0].upper() + filled[1:]


TOWN = Theme(
    name="The town pages",
    tagline="Notes on a small town by the water.",
    sections=("harbour", "market", "streets", "people", "archive", "seasons"),
    subjects=(
        "the old lighthouse",
        "the fish market",
        "the rope walk",
        "the clock tower",
        "the river ferry",
        "the town bakery",
        "the stone bridge",
        "the sailing school",
        "the night train",
        "the salt cellar",
        "the orchard wall",
        "the weather station",
        "the ferry bell",
    ),
    aspects=(
        "an introduction",
        "how to find it",
        "opening hours",
        "a short history",
        "what has changed",
        "letters from readers",
        "questions and answers",
        "plans for next year",
        "a walk around it",
        "people who work there",
        "in numbers",
    ),
    sentences=(
        "{subject} has been looked after by the same {number} volunteers for as long as anyone remembers.",
        "On a clear {day} you can see it from the other side of the bay.",
        "Visitors ask about {subject} first and about the weather second.",
        "The council set aside {number} pages of its yearly report for the repair of {subject}.",
        "Bring a coat, because the wind turns quickly once the tide goes out.",
        "Every {day} morning the doors open at eight and the first guests are already waiting.",
        "A painted sign explains what {subject} was built for, and who paid for it.",
        "There are {number} steps to the top, and a bench after the first half of them.",
        "Nobody quite agrees when {subject} was finished, though three plaques give three dates.",
        "Children may join the tour that starts every {day} at the fountain.",
        "The drawings were found in a drawer of {subject} and are shown here for the first time.",
        "Tickets are free, and a donation of any size keeps the lamp burning.",
        "Last winter {number} boats were tied up here while the ice went out.",
        "What began as a repair became a new chapter for {subject}.",
    ),
)
"""What generated webs are about."""
