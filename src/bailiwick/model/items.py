"""Items: structured data of a page, each valid by the schema of its kind (`model.schemas`)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

from pydantic import JsonValue


class ItemKind(StrEnum):
    """What an item is."""

    ARTICLE = "article"
    BUSINESS = "business"
    CONTACT = "contact"
    FUNDING_PROGRAMME = "funding_programme"
    IMAGE = "image"
    OPPORTUNITY = "opportunity"
    PRODUCT = "product"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a page describes, how sure that is, and what found it."""

    kind: ItemKind
    position: int
    data: dict[str, JsonValue]
    confidence: float
    extractor: str
    version: int
    fields: Mapping[str, float] = field(default_factory=dict)
    """How sure each field is; those that are not named are as sure as the item."""

    @property
    def content_hash(self) -> bytes:
        """Of its data, whatever the order of keys."""
        text = json.dumps(self.data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Reject:
    """A value that a page gives and the schema refuses: recorded, so that nothing is lost in silence."""

    kind: ItemKind
    position: int
    field: str | None
    """None: the whole item, for want of what it needs."""
    value: str
    why: str
    extractor: str
    version: int


class ParserOutcome(StrEnum):
    """What became of a site parser on a page. All but `succeeded` leave it to the generic extractor of that kind."""

    SUCCEEDED = "succeeded"
    RAISED = "raised"
    """It raised an error."""
    EMPTY = "empty"
    """It gave nothing."""
    REFUSED = "refused"
    """What it gave is no valid item: a required field is missing or wrong."""
    TIMEOUT = "timeout"
    """It took longer than a parser may."""
    DIED = "died"
    """Its process ended over it."""


@dataclass(frozen=True, slots=True)
class ParserTry:
    """One site parser on one page."""

    parser: str
    version: int
    kind: ItemKind
    outcome: ParserOutcome
    why: str | None = None


@dataclass(slots=True)
class Gathered:
    """What one page gave."""

    items: list[Item] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    tries: list[ParserTry] = field(default_factory=list)

    def add(self, other: "Gathered") -> None:
        self.items += other.items
        self.rejects += other.rejects
        self.tries += other.tries
