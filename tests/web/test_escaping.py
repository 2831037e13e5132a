"""Whatever strangers write, on a form or on a page that we crawled, is shown as text and as nothing else."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser

from bailiwick.accounts.sessions import Session
from bailiwick.model.urls import hash_of
from bailiwick.web.live import Stream, _event
from bailiwick.web.visits import _NOTE
from tests.suites import json_lines, suite_path
from tests.web.tools import HOST, Browser, Land

EVIL = (
    "<xss-tag data-xss=1 onclick=alert(1)>", "\"><xss-tag data-xss=1>", "'><xss-tag data-xss=1>", "\" data-xss=1 x=\"",
    "' onfocus=alert(1) autofocus data-xss='", "</title><script data-xss>alert(1)</script>", "</textarea><xss-tag>",
    "<script data-xss src=https://evil.example/></script>", "<img src=x onerror=alert(1) data-xss>", "<!--<xss-tag>",
    "<form action=//evil data-xss><input name=word>", "<a hx-get=/logout hx-trigger=load data-xss>", "]]><xss-tag>",
    "{{ 7*7 }}<xss-tag>", "{% raw %}<xss-tag>", "&lt;xss-tag&gt;", "javascript:alert(1)", "<svg><style><xss-tag>",
    "\u2028<xss-tag>", "data: x\n\nevent: over\ndata: <xss-tag>", "<base href=//evil data-xss>",
)  # fmt: skip
TEXT = " | ".join(EVIL)
NAME = "\"><xss-tag'data-xss=1>.example"
MEMBER = "\"><xss-tag'data-xss=1>?#&%"
TAGS = frozenset(
    re.findall(
        r"\S+",
        "html head meta title link script body a header div img nav ul li span form input button main p footer h1 h2 "
        "h3 section ol strong code br dl dt dd time label select option textarea table thead tbody tr th td details "
        "summary progress figure figcaption svg rect polygon polyline -text",
    )
)
URLS = ("href", "src", "action", "hx-get")


def check(page: str, *shown: str) -> None:
    """The page has only our own elements and attributes, and shows these texts."""
    tree = LexborHTMLParser(page)
    for node in tree.css("*"):
        assert node.tag in TAGS, node.html
        for name, value in node.attributes.items():
            assert not name.startswith("on"), node.html
            assert name not in ("style", "data-xss", "srcdoc", "formaction"), node.html
            if name in URLS:
                assert re.match(r"/(?![/\\])|#main$", value or ""), node.html
        if node.tag == "script":
            assert str(node.attributes.get("src")).startswith("/static/")
            assert not node.text()
        if node.tag == "meta":
            assert node.attributes.get("http-equiv") is None
    text = " ".join(tree.root.text(deep=True).split()) if tree.root else ""
    values = [value for node in tree.css("input,option") if (value := node.attributes.get("value"))]
    for wanted in shown:
        assert " ".join(wanted.split()) in text or wanted in values, wanted


@pytest.fixture(scope="module")
def hostile(land: Land) -> Land:
    """A land in which all that can be strange is."""
    somebody = land.member(MEMBER).id
    land.admitted("plain.example")
    texts = ("site", "base_url", "profile", "block_reason", "block_reason_code", "notes", "submission_context",
             "blacklist_reason", "review_reason")  # fmt: skip
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    blocked = {"crawl": "blocked", "next_crawl_after": tomorrow, "submitted_by": somebody}
    land.change("plain.example", name=NAME, **blocked, **dict.fromkeys(texts, TEXT))
    waiting = {"name": f"waits{NAME}", "site": "x", "shared_key": "x", "approval": "pending_review"}
    land.insert("domains", **waiting, submitted_by=somebody, submission_context=TEXT)
    land.insert("crawl_queue", domain_id=_id(land, f"waits{NAME}"), key_hash=1)
    _crawled(land, _id(land, NAME))
    _happened(land)
    return land


def _happened(land: Land) -> None:
    """Events with nothing but strange text in them."""
    about = {"actor_id": land.member(MEMBER).id, "subject_kind": "domain", "subject_name": NAME}
    for before, after in (("x", TEXT), ({TEXT: TEXT}, {TEXT: TEXT})):
        told = {"before": json.dumps(before), "after": json.dumps(after), "verb": TEXT, "reason": TEXT}
        for machine in (None, "approval"):
            land.insert("events", machine=machine, **about, **told)


def _id(land: Land, name: str) -> int:
    return int(land.value("select id from domains where name = :name", name=name))


def _crawled(land: Land, domain: int) -> None:
    """What a crawl leaves behind, all of it strange."""
    path, now = f"/{TEXT}"[:1900], datetime.now(UTC)
    land.do("update crawl_queue set worker = :text where domain_id = :id", text=TEXT, id=domain)
    figures = json.dumps({"outcomes": {TEXT: 3}, "rate": 1.5})
    land.insert("workers", name=TEXT, machine="m", boot="b", pid=1, process_started=1, figures=figures)
    land.insert("jobs", name=TEXT[:200], state="running", created_by=land.member("admin").id)
    land.insert("runs", job_id=land.value("select max(id) from jobs"))
    land.insert("run_domains", run_id=land.value("select max(id) from runs"), domain_id=domain, max_depth=3)
    land.insert("domain_memory", domain_id=domain, refusals=json.dumps({TEXT: 7}))
    failed = {"domain_id": domain, "last_error": TEXT, "last_outcome": TEXT, "last_fetched_at": now}
    for state in ("pending", "failed"):
        land.insert("pages", path_hash=hash_of(path + state), path=path + state, state=state, **failed)
    fetch = {"fetched_at": now, "domain_id": domain, "path_hash": hash_of(path + "failed"), "run_id": 1, "lease_no": 1}
    for outcome in (TEXT, "server_error"):
        land.insert("fetch_log", outcome=outcome, **fetch)
    _described(land, domain, path + "failed")
    land.insert(
        "images", sha256=b"x" * 32, path=TEXT, machine="m", mime=f"image/{TEXT}", file_size=3, width=1, height=1
    )
    shown = {"domain_id": domain, "url_hash": 1, "url": TEXT, "image_id": land.value("select max(id) from images")}
    land.insert("image_fetches", is_own=True, outcome="stored", next_at=None, **shown)
    land.insert("image_sightings", path_hash=hash_of(path + "failed"), nth=0, position=0, alt_text=TEXT, found_in="src",
                image_type="gallery", discovery_type="discovery", **shown)  # fmt: skip
    link = {"path_hash": hash_of(path), "path": path, "rule": "calendar", "from_hash": hash_of(path + "pending")}
    land.insert("refused_links", domain_id=domain, **link)


def _described(land: Land, domain: int, path: str) -> None:
    """Items of the strangest kind: every name and every value."""
    page = {"domain_id": domain, "path_hash": hash_of(path)}
    land.insert("page_parses", **page, body_hash=b"b", outcome="parsed", snapshot_id=7, extractor_version=1,
                profile=TEXT, profile_mark=1)  # fmt: skip
    data = {"name": TEXT, TEXT: TEXT, "price": "<b>1</b>", "brand": {TEXT: [TEXT, {TEXT: TEXT}]}, "url": EVIL[16]}
    for position, told in enumerate((data, {})):
        land.insert("items", **page, snapshot_id=7, kind="product", position=position, data=json.dumps(told),
                    confidence=0.5, extractor=TEXT, extractor_version=1, content_hash=b"h",
                    fields=json.dumps({TEXT: 0.5}))  # fmt: skip


@pytest.fixture(scope="module")
def admin(hostile: Land) -> Browser:
    browser = hostile.browser("admin")
    hostile.do("update sessions set user_agent = :text, address = :text", text=TEXT)
    return browser


PAGES: dict[str, tuple[str, ...]] = {
    "/": (TEXT, NAME, MEMBER),
    f"/domains/{quote(NAME)}": (TEXT, NAME, MEMBER),
    f"/domains/{quote(NAME)}/items": (TEXT, TEXT[:400], NAME),
    f"/domains/{quote(NAME)}/items?kind={quote(TEXT[:250])}": (EVIL[0],),
    f"/domains/{quote(NAME)}/items?after={quote(TEXT[:250])}": (),
    f"/domains/{quote(NAME)}/pages?view=fetched": (TEXT, NAME),
    f"/domains/{quote(NAME)}/pages?view=errors": (TEXT, NAME),
    f"/domains/{quote(NAME)}/pages?view=waiting": (TEXT, NAME),
    f"/domains/{quote(NAME)}/pages?view=refused&path={quote('/' + TEXT[:1800])}": (TEXT[:1800], NAME),
    f"/domains/{quote(NAME)}/pages?path={quote('/' + TEXT)}": (TEXT,),
    f"/domains/{quote(NAME)}/images": (TEXT, NAME),
    "/domains": (TEXT, NAME),
    f"/domains?q={quote(TEXT[:250])}": (TEXT[:250].lower(),),
    f"/domains?approval={quote(TEXT[:250])}": (EVIL[0],),
    f"/domains?sort={quote(TEXT[:250])}": (EVIL[0],),
    f"/domains/{quote(TEXT[:250].replace('/', ''))}": (TEXT[:250].replace("/", ""),),
    f"/domains/x/pages?view={quote(TEXT)}": (EVIL[0],),
    "/review": (TEXT, NAME, MEMBER),
    "/approved?sort=name": (NAME,),
    "/members": (MEMBER,),
    "/account": (TEXT,),
    "/live/now?topic=tiles": (TEXT,),
    f"/live/now?topic=domain:{quote(NAME)}": (TEXT,),
    f"/submit?url={quote(TEXT[:290])}": (TEXT[:290],),
    f"/nothing/{quote(TEXT)}": (),
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path)[:40].replace("/", "_"))
def test_a_page_shows_strange_text_as_text(hostile: Land, admin: Browser, path: str) -> None:
    if path == "/":  # it shows the latest ones
        _happened(hostile)
    answer = admin.get(path)
    assert answer.status_code < 500
    check(answer.text, *PAGES[path])


def test_a_fragment_shows_strange_text_as_text(admin: Browser) -> None:
    for path in ("/domains", "/domains?after=a", "/approved?sort=name", f"/domains/{quote(NAME)}/pages?view=errors",
                 f"/domains/{quote(NAME)}/items"):  # fmt: skip
        answer = admin.get(path, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        check(f"<table>{answer.text}</table>" if answer.text.lstrip().startswith("<tr") else answer.text)


def test_a_member_with_a_strange_name_can_be_managed(hostile: Land, admin: Browser) -> None:
    tree = LexborHTMLParser(admin.get("/members").text)
    actions = [str(form.attributes["action"]) for form in tree.css("form") if "role" in str(form.attributes["action"])]
    assert len(actions) == 4  # everybody's but one's own
    for action in actions:
        assert admin.send(action, role="viewer").status_code == 303, action


def test_the_live_stream_shows_strange_text_as_text(hostile: Land) -> None:
    publisher = hostile.site.publisher
    topics = ("tiles", f"domain:{NAME}")
    watching = Stream(topics, Session(1, hostile.member("admin"), b""))
    publisher._streams.add(watching)
    try:
        events = publisher._tick()
    finally:
        publisher._streams.discard(watching)
    assert set(events) == set(topics)
    for topic, event in events.items():
        name, *lines, last, end = event.decode().split("\n")
        assert (name, last, end) == (f"event: {topic}", "", "")
        assert all(line.startswith("data: ") for line in lines)
        assert not re.search(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]", event.decode())
        check("\n".join(line.removeprefix("data: ") for line in lines), TEXT)


def test_no_line_of_a_fragment_becomes_a_field_of_the_stream() -> None:
    event = _event("tiles", "<p>a\r\nevent: over\rdata: x\n\nid: 1\u2028retry: 1\x85y</p>").decode()
    assert [line.split(":")[0] for line in event.split("\n") if line] == ["event", *["data"] * 6]


def test_forms_that_come_back_show_strange_text_as_text(hostile: Land) -> None:
    admin, stranger = hostile.browser("admin"), hostile.browser()
    for text in EVIL:
        kept = "".join(c for c in text if c.isprintable() or c in "\n\t").strip()
        check(admin.send("/submit", url=text, context=text, depth=text).text, kept)
        check(admin.send("/members", name=text, role=text).text)
        check(admin.send("/members", name=f"x {text}", role="viewer").text)
        check(admin.send(f"/domains/{quote(NAME)}/do/{quote(text.replace('/', ''))}", version=text).text)
        check(
            admin.send(
                f"/domains/{quote(NAME)}/configuration", version=hostile.version(NAME), max_crawl_depth=text
            ).text
        )
        check(stranger.send("/login", name=text, password=text, next=text).text, kept.lower())


def test_what_is_said_after_a_deed_is_text(hostile: Land) -> None:
    admin = hostile.browser("admin")
    answer = admin.send(f"/domains/{quote(NAME)}/do/note", version=hostile.version(NAME), reason=TEXT, next="/account")
    assert answer.status_code == 303
    check(admin.get("/account").text, "The note is added.", NAME)


NOTES: tuple[object, ...] = (
    {"says": TEXT, "domain": TEXT, "bad": TEXT}, {"says": "x"}, {"says": "x", "domain": {"a": 1}}, {"says": "\ud800"},
    {"says": "x", "domain": "\ud800\n//evil.example"}, {"says": 1}, [], "x", 1, None, {"domain": "x"},
)  # fmt: skip


@pytest.mark.parametrize("note", [*(quote(json.dumps(note)) for note in NOTES), "%", "[" * 3000, "nonsense", "%ff%00"])
def test_a_planted_note_harms_no_page(hostile: Land, note: str) -> None:
    browser = hostile.browser("viewer")
    browser.cookies.set(_NOTE, note, domain=HOST)
    answer = browser.get("/mine")
    assert answer.status_code == 200
    check(answer.text)
    assert _NOTE not in browser.cookies


def naughty() -> Iterator[str]:
    path = suite_path("hostile/naughty_strings.jsonl")
    return (case["s"] for case in json_lines(path)) if path is not None else iter(())


if suite_path("hostile/naughty_strings.jsonl") is not None:

    def test_naughty_strings_are_kept_and_shown_as_text(hostile: Land) -> None:
        admin = hostile.browser("admin")
        domain = hostile.version(NAME)
        for text in naughty():
            answer = admin.send(f"/domains/{quote(NAME)}/do/note", version=domain, reason=text)
            assert answer.status_code in (303, 400), text
            domain += answer.status_code == 303
        for path in (f"/domains/{quote(NAME)}", "/"):
            check(admin.get(path).text)
        for text in list(naughty())[::7]:
            assert admin.get("/domains", params={"q": text}).status_code in (200, 400, 404), text
            assert admin.send("/submit", url=text, context=text, depth="1").status_code < 500, text
