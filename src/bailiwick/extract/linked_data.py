"""JSON-LD of a page: its objects, and the few values that describe the page itself."""

import json
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

LinkedObject = dict[str, JsonValue]

ARTICLE_TYPES = frozenset(
    {
        "Article",
        "AdvertiserContentArticle",
        "AnalysisNewsArticle",
        "AskPublicNewsArticle",
        "BackgroundNewsArticle",
        "BlogPosting",
        "LiveBlogPosting",
        "NewsArticle",
        "OpinionNewsArticle",
        "Report",
        "ReportageNewsArticle",
        "ReviewNewsArticle",
        "SatiricalArticle",
        "ScholarlyArticle",
        "TechArticle",
    }
)
_MOST_OBJECTS = 200
_MOST_CHARS = 500_000


def parse_linked_data(source: str) -> JsonValue:
    """One script's value; None if it is too large or no JSON."""
    if len(source) > _MOST_CHARS:
        return None
    try:
        value: JsonValue = json.loads(source, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def objects_of(values: Iterable[JsonValue]) -> list[LinkedObject]:
    """The objects at the top, those in lists and in `@graph` too. Walked without recursion: pages nest on purpose."""
    found: list[LinkedObject] = []
    waiting = list(values)[::-1]
    while waiting and len(found) < _MOST_OBJECTS:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value[:_MOST_OBJECTS]))
        elif isinstance(value, dict):
            found.append(value)
            for key in ("@graph", "mainEntity", "mainEntityOfPage"):
                if isinstance(inner := value.get(key), dict | list):
                    waiting.append(inner)
    return found


def types_of(value: LinkedObject) -> frozenset[str]:
    """Its types, without the vocabulary's address."""
    given = value.get("@type")
    names = given if isinstance(given, list) else [given]
    return frozenset(name.rpartition("/")[2].rpartition(":")[2] for name in names if isinstance(name, str))


def article_in(objects: list[LinkedObject]) -> LinkedObject | None:
    """The first object that is an article."""
    return next((one for one in objects if types_of(one) & ARTICLE_TYPES), None)


def names_in(value: JsonValue) -> Iterator[str]:
    """Names of people or things: as text, as objects, as lists of either."""
    for one in value if isinstance(value, list) else [value]:
        name = one.get("name") if isinstance(one, dict) else one
        if isinstance(name, str) and name.strip():
            yield name


def text_in(value: JsonValue) -> str | None:
    """A text, or the first of several."""
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("url") or value.get("@value") or value.get("name")
    return value if isinstance(value, str) else None
