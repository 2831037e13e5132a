"""Public suites of structured data: prices, brands, ratings, breadcrumbs, and examples in several syntaxes."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin

import pytest
from lxml.html import fragment_fromstring, fromstring

from bailiwick.extract.items.product.parts import brand_in, rating_in, trail_in
from bailiwick.extract.items.product.prices import read_price
from bailiwick.extract.items.source import parse_tree
from bailiwick.extract.structured import Syntax, Thing, everything_in, read_things
from tests.suites import json_lines, suite_path

BASE = "https://example.org/"


STRUCTURED, PRICES = suite_path("structured"), suite_path("prices/price.jsonl")


def rows(name: str) -> list[dict[str, Any]]:
    assert STRUCTURED is not None
    return json_lines(STRUCTURED / f"{name}.jsonl")


if PRICES is not None:

    def test_prices() -> None:
        cases = json_lines(PRICES)
        faults = [case for case in cases if not _is_read(case)]
        for case in faults:
            print(case["id"], repr(case["price_text"]), case["amount"], read_price(case["price_text"] or "", None))
        assert len(faults) <= 0.03 * len(cases)


def _is_read(case: dict[str, Any]) -> bool:
    price = read_price(case["price_text"] or "", case["currency_hint"])
    amount = Decimal(case["amount"]) if case["amount"] is not None else None
    return (Decimal(price.amount) if price else None) == amount


if STRUCTURED is not None:

    def test_brands() -> None:
        cases = rows("brand")
        right = sum(brand_in(fragment_fromstring(case["html"], create_parent="div")) == case["value"] for case in cases)
        assert right >= 0.95 * len(cases)


if STRUCTURED is not None:

    def test_ratings() -> None:
        cases = rows("rating")
        faults = []
        for case in cases:
            marked = fromstring(case["parent_html"]).xpath("//*[@xd-target-node]")
            found = rating_in(marked[0] if marked else fromstring(case["html"]))
            wanted, best = case["ratingValue"], case["bestRating"] or 5
            if wanted is not None and best > 5:
                wanted = round(wanted * 5 / best, 2)
            if wanted == 0 or (wanted or 0) > 5:
                wanted = None  # an empty scale is no opinion, and 0 to 5 is what a rating may be
            if (found or {}).get("ratingValue") != wanted:
                faults.append((case["html"][:80], wanted, found))
        print(*faults, sep="\n")
        assert len(faults) <= 0.05 * len(cases)


# The suite has only what is to be found; the pages are ours: each trail in every one of these layouts.
LAYOUTS = {
    "list": ("<ul class='breadcrumb'>{}</ul>", "<li>{}</li>", ""),
    "ordered list in a nav": ("<nav aria-label='Breadcrumb'><ol>{}</ol></nav>", "<li class='item'>{}</li>", ""),
    "arrows between links": ("<div id='breadcrumbs'>{}</div>", "{}", " &gt; "),
    "slashes in spans": ("<p class='breadcrumbs'>{}</p>", "<span>{}</span>", "<span class='sep'>/</span>"),
    "cells of a table": ("<table><tr><td class='breadcrumb'>{}</td></tr></table>", "{}", " » "),
}


if STRUCTURED is not None:

    @pytest.mark.parametrize("layout", LAYOUTS)
    def test_breadcrumbs(layout: str) -> None:
        around, each, between = LAYOUTS[layout]
        cases = [c for c in rows("breadcrumbs") if _is_plain(c["expected"])]
        assert len(cases) > 100
        faults = []
        for case in cases:
            steps = between.join(each.format(_link(step)) for step in case["expected"])
            node = parse_tree(f"<html><body>{around.format(steps)}</body></html>").xpath(
                "//*[@class='breadcrumb' or @class='breadcrumbs' or @id='breadcrumbs' or @aria-label='Breadcrumb']"
            )[0]
            wanted = [{name: value for name, value in step.items() if value} for step in case["expected"]]
            found = trail_in(node, case["base_url"] or BASE)
            if found != wanted:
                faults.append((wanted, found))
        for fault in faults[:5]:
            print(*fault, sep="\n", end="\n\n")
        assert len(faults) <= 0.05 * len(cases)


def _is_plain(steps: "list[dict[str, str]] | None") -> bool:
    """Trails that a page can be written from: names, web addresses, no sign that stands between steps elsewhere."""
    return bool(steps) and all(
        step.get("name") and not re.search(r"[<>&/»\u203a|→\\]|^\W|\s{2}", step["name"])
        and re.match(r"https?://[^\s'<>]+$", step.get("url") or BASE) for step in steps or []
    )  # fmt: skip


def _link(step: dict[str, str]) -> str:
    return f"<a href='{step['url']}'>{step['name']}</a>" if step.get("url") else f"<span>{step['name']}</span>"


CONTRADICT_THEMSELVES = """
s0000 s0012 s0020 s0260 s0261 s0297 s0408 s0413 s0418 s0421 s0431 s0432 s0487 s0507 s0509 s0514 s0519 s0520 s0625 s0635
s0652 s0653 s0668
""".split()  # noqa: SIM905
"""Their microdata gives another value than their JSON-LD: 99000 and 90000, a text and a part of it, two addresses."""


if STRUCTURED is not None:

    @pytest.mark.parametrize("syntax", [Syntax.MICRODATA, Syntax.RDFA])
    def test_the_same_facts_in_two_syntaxes_agree(syntax: Syntax) -> None:
        shared = agreed = 0
        apart = []
        for case in rows("schemaorg_examples"):
            ours, theirs = read(case["microdata" if syntax is Syntax.MICRODATA else "rdfa"]), read(case["json"])
            if not ours or not theirs:
                continue
            here, there = facts(ours), facts(theirs)
            both = [name for name in here if name in there]
            differ = [name for name in both if not here[name] & there[name]]
            shared, agreed = shared + len(both), agreed + len(both) - len(differ)
            if differ:
                apart.append((case["id"], [(name, here[name], there[name]) for name in differ]))
        for name, values in apart:
            print(name, *values)
        assert agreed >= 0.9 * shared > 400
        if syntax is Syntax.MICRODATA:
            assert {name for name, _ in apart} <= set(CONTRADICT_THEMSELVES)


def read(snippet: str | None) -> list[Thing]:
    html = f"<html><body>{snippet or ''}</body></html>"
    return read_things(parse_tree(html), BASE)


def facts(things: Iterable[Thing]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for thing in everything_in(things):
        for name, values in thing.values.items():
            for value in values:
                if isinstance(value, str):
                    found.setdefault(name, set()).add(_plain(value))
    return found


def _plain(text: str) -> str:
    if re.fullmatch(r"\S*[/.]\S*", text):
        text = urljoin(BASE, text)
    return re.sub(r"[\W_]+", "", re.sub(r"https?://(www\.)?(schema\.org/)?", "", text).lower())
