"""Pages made to keep rules busy: bounded time, no crash, whatever they hold."""

import time

import pytest

from bailiwick.extract.items import EXTRACTORS
from bailiwick.model.items import ItemKind
from tests.extract.items.tools import source

KINDS = (ItemKind.SERVICE, ItemKind.OPPORTUNITY, ItemKind.BUSINESS, ItemKind.FUNDING_PROGRAMME, ItemKind.CONTACT)
SECONDS = 3.0
MEGABYTE = 1_000_000
WORD = "grant deadline apply by salary volunteer eligibility "

PAGES = {
    "a megabyte attribute": f'<a href="mailto:{"a" * MEGABYTE}@b.org" class="{"x " * 100_000}">mail</a><p>Grants</p>',
    "nested divs": "<div>" * 100_000 + "Grants up to £500, apply by 1 May 2027" + "</div>" * 100_000,
    "a line without end": f"<p>{WORD * 20_000}</p>",
    "at signs": f"<p>{'a@' * 300_000}</p>",
    "dots": f"<p>jo@{'a.' * 300_000}</p>",
    "obfuscation without end": f"<p>{'jo (at) ' * 100_000}</p>",
    "digits": f"<p>Tel. {'0' * MEGABYTE}</p><p>{'12 ' * 300_000}</p><p>{'(' * 300_000}</p>",
    "sums": f"<p>{'£1,000 to ' * 100_000}</p>",
    "days": f"<p>{'1 May 2027 and ' * 60_000}</p>",
    "hours": f"<p>{'Mo-Fr 9-5, ' * 90_000}</p>",
    "capitals": f"<p>{'Jo Doe ' * 150_000} jo@oak.org</p>",
    "headings": "".join(f"<h2>Grant {n}</h2><p>Up to £{n}. Apply by 1 May 2027. For: all</p>" for n in range(8_000)),
    "links": "".join(f'<a href="/apply/{n}">Apply now</a> ' for n in range(30_000)),
    "rows": "<table>" + "<tr><td>Deadline</td><td>1 May 2027</td></tr>" * 12_000 + "</table>",
    "JSON-LD without end": f'<script type="application/ld+json">{"[" * 200_000}</script><p>Grants</p>',
    "JSON-LD that is none": '<script type="application/ld+json">{"@type": "JobPosting", "title": </script><p>Jobs</p>',
    "JSON-LD of the wrong types": """<script type="application/ld+json">{"@type": ["JobPosting", 7], "title": {"a": []},
        "hiringOrganization": 5, "validThrough": [], "baseSalary": {"value": {"value": {}}}, "telephone": {"x": 1},
        "address": [[[]]], "openingHours": {"@value": 9}, "email": ["@", null]}</script><p>Jobs</p>""",
    "a script without end": f"<script>document.write('mailto:' + {'a+' * 200_000})</script><p>Grants</p>",
    "hyphens": "".join(f"<p>{'AB-' * 50}x{n}</p>" for n in range(300)),
    "a thing called after itself": """<script type="application/ld+json">
        {"@id": "#a", "@type": ["JobPosting", "Service", "LocalBusiness", "MonetaryGrant"], "name": {"@id": "#a"},
         "title": {"@id": "#a"}}</script><p>Jobs</p>""",
    "private characters": "<p>Grant\x00s \ud7ff \ufffe \u202e£5\u202c deadline: 1\u00a0May\u00a02027</p>",
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
def test_in_good_time(name: str) -> None:
    page = source(
        f"<main><h1>Grants and jobs</h1><p>Some words to begin with, so that there is a text.</p>{PAGES[name]}</main>"
    )
    started = time.process_time()
    for kind in KINDS:
        for item in EXTRACTORS[kind](page).items:
            assert item.data["url"] == page.url
    assert time.process_time() - started < SECONDS
