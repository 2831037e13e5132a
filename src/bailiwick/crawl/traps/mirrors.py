"""Mirrors: a sub-tree whose pages are, one by one, those of another (/mirror/x is /x)."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bailiwick.crawl.traps.memory import Kind, Memory, key_of

_SAMPLES = 96
_CLAIMS = 16
_LONGEST = 72
_ROUNDS = 24
_TEXT_BITS = (1 << 48) - 1


@dataclass(slots=True)
class Claim:
    """That everything below `copy` is what is below `source`."""

    copy: str
    source: str
    texts: set[int] = field(default_factory=set)
    """Different texts that both have, as many as are asked for."""
    hits: int = 0
    misses: int = 0
    """New texts below the copy."""


class Mirrors:
    """Finds mirrors by a sample of texts, and which page had each first.

    When the sample is full, half of all texts, by their hash, are of no interest from then on: it stays even over the
    whole site, however large.
    """

    def __init__(self, memory: Memory, pages: int) -> None:
        self._memory, self._pages = memory, pages
        self._first: dict[int, str] = {}
        self._mask = 0
        self._claims: dict[str, Claim] = {}
        self._proven: list[Claim] = []

    @property
    def is_any_proven(self) -> bool:
        return bool(self._proven)

    def refuse(self, path: str) -> bool:
        """Only if the page that it would be a copy of was fetched: what a mirror has of its own is not lost."""
        source = self._source_of(path) if self._proven else path
        return source != path and self._memory.has(key_of(Kind.FETCHED, source))

    def _source_of(self, path: str) -> str:
        for _ in range(_ROUNDS):
            claim = next((claim for claim in self._proven if path.startswith(f"{claim.copy}/")), None)
            if claim is None:
                break
            path = claim.source + path[len(claim.copy) :]
        return path

    def learn(self, path: str, text_hash: int) -> None:
        if text_hash & self._mask:
            return
        text = text_hash & _TEXT_BITS
        first = self._first.get(text)
        if first is None:
            self._sample(text, path)
            for claim in self._claims.values():
                claim.misses += path.startswith(f"{claim.copy}/")
        elif first != path:
            self._claim(path, first, text)
        self._prove()

    def _prove(self) -> None:
        self._proven = [
            claim
            for claim in self._claims.values()
            if len(claim.texts) >= self._pages and 8 * claim.misses <= claim.hits
        ]

    def _sample(self, text: int, path: str) -> None:
        if not _is_short(path):
            return
        self._first[text] = path
        while len(self._first) > _SAMPLES:
            self._mask = self._mask * 2 + 1
            self._first = {text: path for text, path in self._first.items() if not text & self._mask}

    def _claim(self, path: str, first: str, text: int) -> None:
        copy, source = _prefixes(path, first)
        known = self._claims.get(source)
        if known is not None and known.source == copy:
            copy, source = source, copy
        if not copy or not _is_short(copy + source):
            return
        claim = self._claims.get(copy)
        if claim is None or claim.source != source:
            self._make_room()
            claim = self._claims[copy] = Claim(copy, source)
        claim.hits += 1
        if len(claim.texts) < self._pages:
            claim.texts.add(text)

    def _make_room(self) -> None:
        if len(self._claims) >= _CLAIMS:
            weakest = min(self._claims.values(), key=lambda claim: len(claim.texts))
            del self._claims[weakest.copy]

    def to_json(self) -> list[object]:
        claims = [[c.copy, c.source, sorted(c.texts), c.hits, c.misses] for c in self._claims.values()]
        return [self._mask, [list(item) for item in self._first.items()], claims]

    def read_json(self, state: object) -> None:
        """Raises ValueError for what is no such state."""
        mask, first, claims = _listed(state, 3)
        self._mask = _number(mask)
        for item in _listed(first):
            text, path = _listed(item, 2)
            self._first[_number(text)] = str(path)
        for item in _listed(claims):
            copy, source, texts, hits, misses = _listed(item, 5)
            known = {_number(text) for text in _listed(texts)}
            self._claims[str(copy)] = Claim(str(copy), str(source), known, _number(hits), _number(misses))
        self._prove()


def _prefixes(path: str, first: str) -> tuple[str, str]:
    """(copy, source): what is left of both without the names that they end in alike. The deeper one is the copy."""
    copy, source = path.split("/"), first.split("/")
    common = 0
    while common < min(len(copy), len(source)) and copy[-1 - common] == source[-1 - common]:
        common += 1
    if not common:
        return "", ""
    if len(source) > len(copy):
        copy, source = source, copy
    return _joined(copy[: len(copy) - common]), _joined(source[: len(source) - common])


def _joined(names: Iterable[str]) -> str:
    return "/".join(names)


def _is_short(text: str) -> bool:
    """And needs no escapes in JSON: the size of the state is promised."""
    return len(text) <= _LONGEST and text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _listed(value: object, length: int | None = None) -> list[object]:
    if not isinstance(value, list) or length not in (None, len(value)):
        raise ValueError("not the list that it should be")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError("not a number")
    return value
