"""Parts of a product that a page shows in elements of their own: brand, rating, the way through the shop."""

import re
from typing import TYPE_CHECKING

from pydantic import JsonValue

from bailiwick.extract.clean import clean_line
from bailiwick.extract.items.product.evidence import Evidence
from bailiwick.extract.items.product.sight import Sight
from bailiwick.extract.items.product.words import BRAND_LABEL
from bailiwick.extract.items.source import Source

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MOST_TEXT = 400


def note_parts(sight: Sight, source: Source, evidence: Evidence) -> None:
    """Note what no markup has told yet."""
    if "brand" not in evidence.values:
        _note_brand(sight, evidence)
    if "aggregateRating" not in evidence.values:
        _note_rating(sight, evidence)
    if "breadcrumbs" not in evidence.values:
        _note_trail(sight, source, evidence)
    trail = evidence.values.get("breadcrumbs")
    if isinstance(trail, list) and trail:
        _note_category(trail, evidence)


def _note_brand(sight: Sight, evidence: Evidence) -> None:
    for seen in sight.brand_labels:
        label = BRAND_LABEL.match(seen.text)
        if label is not None and not _is_aside(seen.node) and (name := _behind(seen.node, label.end())):
            evidence.note("brand", {"name": name}, 0.7)
            return
    for seen in sight.brands:
        name = brand_in(seen.node) if not _is_aside(seen.node) else None
        if name is not None:
            evidence.note("brand", {"name": name}, 0.55)
            return


def _is_aside(node: "HtmlElement") -> bool:
    return any(above.tag in ("nav", "footer", "header") for above in node.iterancestors())


def _behind(node: "HtmlElement", end: int) -> str | None:
    """What stands behind a label: in the same element, or in the next one."""
    text = " ".join(node.text_content()[:200].split())
    if len(text) > end:
        return clean_line(text[end:].strip(" :"), 100)
    following = node.getnext()
    return clean_line(following.text_content()[:200], 100) if following is not None else None


def brand_in(node: "HtmlElement") -> str | None:
    """The brand that an element names, by its text or its picture."""
    from zyte_parsers import extract_brand_name

    if len(node.text_content()) > _MOST_TEXT:
        return None
    name = extract_brand_name(node, search_depth=3)
    return clean_line(name, 200)


def _note_rating(sight: Sight, evidence: Evidence) -> None:
    for seen in sight.ratings:
        rating = rating_in(seen.node) if not _is_aside(seen.node) else None
        if rating is not None:
            evidence.note("aggregateRating", rating, 0.6)
            return


def rating_in(node: "HtmlElement") -> "dict[str, JsonValue] | None":
    """The rating that an element shows, on a scale to 5 where its own is another."""
    from zyte_parsers import extract_rating

    if len(node.text_content()) > _MOST_TEXT:
        return None
    found = extract_rating(node)
    if found is None or found.ratingValue is None:
        return None
    value, best = found.ratingValue, found.bestRating
    if best and best > 5:
        value, best = round(value * 5 / best, 2), 5.0
    if not 0 < value <= 5:
        return None
    return {"ratingValue": value, "bestRating": best} if best else {"ratingValue": value}


def _note_trail(sight: Sight, source: Source, evidence: Evidence) -> None:
    for seen in sight.trails:
        links = trail_in(seen.node, source.base_url)
        if len(links) >= 2:
            evidence.note("breadcrumbs", list(links), 0.75)
            return


def trail_in(node: "HtmlElement", base_url: str) -> "list[JsonValue]":
    """The steps of a trail, from the shop's door to the product."""
    from zyte_parsers import extract_breadcrumbs

    found = extract_breadcrumbs(node, base_url=base_url) or ()
    links: list[JsonValue] = []
    for step in found[:30]:
        name = clean_line(step.name, 300)
        link: dict[str, JsonValue] = {"name": name} if name else {}
        if step.url and re.match(r"https?://", step.url):
            link["url"] = step.url
        if link:
            links.append(link)
    return links


def _note_category(trail: "list[JsonValue]", evidence: Evidence) -> None:
    """The last step that is neither the product itself nor the door."""
    names = [step["name"] for step in trail if isinstance(step, dict) and isinstance(step.get("name"), str)]
    own = evidence.text("name").lower()
    steps = [
        name for name in names[1:] if isinstance(name, str) and name.lower() not in own and own not in name.lower()
    ]
    evidence.note("category", steps[-1] if steps else None, 0.6)
