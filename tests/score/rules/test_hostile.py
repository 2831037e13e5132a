"""Whatever comes: valid results, in time, the same each time."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.model.layers import Layer2Results
from bailiwick.model.material import LinkCheck, PageLink, PageMaterial, SiteMaterial, SitePage
from bailiwick.score.rules import likely_pages, links_to_check
from tests.score.rules.pages import HOME, assessed
from tests.suites import json_lines, suite_path

IN_TIME = 10.0
"""Of a busy machine. Alone, the slowest takes a second or two."""
MANY = 100_000
HARD = {
    "deep divs": "<div>" * 200_000,
    "deep ads": '<div class="ad">' * 60_000,
    "deep boxes of authors": '<div class="author-bio">x' * 40_000,
    "deep properties": '<b itemprop="author">x' * 40_000,
    "formatting that is never closed": "<a><b><i><u><p>x" * 20_000,
    "very many headings": "<h2>Write for us</h2>" * 45_000,
    "very many links": '<a href="/write-for-us">Write for us</a>' * 25_000,
    "very many ads": '<ins class="adsbygoogle"></ins>' * 30_000,
    "one long heading": "<h1>" + "write for us " * 80_000,
    "one long class": f'<p class="{"ad " * 300_000}">x',
    "one long word": "<h2>" + "a" * 1_000_000,
    "deep linked data": '<script type="application/ld+json">' + '{"author":[' * 90_000 + "</script>",
    "wide linked data": '<script type="application/ld+json">[' + '{"@type":"Article","author":{"name":"A"}},' * 4_000
    + "{}]</script>",
    "nothing but <": "<" * 1_000_000,
    "an endless comment": "<!--" + "-" * 1_000_000,
    "zeros": "\0" * 100_000,
}  # fmt: skip


def checked(page: PageMaterial, site: SiteMaterial | None = None) -> Layer2Results:
    results, proofs = assessed(page, site)
    assert Layer2Results.model_validate_json(results.model_dump_json()) == results
    for shown in proofs.values():
        for proof in shown:
            assert len(proof.text.encode()) > 0
            assert "\0" not in proof.text
    assert (results, proofs) == assessed(page, site)
    return results


@pytest.mark.parametrize("name", HARD)
def test_hard_documents_in_time(name: str) -> None:
    start = time.process_time()
    assessed(PageMaterial(url=HOME, html=HARD[name], text="some text"))
    assert time.process_time() - start < IN_TIME


def test_very_many_links_pages_and_words_in_time() -> None:
    links = tuple(PageLink(f"https://h{n % 997}.acme.example/write-{n}/contact", f"Contact {n}") for n in range(MANY))
    last = PageLink("https://acme.example/write-for-us", "Write for us")
    pages = tuple(
        SitePage(f"https://acme.example/{n}", "We do not accept guest posts" * 50, "no " * 2_000) for n in range(3_000)
    )
    page = PageMaterial(url=HOME, html="<p>x", text="we do not accept guest posts " * 40_000, links=(*links, last))
    start = time.process_time()
    results, _ = assessed(page, SiteMaterial(pages=pages))
    assert len(links_to_check(page)) == 20
    assert likely_pages(page) == (last.url,)
    assert time.process_time() - start < 2 * IN_TIME
    assert results.guest_post_red_flags.write_for_us.detected, "a footer's links come last"


MARKUP = st.lists(
    st.sampled_from(
        (
            "<div class=ad>", "</div>", "<h1>", "</h1>", "<h2>About the author</h2>", "<a href=/contact>", "</a>",
            "<p>", "<!--", "-->", "<script type=application/ld+json>", '{"@type":"Article","author":',
            '{"name":"A","url":1}}', "</script>", "<svg>", "<iframe src=//x>", "write for us ", "no guest posts ",
            "<b itemprop=author>", "<template>", "\ud800", "\0", "é", "<body>", "<frameset>", "<table><td>",
        )
    )
    | st.text(max_size=30),
    max_size=40,
).map("".join)  # fmt: skip
ODD = (
    HOME, "", "https://", "http://[::1]/contact", "https://acme.example/\ud800/contact", "https://ü.example/%ff",
    "mailto:x", "https://a.example/a?=&;=",
)  # fmt: skip
ADDRESSES = (
    st.sampled_from(ODD) | st.text(max_size=60) | st.text(max_size=40).map(lambda path: f"https://acme.example/{path}")
)


@settings(max_examples=150, deadline=None)
@given(
    html=MARKUP,
    url=ADDRESSES,
    links=st.lists(st.builds(PageLink, ADDRESSES, st.text(max_size=40), st.sampled_from(("", "author")))).map(tuple),
    pages=st.lists(st.builds(SitePage, ADDRESSES, st.text(max_size=40), st.text(max_size=80)), max_size=4).map(tuple),
    checks=st.lists(st.builds(LinkCheck, ADDRESSES, st.none() | st.booleans(), st.text(max_size=20)), max_size=5).map(
        tuple
    ),
    language=st.none() | st.sampled_from(("en", "de", "bg", "??", "zh-Hans")),
)
def test_any_material_gives_valid_results(
    html: str,
    url: str,
    links: tuple[PageLink, ...],
    pages: tuple[SitePage, ...],
    checks: tuple[LinkCheck, ...],
    language: str | None,
) -> None:
    page = PageMaterial(url=url, html=html, text=html, title=html[:50], language=language, links=links)
    checked(page, SiteMaterial(pages=pages, link_checks=checks, unreached=(url,)))
    for found in (likely_pages(page), links_to_check(page)):
        assert len(set(found)) == len(found)
        assert all(one.lower().startswith(("http://", "https://")) and "#" not in one for one in found)
    assert len(likely_pages(page)) <= 6


if (TREES := suite_path("hostile/html5_tree")) is not None:

    @pytest.mark.parametrize("path", sorted(Path(TREES).iterdir()), ids=lambda path: path.name)
    def test_malformed_html(path: Path) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        checked(PageMaterial(url=HOME, html=text, text=text[:50_000]))


if (STRINGS := suite_path("hostile/naughty_strings.jsonl")) is not None:

    def test_naughty_strings() -> None:
        strings = [next(value for value in row.values() if isinstance(value, str)) for row in json_lines(STRINGS)]
        links = tuple(PageLink(f"https://acme.example/{one}", one) for one in strings)
        pages = tuple(SitePage(f"https://acme.example/{one}", one, one) for one in strings)
        checks = tuple(LinkCheck(one, True, one) for one in strings)
        html = "".join(f'<h2 class="{one}">{one}</h2>' for one in strings)
        page = PageMaterial(url=HOME, html=html, text="\n".join(strings), links=links)
        checked(page, SiteMaterial(pages=pages, link_checks=checks, unreached=tuple(strings)))


if (ATTACKS := suite_path("hostile/ssrf_urls.jsonl")) is not None:

    def test_addresses_made_to_deceive_do_not_raise() -> None:
        urls = [value for row in json_lines(ATTACKS) for value in row.values() if isinstance(value, str)]
        page = PageMaterial(url=HOME, html="<p>x", text="x", links=tuple(PageLink(url, "Contact us") for url in urls))
        checked(page)
        assert all(url.startswith("https://acme.example/") for url in likely_pages(page))
        assert links_to_check(page) == links_to_check(page)
