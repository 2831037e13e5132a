"""Items: structured data of a page, each valid by the schema of its kind."""

import json
from dataclasses import dataclass
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

    @property
    def content_hash(self) -> bytes:
        """Of its data, whatever the order of keys."""
        text = json.dumps(self.data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
