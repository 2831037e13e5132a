"""What is known of site parsers without running them: values that go between processes as JSON."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import reduce
from hashlib import blake2b
from operator import xor
from typing import Self
from urllib.parse import urlsplit

from pydantic import JsonValue

from bailiwick.model.items import ItemKind

GROUP = "bailiwick.parsers"
"""Of entry points, by which packages bring parsers."""
ANYWHERE = ""
"""Stands for the host of a pattern that takes in every page."""


@dataclass(frozen=True, slots=True)
class ParserFacts:
    """A page object with the addresses that it is for. One that is refused is never run."""

    name: str
    version: int
    kind: ItemKind | None
    patterns: tuple[str, ...]
    hosts: tuple[str, ...]
    where: str
    digest: str
    """Of the code that it is made of."""
    refused: str | None = None

    @property
    def mark(self) -> int:
        """64 bits, signed, that change when what it makes of a page may."""
        text = json.dumps([self.name, self.version, self.kind, self.patterns, self.digest])
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as a parser gets it."""

    url: str
    body: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a file or a package cannot be loaded."""

    where: str
    line: int | None
    what: str

    def __str__(self) -> str:
        return f"{self.where}{f':{self.line}' if self.line else ''}: {self.what}"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where parsers come from: files of a folder, entry points by name."""

    folder: str = ""
    files: tuple[str, ...] = ()
    entry_points: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.entry_points)

    @classmethod
    def of(cls, told: Mapping[str, JsonValue]) -> Self:
        files, entry_points = told["files"], told["entry_points"]
        return cls(str(told["folder"]), _strings(files), _strings(entry_points))


@dataclass(frozen=True, slots=True)
class Survey:
    """All parsers that there are, and what could not be loaded. `sources` are those that can be."""

    sources: Sources = Sources()
    parsers: tuple[ParserFacts, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def usable(self) -> list[ParserFacts]:
        return [parser for parser in self.parsers if parser.refused is None]

    @property
    def hosts(self) -> set[str]:
        return {host for parser in self.usable for host in parser.hosts}

    @property
    def marks(self) -> dict[str, int]:
        """By host, of all parsers that are for it: pages there are stale when theirs changes."""
        marks: dict[str, list[int]] = {}
        for parser in self.usable:
            for host in parser.hosts:
                marks.setdefault(host, []).append(parser.mark)
        return {host: reduce(xor, found) for host, found in marks.items()}


@dataclass(frozen=True, slots=True)
class ParserOrder:
    """What a child needs to know to run parsers."""

    sources: Sources = Sources()
    hosts: frozenset[str] = frozenset()
    seconds: float = 5.0
    """That a parser may take over a page."""

    def covers(self, url: str) -> bool:
        """Whether there may be a parser for it; so long as not, no parser is loaded."""
        if ANYWHERE in self.hosts:
            return True
        labels = (urlsplit(url).hostname or "").split(".")
        return any(".".join(labels[n:]) in self.hosts for n in range(len(labels)))

    def written(self) -> str:
        return json.dumps({"sources": asdict(self.sources), "hosts": sorted(self.hosts), "seconds": self.seconds})

    @classmethod
    def read(cls, text: str) -> Self:
        if not text:
            return cls()
        told = json.loads(text)
        return cls(Sources.of(told["sources"]), frozenset(told["hosts"]), float(told["seconds"]))


def _strings(told: JsonValue) -> tuple[str, ...]:
    return tuple(str(one) for one in told) if isinstance(told, list) else ()
