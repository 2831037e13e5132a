"""HTML: links and marks, and a hash that knows what is content."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.crawl.html import Parsed, header_directives, parse_page, says_nofollow, says_noindex
from tests.suites import SUITES, json_lines, suite_path

HOST = "example.org"
UTF8 = "text/html; charset=utf-8"


def page(html: str) -> Parsed:
    return parse_page(html.encode(), UTF8, HOST)


# Links


@pytest.mark.parametrize(
    ("html", "hrefs"),
    [
        ("<a href=/a>A</a><a href='b?c=d&amp;e=f'>B</a>", ["/a", "b?c=d&e=f"]),
        ("<map><area href=/area></map>", ["/area"]),
        ("<iframe src=/inner></iframe>", ["/inner"]),
        ("<frameset><frame src=/left><frame src=/right></frameset>", ["/left", "/right"]),
        ("<a href=/d#part>D</a>", ["/d#part"]),
        ("<a href='#top'>Top</a><a href=''>E</a><a href='   '>W</a><a href>N</a><a name=x>no href</a>", []),
        ("<iframe src=''></iframe><iframe src></iframe><iframe srcdoc='<a href=/x>'></iframe>", []),
        ("<a href='  /spaces \n'>S</a>", ["/spaces"]),
        ("<A HREF=/upper>U</A>", ["/upper"]),
        ("<a href=/a href=/b>first wins</a>", ["/a"]),
        ("<!-- <a href=/comment>C</a> --><script>'<a href=/script>'</script><style><a href=/style></style>", []),
        ("<template><a href=/template></template>", []),
        ("<noscript><a href=/noscript>for those without</a></noscript>", ["/noscript"]),
        ("<link rel=stylesheet href=/x.css><img src=/x.png><form action=/form><object data=/x>", []),
        ("<a href='mailto:me@example.org'>M</a><a href='javascript:void(0)'>J</a>",
         ["mailto:me@example.org", "javascript:void(0)"]),
        ("<svg><a href=/svg>S</a></svg>", ["/svg"]),
        ("<nav><a href=/nav>links in what is no text count</a></nav>", ["/nav"]),
        ("<a href=/unclosed", []),
        ("<table><a href=/fostered>x</table>", ["/fostered"]),
        ("<a href='/a'>1</a><a href='/a'>2</a>", ["/a", "/a"]),
        ("<a href='/k&#252;he'>K</a><a href='/kühe'>K</a>", ["/kühe", "/kühe"]),
    ],
)  # fmt: skip
def test_links(html: str, hrefs: list[str]) -> None:
    assert page(html).hrefs == hrefs


@pytest.mark.parametrize(
    ("html", "base"),
    [
        ("<a href=x>", None),
        ("<base href=/sub/>", "/sub/"),
        ("<base href='https://other.test/'>", "https://other.test/"),
        ("<base target=_blank><base href=/first/><base href=/second/>", "/first/"),
        ("<body><p>late<base href=/late/>", "/late/"),
        ("<base href=''>", ""),
        ("<base href>", None),
        ("<!-- <base href=/hidden/> -->", None),
    ],
)
def test_base(html: str, base: str | None) -> None:
    assert page(html).base_href == base


def test_the_text_of_links_that_lead_out() -> None:
    parsed = page(
        """<a href="https://other.test/">  Other
             <b>site</b> </a>
           <a href="https://other.test/">the second text of the same link</a>
           <a href="//scheme.test/x">Any scheme</a>
           <a href="HTTPS://Upper.test/">Upper</a>
           <a href="https://sub.example.org/">A sub-domain is another domain</a>
           <a href="https://notexample.org/">Longer name</a>
           <a href="https://example.org.evil.test/">Longer still</a>
           <a href="https://other.test/?from=example.org">Mentions us</a>
           <a href="https://example.org@other.test/">Disguised</a>
           <a href="https://image.test/"><img alt="x" src="/x.png"></a>
           <area href="https://area.test/">
           <a href="https://example.org/own">own</a>
           <a href="https://www.example.org/own">own</a>
           <a href="http://EXAMPLE.org:8080/own">own host</a>
           <a href="//example.org/own">own</a>
           <a href="/own">own</a>
           <a href="own//x">own</a>
           <a href="mailto:you@other.test">mail</a>"""
    )
    assert parsed.anchors == {
        "https://other.test/": "Other site",
        "//scheme.test/x": "Any scheme",
        "HTTPS://Upper.test/": "Upper",
        "https://sub.example.org/": "A sub-domain is another domain",
        "https://notexample.org/": "Longer name",
        "https://example.org.evil.test/": "Longer still",
        "https://other.test/?from=example.org": "Mentions us",
        "https://example.org@other.test/": "Disguised",
        "https://image.test/": "",
        "https://area.test/": "",
    }


def test_the_text_of_a_link_is_kept_short() -> None:
    assert len(page(f"<a href='https://other.test/'>{'long ' * 1_000}</a>").anchors["https://other.test/"]) == 200


# Marks


@pytest.mark.parametrize(
    ("html", "noindex"),
    [
        ("<meta name=robots content=noindex>", True),
        ('<meta name="ROBOTS" content="NOINDEX, NOFOLLOW">', True),
        ('<meta name="robots" content="nofollow , noindex">', True),
        ('<meta name="robots" content="none">', True),
        ('<meta content="noindex" name="robots">', True),
        ('<meta name="Bailiwick" content="noindex">', True),
        ('<meta name="robots" content="index"><meta name="robots" content="noindex">', True),
        ('<body><p>x<meta name="robots" content="noindex">', True),
        ("<meta name=robots content=index>", False),
        ('<meta name="robots" content="nofollow, noarchive, noimageindex">', False),
        ('<meta name="googlebot" content="noindex">', False),
        ('<meta name="description" content="noindex">', False),
        ('<meta name="robots">', False),
        ('<meta name="robots" content="">', False),
        ('<!-- <meta name="robots" content="noindex"> -->', False),
        ("<p>noindex</p>", False),
    ],
)
def test_noindex_in_the_page(html: str, noindex: bool) -> None:
    assert page(html).is_noindex is noindex


@pytest.mark.parametrize(
    ("value", "noindex"),
    [
        ("noindex", True),
        ("NOINDEX", True),
        ("none", True),
        ("nofollow, noindex", True),
        ("  noindex  ,nofollow", True),
        ("bailiwick: noindex", True),
        ("Bailiwick : nofollow, noindex", True),
        ("*: noindex", True),
        ("otherbot: nofollow\nnoindex", True),
        ("noindex\notherbot: nofollow", True),
        ("otherbot: noindex, bailiwick: noindex", True),
        ("max-snippet:-1, noindex", True),
        ("max-image-preview: large, noindex", True),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", True),
        ("", False),
        ("all", False),
        ("index, follow", False),
        ("nofollow", False),
        ("noimageindex", False),
        ("otherbot: noindex", False),
        ("otherbot: nofollow, noindex", False),  # the rules behind an agent are its own
        ("googlebot: none\notherbot: noindex", False),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", False),
        ("bailiwick: index, otherbot: noindex", False),
        (":", False),
        (",,:,noindexx", False),
    ],
)
def test_noindex_in_the_header(value: str, noindex: bool) -> None:
    assert says_noindex(header_directives(value)) is noindex


@pytest.mark.parametrize(
    ("value", "nofollow"),
    [
        ("nofollow", True),
        ("NONE", True),
        ("bailiwick: nofollow", True),
        ("noindex\nnofollow", True),
        ("otherbot: nofollow", False),
        ("noindex", False),
        ("follow", False),
    ],
)
def test_nofollow_in_the_header(value: str, nofollow: bool) -> None:
    assert says_nofollow(header_directives(value)) is nofollow


@pytest.mark.parametrize(
    ("meta", "nofollow"),
    [
        ('<meta name="robots" content="nofollow">', True),
        ('<meta name="ROBOTS" content="index, NoFollow">', True),
        ('<meta name="robots" content="none">', True),
        ('<meta name="bailiwick" content="nofollow">', True),
        ('<meta name="otherbot" content="nofollow">', False),
        ('<meta name="robots" content="noindex">', False),
        ('<meta name="description" content="nofollow">', False),
    ],
)
def test_nofollow_in_meta(meta: str, nofollow: bool) -> None:
    assert page(meta).is_nofollow is nofollow


@pytest.mark.parametrize(
    ("html", "canonical"),
    [
        ("<link rel=canonical href=/c>", "/c"),
        ("<LINK HREF='https://example.org/c' REL='Canonical'>", "https://example.org/c"),
        ("<link rel='nofollow canonical' href=/c>", "/c"),
        ("<link rel=canonical href=/first><link rel=canonical href=/second>", "/first"),
        ("<link rel=canonical>", None),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonicals href=/c>", None),
        ("<link rel=alternate href=/c>", None),
        ("<a rel=canonical href=/c>x</a>", None),
        ("", None),
    ],
)
def test_canonical(html: str, canonical: str | None) -> None:
    assert page(html).canonical == canonical


def test_images_are_counted() -> None:
    assert page("<img src=/a><img src=/a><img alt='no source'><p><IMG SRC='/b'></p>").images == 3


# The hash

SHOP = """<!doctype html><html><head><title>A kettle</title>
<meta name="description" content="A kettle of copper"><meta property="og:title" content="Kettle">
<meta name="csrf-token" content="one"><script>var nonce = 1</script><style>p { color: red }</style>
<script type="application/ld+json">{"@type": "Product", "offers": {"price": "49.90"}}</script></head>
<body class="day"><nav><a href="/">Home</a></nav><main data-visit="1"><h1>A kettle</h1><p>It holds two litres.</p>
<span itemprop="price" content="49.90">49</span><time itemprop="releaseDate" datetime="2026-01-01">New</time>
<a itemprop="url" href="/kettle">Kettle</a><img src="/kettle.jpg" alt="Kettle"></main>
<!-- made in 12 ms --><noscript>Please switch scripts on.</noscript><template><p>row</p></template></body></html>"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("nonce = 1", "nonce = 2"),
        ("color: red", "color: blue"),
        (">Home<", ">Start<"),
        ('name="csrf-token" content="one"', 'name="csrf-token" content="two"'),
        ("two litres", "two\n\t   litres"),
        ("<p>It holds", "\n\n<p>\n  It holds"),
        ("made in 12 ms", "made in 9 ms"),
        ('class="day"', 'class="night"'),
        ('data-visit="1"', 'data-visit="2"'),
        ("scripts on", "scripts off"),
        ("<p>row</p>", "<p>other row</p>"),
        ('href="/"', 'href="/index"'),
        ("<!doctype html>", ""),
        ("</main>", "<script>track()</script></main>"),
    ],
)
def test_the_hash_stays_when_only_this_changes(old: str, new: str) -> None:
    assert old in SHOP
    assert page(SHOP.replace(old, new)).text_hash == page(SHOP).text_hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("two litres", "three litres"),
        ("<h1>A kettle", "<h1>The kettle"),
        ("<title>A kettle", "<title>The kettle"),
        ('"price": "49.90"', '"price": "39.90"'),
        ("application/ld+json", "application/ld+json; charset=utf-8\">{}</script><script type=\"x"),
        ("A kettle of copper", "A kettle of steel"),
        ('og:title" content="Kettle"', 'og:title" content="Pot"'),
        ('content="49.90"', 'content="39.90"'),
        ('datetime="2026-01-01"', 'datetime="2026-02-01"'),
        ('href="/kettle"', 'href="/pot"'),
        ("/kettle.jpg", "/kettle2.jpg"),
        ('itemprop="price"', 'itemprop="lowPrice"'),
        ("</main>", "</main><p>Sold out</p>"),
        ("<p>It holds two litres.</p>", ""),
    ],
)  # fmt: skip
def test_the_hash_changes_when_content_does(old: str, new: str) -> None:
    assert old in SHOP
    assert page(SHOP.replace(old, new)).text_hash != page(SHOP).text_hash


def test_json_ld_is_known_in_any_spelling_of_its_type() -> None:
    for kind in ("application/ld+json", "APPLICATION/LD+JSON", "application/ld+json;charset=utf-8"):
        hashes = {page(f'<script type="{kind}">{{"price": {price}}}</script>').text_hash for price in (1, 2)}
        assert len(hashes) == 2, kind


def test_what_is_no_text_may_lie_within_what_is_none_either() -> None:
    nested = "<nav>a<nav>b<script>c</script></nav><style>d</style></nav><noscript><nav>e</nav></noscript>"
    found = page(f"<p>Kettle</p>{nested}<template><nav>f</nav></template><nav><template>g</template></nav><p>Pot</p>")
    assert found.text_hash == page("<p>Kettle</p><p>Pot</p>").text_hash


def test_the_charset_is_no_part_of_the_hash() -> None:
    html = SHOP.replace("kettle", "théière")
    encoded = parse_page(html.encode("windows-1252"), "text/html; charset=windows-1252", HOST)
    assert encoded.text_hash == page(html).text_hash


def test_the_hash_is_the_same_in_every_process() -> None:
    """And in every release: with another hash, every page of the web counts as changed once."""
    assert page("<p>A kettle</p>").text_hash == -1564693256742106672
    assert page("").text_hash == page("<html></html>").text_hash


# Whatever comes

HARD = {
    "empty": b"",
    "only a mark": b"\xef\xbb\xbf",
    "half a UTF-16 character": b"\xff\xfe<",
    "zeros": bytes(1_000_000),
    "one line of 10 MB": b"x" * 10_000_000,
    "nothing but <": b"<" * 2_000_000,
    "an endless comment": b"<!--" + b"-" * 2_000_000,
    "an endless tag": b"<p " + b"a" * 2_000_000,
    "an endless attribute": b'<a href="' + b"a" * 2_000_000,
    "entities": b"&amp;&#0;&#xD800;&#x110000;&nosuch;" * 50_000,
    "deep spans": b"<span>" * 200_000,
    "deep blocks": b"<div>" * 5_000,
    "deep tables": b"<table><tr><td>" * 10_000,
    "deep foreign elements": b"<svg><math>" * 50_000,
    "formatting that is never closed": b"<a><b><i><u><p>" * 2_000,
    "ends without a beginning": b"</div></p></a></html>" * 50_000,
    "many links": b"<a href=/x>x</a>" * 100_000,
    "many frames": b"<iframe src=/x></iframe>" * 50_000,
    "many images": b"<img src=/x>" * 100_000,
    "many metas": b"<meta name=a content=b>" * 50_000,
    "many attributes": b"<p " + b" ".join(b"a%d=1" % number for number in range(5_000)) + b">",
    "no HTML at all": b"%PDF-1.4\n\x00\xff\xfe" + bytes(range(256)) * 1_000,
}


@pytest.mark.parametrize("body", HARD.values(), ids=HARD)
def test_large_and_malformed_documents(body: bytes) -> None:
    parsed = parse_page(body, "text/html", HOST)
    assert len(parsed.hrefs) <= 40_000
    assert_storable(parsed)


def assert_storable(parsed: Parsed) -> None:
    """A database takes no NUL and no half of a character, and a bigint has 64 bits."""
    texts = [*parsed.hrefs, *parsed.anchors, *parsed.anchors.values(), parsed.base_href or "", parsed.canonical or ""]
    for text in texts:
        assert "\0" not in text
        text.encode()
    assert -(2**63) <= parsed.text_hash < 2**63
    assert set(parsed.anchors) <= set(parsed.hrefs)


@given(body=st.binary(max_size=2_000), content_type=st.text(max_size=60), host=st.text(max_size=20))
@settings(max_examples=300)
def test_any_bytes_are_parsed(body: bytes, content_type: str, host: str) -> None:
    parsed = parse_page(body, content_type, host)
    assert_storable(parsed)
    assert parse_page(body, content_type, host) == parsed


SCRAPS = [
    *(
        b"'",
        b'"',
        b">",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"<?xml ",
        b"\x00",
        b"\xff",
        b"&#0;",
        b"&#xD800;",
        b"text ",
    ),
    *(b"\xef\xbb\xbf", b"\xfe\xff", b"<meta charset=", b"utf-16", b"big5", b"//other.test/", b"noindex"),
    *(
        b"<a href=",
        b"<base href=",
        b"<iframe src=",
        b"<img src=",
        b"<link rel=canonical href=",
        b"<p itemprop=x content=",
    ),
    *(b"<meta name=robots content=", b"<script type=application/ld+json>", b"</script>"),
    *(b"<svg>", b"<template>", b"<table>", b"<plaintext>", b"<select>", b"<frameset>"),
]


@given(st.lists(st.sampled_from(SCRAPS), max_size=60))
@settings(max_examples=300)
def test_any_soup_is_parsed(scraps: list[bytes]) -> None:
    body = b"".join(scraps)
    parsed = parse_page(body, "text/html", HOST)
    assert_storable(parsed)
    assert parse_page(body, "text/html", HOST) == parsed


if suite_path("hostile"):

    def test_the_malformed_documents_of_the_web_platform_are_parsed() -> None:
        seen: Counter[str] = Counter()
        for file in sorted((SUITES / "hostile" / "html5_tree").glob("*.dat")):
            seen["files"] += 1
            for case in file.read_bytes().split(b"#data\n")[1:]:
                seen["documents"] += 1
                assert_storable(parse_page(case.partition(b"\n#errors")[0], "text/html", HOST))
        assert seen["files"] == 36
        assert seen["documents"] > 1_000

    def test_naughty_strings_are_harmless_wherever_they_stand() -> None:
        applied = 0
        for case in json_lines(SUITES / "hostile" / "naughty_strings.jsonl"):
            applied += 1
            text = case["s"]
            raw = text.encode("utf-8", "surrogatepass")
            assert_storable(parse_page(raw, text, text))
            html = b'<title>%b</title><a href="%b">%b</a><meta name="robots" content="%b">' % (raw, raw, raw, raw)
            assert_storable(parse_page(html, UTF8, HOST))
            assert says_noindex(header_directives(text)) is (text.lower() == "none")
        assert applied == 257
