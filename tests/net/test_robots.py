"""robots.txt: groups, delays, sitemaps, statuses, and files that nobody should have to read."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.net.robots import MAX_BYTES, Robots, RobotsKind, decide, parse_robots

AGENT = "Bailiwick"
HOUR, DAY = 3_600, 86_400


def robots(text: str, agent: str = AGENT) -> Robots:
    return parse_robots(text.encode(), agent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nCrawl-delay: 0", 0.0),
        ("User-agent: *\nCrawl-delay: 86400", HOUR),
        ("User-agent: *\nCrawl-delay: " + "9" * 400, HOUR),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: nan", None),
        ("User-agent: *\nCrawl-delay: 10s", None),
        ("User-agent: *\nCrawl-delay:", None),
        ("User-agent: *\nCrawl-delay: 3\nCrawl-delay: 7\nCrawl-delay: x", 7.0),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: bailiwick\nCrawl-delay: 1", 1.0),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: bailiwick\nDisallow: /x", None),
        ("User-agent: *\nCrawl-delay: 9\n\nUser-agent: other\nCrawl-delay: 1", 9.0),
        ("Crawl-delay: 9", None),
    ],
)
def test_crawl_delay(text: str, expected: float | None) -> None:
    assert robots(text).crawl_delay_seconds == expected


def test_sitemaps_are_absolute_and_bounded() -> None:
    lines = ["Sitemap: https://a.example/1.xml", "sitemap:HTTP://a.example/2.xml # two", "Sitemap: /relative.xml"]
    lines += ["Sitemap: ftp://a.example/x", "Sitemap: https://a.example/1.xml", "Sitemap: https://", "Sitemap:"]
    lines += ["Sitemap: https://a.example/" + "x" * 3_000]
    assert robots("\n".join(lines)).sitemaps == ("https://a.example/1.xml", "HTTP://a.example/2.xml")
    many = "".join(f"Sitemap: https://a.example/{number}\n" for number in range(1_000))
    assert robots(many).sitemaps == tuple(f"https://a.example/{number}" for number in range(50))


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("Disallow: /", True),
        ("Disallow: *", True),
        ("Disallow: /*", True),
        ("Disallow: /\nAllow: /robots.txt$", True),
        ("Disallow: /\nAllow:", True),
        ("Disallow: /\nAllow: /a", False),
        ("Disallow: /\nAllow: /$", False),
        ("Disallow: /\nAllow: /*.html$", False),
        ("Disallow: /a*\nDisallow: /\nAllow: /a", True),
        ("Disallow: /$", False),
        ("Disallow: /a\nDisallow: /b", False),
        ("Disallow:", False),
        ("Allow: /", False),
        ("Disallow: /\n\nUser-agent: other\nAllow: /", True),
        ("Disallow: /\n\nUser-agent: Bailiwick/1.0 (crawler)\nAllow: /", False),
        ("Disallow: /\n" + "".join(f"Allow: /{number}\n" for number in range(300)), False),
    ],
)
def test_denies_everything(rules: str, expected: bool) -> None:
    assert robots(f"User-agent: *\n{rules}").denies_everything is expected


def test_the_rule_that_forbids_is_named() -> None:
    found = robots("User-agent: *\nDisallow: /a\ndissalow : /a/b*c # why\nAllow: /a/x\nDisallow: /ü")
    assert found.rule_for("/a/1") == "Disallow: /a"
    assert found.rule_for("/a/b/c?d") == "Disallow: /a/b*c"
    assert found.rule_for("/%C3%BC") == "Disallow: /ü"
    assert found.rule_for("/a/x") is None
    assert found.rule_for("/") is None


def test_among_thousands_of_rules_the_one_is_not_looked_for() -> None:
    """Whoever writes them could keep us busy with every page that they forbid."""
    found = robots("User-agent: *\nDisallow: /y\n" + "".join(f"Disallow: /x{n}/z\n" for n in range(1_000)))
    assert found.rule_for("/y/1") == "one of 1,001 lines"
    assert found.rule_for("/z") is None


@pytest.mark.parametrize(
    "agent",
    ["Bailiwick", "bailiwick", "Bailiwick/0.1 (+https://example.org/bot)", "Mozilla/5.0 (compatible; Bailiwick)"],
)
def test_our_group(agent: str) -> None:
    text = "User-agent: other\nUser-agent: BAILIWICK\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
    found = robots(text + "User-agent: Bailiwick\nDisallow: /b\nUser-agent: Bail Bonds\nDisallow: /c", agent)
    assert [found.allows(path) for path in ("/a", "/b", "/c", "/")] == [False, False, True, True]


def test_a_group_of_unknown_lines_is_none() -> None:
    understood = robots("User-agent: bailiwick\nDisallow:\n\nUser-agent: *\nDisallow: /")
    unknown = robots("User-agent: bailiwick\nNoindex: /x\n\nUser-agent: *\nDisallow: /")
    assert understood.allows("/x")
    assert not unknown.allows("/x")


@pytest.mark.parametrize(
    "path", ["//[x", "//private/x", "private", "/private#x", "/private?a=%zz", "/private\udc80", "/\0private"]
)
def test_odd_paths_are_paths(path: str) -> None:
    assert robots("User-agent: *\nDisallow: /private\nDisallow: //\nDisallow: /%00").allows(path) is False


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        "User-agent: *\r\nDisallow: /x".encode("utf-16"),
        b"User-agent: *\rDisallow: /x\r",
        b"\r\n\r\nUser-agent: *\r\n\r\nDisallow: /x\r\n",
        b"User-agent: *\nDisallow: /\xff\nDisallow: /x",
        b"User-agent: *\n\0\0Disallow: /x\0",
        b"User-agent: *\nSitemap: https://a.example/\nDisallow: /x",
        b"User-agent: *\nDisallow: /x#/y",
        b"user agent *\ndisallow /x",
        b"<!-- ours -->\nUser-agent: *\nDisallow: /x",
        "User-agent: *\nDi\u017fallow: /\nDisallow: /x".encode(),
        "User-agent: *\nDisallow: /q\u2028Disallow: /\nDisallow: /x".encode(),
    ],
)
def test_odd_files_are_read(body: bytes) -> None:
    found = parse_robots(body, AGENT)
    assert not found.allows("/x")
    assert found.allows("/")
    assert found.allows("/robots.txt")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 100,
        b"\n<!DOCTYPE html>\n<html><pre>\nUser-agent: *\nDisallow: /\n</pre></html>",
        b"<HTML><body>Page not found: try /</body></HTML>",
        b'<meta name="x">\nposition: absolute\nUser: agent',
        b"Disallow: /",
        b"\x1f\x8b\x08\x00\x00",
    ],
)
def test_what_is_no_robots_txt_has_no_rules(body: bytes) -> None:
    assert parse_robots(body, AGENT) == Robots()


def test_what_is_beyond_the_cap_is_ignored() -> None:
    start = b"User-agent: *\nDisallow: /first\n#"
    filling = b"x" * (MAX_BYTES - len(start) - len(b"\nDisallow: /last"))
    whole = start + filling + b"\nDisallow: /last"
    assert len(whole) == MAX_BYTES
    for body, last_denied in ((whole, True), (whole + b"\nDisallow: /", True), (whole + b"-not\nDisallow: /", False)):
        found = parse_robots(body, AGENT)
        assert not found.allows("/first")
        assert found.allows("/last") is not last_denied
        assert found.allows("/")
    assert parse_robots(b"x" * (MAX_BYTES + 1), AGENT) == Robots()


@pytest.mark.parametrize(
    ("status", "kind", "expires"),
    [
        (200, RobotsKind.RULES, DAY),
        (206, RobotsKind.RULES, DAY),
        (302, RobotsKind.OPEN, HOUR),
        (400, RobotsKind.OPEN, DAY),
        (401, RobotsKind.OPEN, DAY),
        (403, RobotsKind.OPEN, DAY),
        (404, RobotsKind.OPEN, DAY),
        (410, RobotsKind.OPEN, DAY),
        (429, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (499, RobotsKind.OPEN, DAY),
        (500, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (503, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (599, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (None, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (100, RobotsKind.CLOSED_FOR_NOW, HOUR),
        (999, RobotsKind.CLOSED_FOR_NOW, HOUR),
    ],
)
def test_status_decides(status: int | None, kind: RobotsKind, expires: int) -> None:
    verdict = decide(status, b"User-agent: *\nDisallow: /x", AGENT)
    assert (verdict.kind, verdict.expires_seconds) == (kind, expires)
    assert verdict.reason
    assert verdict.robots.allows("/") is (kind is not RobotsKind.CLOSED_FOR_NOW)
    assert verdict.robots.allows("/x") is (kind is RobotsKind.OPEN)
    assert not verdict.denies_domain


def test_only_the_site_itself_denies_the_domain() -> None:
    assert decide(200, b"User-agent: *\nDisallow: /", AGENT).denies_domain
    assert decide(200, None, AGENT).kind is RobotsKind.CLOSED_FOR_NOW
    assert decide(503, None, AGENT).robots.denies_everything
    assert not decide(503, None, AGENT).denies_domain


LINES = st.sampled_from(
    ["User-agent: *", "User-agent: bailiwick", "user agent", "Disallow: /", "Disallow: /*a$b$", "Allow:/x*", "*", ":",
     "Crawl-delay: 1e9", "Sitemap: https://[", "\ufeff", "#", "%", "\u2028", "\x85", "\0", "\r", "http://[x", "/"]
)  # fmt: skip


@given(st.binary() | st.lists(LINES | st.text(max_size=5)).map(lambda parts: "\n".join(parts).encode()), st.text())
def test_anything_is_answered(body: bytes, path: str) -> None:
    found = parse_robots(body, AGENT)
    rule = found.rule_for(path)
    assert (rule is None) is found.allows(path)
    assert found.allows("/robots.txt")
    if found.denies_everything:
        assert not found.allows("/")


@pytest.mark.parametrize(
    "pattern",
    [
        "".join(f"User-agent: a{n}\n" for n in range(14_000)) + "".join(f"Disallow: /{n}\n" for n in range(18_000)),
        "User-agent: *\nDisallow: /\n" + "".join(f"Allow: /*a*b{number}\n" for number in range(30_000)),
        "User-agent: *\nDisallow: /a\n" * 20_000,
        "".join(f"User-agent: a{number}\nDisallow: /\n" for number in range(20_000)),
        "User-agent: *\nDisallow: /" + "*a" * 300_000 + "\n",
        "User-agent" + " " * MAX_BYTES,
        "User-agent: *\nAllow" + " " * (MAX_BYTES - 50) + ":\n",
        "\n" * MAX_BYTES,
        "<" * MAX_BYTES,
    ],
    ids=["agents by rules", "wildcards", "repeated", "groups", "stars", "blanks", "blanks and colon", "ends", "tags"],
)  # fmt: skip
def test_huge_files_are_quick(pattern: str) -> None:
    started = time.process_time()
    found = parse_robots(pattern.encode(), AGENT)
    for path in ("/", "/" + "ab/" * 600):
        found.allows(path)
        found.rule_for(path)
    assert found.denies_everything is False
    assert time.process_time() - started < 5
