# ruff: noqa: E501 - a case is a line
"""The content hash in both directions: what is noise, and what is a change."""

import pytest

from bailiwick.extract.hashing import content_hash
from tests.extract.pages import PROSE, content

PAGE = f"""<!doctype html><html lang="en"><head><title>(3) Village halls fund</title>
<meta name="description" content="Money for village halls"><meta name="csrf-token" content="a8f1">
<meta property="og:title" content="Village halls"><meta property="og:image" content="https://cdn.example.org/hall.jpg?v=17">
<meta property="og:updated_time" content="2026-11-16T12:03:44Z"><meta property="product:price:amount" content="250.00">
<meta name="build" content="1f9e"><link rel="canonical" href="https://example.org/halls">
<script nonce="r4nd0m">var token = "abc";</script>
<script type="application/ld+json">{{"@type": "Product", "name": "Ramp", "offers": {{"price": "49.90", "url": "https://example.org/ramp?PHPSESSID=a1"}},
"dateModified": "2026-11-16T12:03:44Z", "interactionStatistic": {{"userInteractionCount": 12}}}}</script>
<script type="application/ld+json">{{"@type": "Event", "startDate": "2026-12-01T19:00"}}</script></head>
<body data-visit="1"><nav><a href="/">Home</a></nav><main><h1>Village halls fund</h1>
<p class="byline">Posted 5 minutes ago by Ada</p><p>{PROSE}</p>
<p>Deadline: 5 May 2027, 17:00</p><p>Award: 12,500 pounds</p><p>Only 3 left in stock</p><p>14 days left to apply</p>
<p>Closes in 3 hours 20 minutes</p><p>Last updated: 16 November 2026 at 12:03:44 UTC</p><p>1,234 views</p>
<p>Winner's time: 2:03:44</p><p>sha256: 9f86d081884c7d659a2feaa0c55ad015</p><p>Request ID: 7f3a99c1d2</p>
<p>See https://example.org/list;jsessionid=8A7F?page=2</p><p>27 reviews, rated 4.5</p><p>Opening hours 9:00 to 17:00</p>
<p>Advertisement</p><p>The ramp carries 300 kg.</p>
<span itemprop="sku" content="R-1">R</span><meta itemprop="interactionCount" content="12">
<img src="/img/hall.jpg?v=1731"><img src="/img/door.jpg?id=7&amp;_=99"><img src="https://ads.example.net/banner/1.gif">
<img src="data:image/gif;base64,R0lGOD"><table><tr><td>Maximum</td><td>5,000</td></tr></table>
<p>Page generated in 0.123 seconds, 12 queries</p><p>Today is Monday, 16 November 2026</p></main>
<footer>Server time 12:03:44</footer><!-- 12 ms --></body></html>"""


def hash_of(html: str) -> bytes:
    return content(html).content_hash


NOISE = [
    ("5 minutes ago", "7 minutes ago"),
    ("5 minutes ago", "an hour ago"),
    ("5 minutes ago", "2 days ago"),
    ("5 minutes ago", "3 hrs ago"),
    ('csrf-token" content="a8f1"', 'csrf-token" content="77c2"'),
    ('name="build" content="1f9e"', 'name="build" content="2a00"'),
    ('nonce="r4nd0m"', 'nonce="m0dn4r"'),
    ('var token = "abc"', 'var token = "def"'),
    ("hall.jpg?v=17", "hall.jpg?v=18"),
    ("hall.jpg?v=1731", "hall.jpg?1800000000"),
    ("id=7&amp;_=99", "id=7&amp;_=100"),
    ("https://ads.example.net/banner/1.gif", "https://ads.example.net/banner/2.gif"),
    ("R0lGOD", "iVBORw"),
    ('"2026-11-16T12:03:44Z">', '"2026-11-16T15:00:00Z">'),
    ('"dateModified": "2026-11-16T12:03:44Z"', '"dateModified": "2026-11-16T13:00:01Z"'),
    ('"userInteractionCount": 12', '"userInteractionCount": 13'),
    ("PHPSESSID=a1", "PHPSESSID=b2"),
    ('"name": "Ramp", "offers"', '"name":   "Ramp",\n "offers"'),
    ('{"@type": "Product", "name": "Ramp",', '{"name": "Ramp", "@type": "Product",'),
    ("(3) Village halls fund", "(4) Village halls fund"),
    ("(3) Village halls fund", "Village halls fund"),
    ("at 12:03:44 UTC", "at 14:00:02 UTC"),
    ("at 12:03:44 UTC", "at 2:05 pm"),
    ("1,234 views", "1,240 views"),
    ("1,234 views", "2k views"),
    ("Request ID: 7f3a99c1d2", "Request ID: 00aa11bb22"),
    (";jsessionid=8A7F", ";jsessionid=9B8E"),
    ("3 hours 20 minutes", "3 hours 19 minutes"),
    ("0.123 seconds, 12 queries", "0.2 seconds, 14 queries"),
    ("Today is Monday, 16 November 2026", "Today is Tuesday, 17 November 2026"),
    ("<p>Advertisement</p>", ""),
    ("<p>Advertisement</p>", "<p>Sponsored</p>"),
    ('data-visit="1"', 'data-visit="2"'),
    ("12 ms", "9 ms"),
    ('interactionCount" content="12"', 'interactionCount" content="13"'),
    ("carries 300 kg", "carries\n    300\u00a0kg"),
    ("The ramp", "The\u200b ramp"),
    ("<p>The ramp carries", "<p>The <b>ramp</b> carries"),
    ('<img src="/img/hall.jpg?v=1731"><img src="/img/door.jpg?id=7&amp;_=99">', '<img src="/img/door.jpg?id=7"><img src="/img/hall.jpg">'),
    ("<footer>Server time 12:03:44", "<footer>Server time 12:03:59"),
    ('<a href="/">Home', '<a href="/">Start'),
]  # fmt: skip

MEANING = [
    ("12,500 pounds", "12,000 pounds"),
    ("Deadline: 5 May 2027", "Deadline: 6 May 2027"),
    ("5 May 2027, 17:00", "5 May 2027, 12:00"),
    ("Only 3 left", "Only 2 left"),
    ("14 days left", "13 days left"),
    ("Last updated: 16 November", "Last updated: 17 November"),
    ("time: 2:03:44", "time: 2:03:45"),
    ("9f86d081884c7d659a2feaa0c55ad015", "0f86d081884c7d659a2feaa0c55ad015"),
    ("27 reviews", "28 reviews"),
    ("rated 4.5", "rated 4.4"),
    ("9:00 to 17:00", "9:00 to 18:00"),
    ("300 kg", "350 kg"),
    ("new heating", "old heating"),
    ("two hundred halls", "three hundred halls"),
    ("A committee of five", "A Committee of five"),
    ("Posted 5 minutes ago by Ada", "Posted 5 minutes ago by Eve"),
    ("Money for village halls", "Money for town halls"),
    ('og:title" content="Village', 'og:title" content="Town'),
    ('price:amount" content="250.00"', 'price:amount" content="240.00"'),
    ('"price": "49.90"', '"price": "39.90"'),
    ('"startDate": "2026-12-01T19:00"', '"startDate": "2026-12-01T20:00"'),
    ('"dateModified": "2026-11-16T', '"dateModified": "2026-11-17T'),
    ('content="R-1"', 'content="R-2"'),
    ("/img/hall.jpg", "/img/hut.jpg"),
    ("?id=7&amp;", "?id=8&amp;"),
    ("cdn.example.org/hall.jpg", "cdn.example.org/hut.jpg"),
    ("<td>5,000", "<td>6,000"),
    ("<title>(3) Village", "<title>(3) Town"),
    ("<h1>Village", "<h1>Town"),
    ("<p>The ramp carries 300 kg.</p>", ""),
    ("Opening hours", "Office hours"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), NOISE)
def test_noise_is_no_change(old: str, new: str) -> None:
    assert old in PAGE
    assert hash_of(PAGE.replace(old, new)) == hash_of(PAGE)


@pytest.mark.parametrize(("old", "new"), MEANING)
def test_meaning_is_a_change(old: str, new: str) -> None:
    assert old in PAGE
    assert hash_of(PAGE.replace(old, new)) != hash_of(PAGE)


LINES = [
    ("vor 5 Minuten", "vor 9 Minuten"),
    ("vor einer Stunde", "vor 2 Stunden"),
    ("il y a 3 heures", "il y a 4 heures"),
    ("hace 2 días", "hace 3 días"),
    ("10 minuti fa", "11 minuti fa"),
    ("3 dagen geleden", "4 dagen geleden"),
    ("Zuletzt aktualisiert: 16.11.2026, 12:03 Uhr", "Zuletzt aktualisiert: 16.11.2026, 12:09 Uhr"),
    ("Generated at 2026-11-16 12:03:44.123 +0100", "Generated at 2026-11-16 12:07:00.001 +0100"),
    ("Rendered in 35 ms", "Rendered in 7 ms"),
    ("Viewed 12 times", "Viewed 13 times"),
    ("Visitors: 10293", "Visitors: 10294"),
    ("17 people are viewing this", "9 people are viewing this"),
    ("Offer ends in 02:11:05", "Offer ends in 02:10:59"),
    ("45 minutes remaining", "44 minutes remaining"),
    ("Session: 8fa7c1d2e3", "Session: 0000c1d2e3"),
    ("Anzeige", ""),
    ("Werbung", "Anzeige"),
    ("Caf\u00e9", "Cafe\u0301"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), LINES)
def test_noise_in_a_line(one: str, other: str) -> None:
    assert content_hash(f"A hall\n\n{one}\n\nThe end") == content_hash(f"A hall\n\n{other}\n\nThe end")


SENTENCES = [
    ("The bridge was built 25 years ago and has carried trains ever since, although nobody thought that it would last", "26 years"),
    ("Version 1.2.3", "Version 1.2.4"),
    ("Session: evening", "Session: morning"),
    ("Arrives 12:03", "Arrives 12:04"),
    ("Row 5, seat 12", "Row 6, seat 12"),
    ("3 days left", "2 days left"),
    ("Price: 5 EUR", "Price: 6 EUR"),
    ("No. 12", "No. 13"),
    ("12 comments", "13 comments"),
    ("5,000 downloads", "6,000 downloads"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SENTENCES)
def test_meaning_in_a_line(one: str, other: str) -> None:
    other = one.replace("25 years", other) if "years" in other else other
    assert content_hash(f"A hall\n{one}\nThe end") != content_hash(f"A hall\n{other}\nThe end")


def test_a_paragraph_is_content_whatever_it_says() -> None:
    said = f"{PROSE} The committee met 5 minutes ago."
    assert content_hash(said) != content_hash(said.replace("5 minutes", "6 minutes"))


def test_the_hash_is_the_same_in_every_release() -> None:
    """With another hash, every page of the web counts as changed once."""
    assert content_hash("A hall\nwith a roof").hex() == "c655c239834a595455a00c84c383e2f3"
    assert len(hash_of(PAGE)) == 16
