"""Traps and scope: endless sites end and are still found, ordinary sites lose nothing, and each refusal has a name."""

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from hashlib import blake2b, sha1
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.base.errors import UsageError
from bailiwick.base.sections import TrapsSettings
from bailiwick.crawl.html import parse_page
from bailiwick.crawl.traps.guard import STATE_BYTES, TrapGuard
from bailiwick.crawl.traps.memory import MAX_FAMILIES, Memory, Tallies
from bailiwick.crawl.traps.patterns import MAX_PATTERN_CHARS, MAX_PATTERNS, LinkRules
from bailiwick.crawl.traps.rules import Refusal
from bailiwick.demo.web.answers import Page, Request
from bailiwick.demo.web.sites import Site, Web
from bailiwick.demo.web.traps import (
    CalendarSite,
    EndlessSite,
    FacetSite,
    MirrorSite,
    RepetitionSite,
    SessionSite,
)
from bailiwick.model.urls import LinkJoiner

TODAY = date(2026, 11, 16)
Graph = dict[str, list[str]]

TRAPS: dict[str, tuple[Callable[[], EndlessSite], set[Refusal]]] = {
    "calendar": (lambda: CalendarSite("trap.test", TODAY), {Refusal.CALENDAR}),
    "facets": (lambda: FacetSite("trap.test"), {Refusal.FACETS}),
    "session in the query": (lambda: SessionSite("trap.test"), {Refusal.SESSION_ID}),
    "session in the path": (lambda: SessionSite("trap.test", "path"), {Refusal.SESSION_ID}),
    "session in a segment": (lambda: SessionSite("trap.test", "segment"), {Refusal.SESSION_ID}),
    "mirror": (lambda: MirrorSite("trap.test"), {Refusal.MIRROR, Refusal.PATH_REPETITION}),
    "mirrors": (
        lambda: MirrorSite("trap.test", ("mirror", "copy", "old")),
        {Refusal.MIRROR, Refusal.PATH_REPETITION},
    ),
    "repetition": (lambda: RepetitionSite("trap.test"), {Refusal.PATH_REPETITION, Refusal.MIRROR}),
}
each_trap = pytest.mark.parametrize("name", TRAPS)


# A crawler of one site, breadth first, without HTTP


@dataclass
class Crawled:
    fetched: list[str] = field(default_factory=list)
    refused: Counter[Refusal] = field(default_factory=Counter)


def crawl(
    site: Site,
    guard: TrapGuard | None,
    *,
    at_most: int = 20_000,
    forget_every: int = 0,
    save_every: int = 0,
) -> Crawled:
    """Every page that waits is fetched. `forget_every` and `save_every` so many pages the filter of links in front is
    emptied, and the guard goes through JSON."""
    crawled, joiner = Crawled(), LinkJoiner()
    known, seen, waiting = {"/"}, set[str](), deque([("/", 0)])
    while waiting and len(crawled.fetched) < at_most:
        path, depth = waiting.popleft()
        answer = site.answer(Request(site.host, path))
        if answer.status != 200:
            continue
        crawled.fetched.append(path)
        parsed = parse_page(answer.payload(), answer.content_type, site.host)
        if guard is not None:
            guard.learned(path, parsed.text_hash, is_new_content=True)
        for domain, link in joiner.page_urls(f"http://{site.host}{path}", parsed.hrefs):
            if domain != site.host or link in seen:
                continue
            rule = None if guard is None else guard.refuses(link, depth + 1, path)
            if rule is not None:
                crawled.refused[rule] += 1
                continue
            seen.add(link)
            if link not in known:
                known.add(link)
                waiting.append((link, depth + 1))
        if forget_every and len(crawled.fetched) % forget_every == 0:
            seen.clear()
        if guard is not None and save_every and len(crawled.fetched) % save_every == 0:
            guard = reloaded(guard)
    return crawled


def reloaded(guard: TrapGuard) -> TrapGuard:
    return TrapGuard.from_json(json.loads(json.dumps(guard.to_json())), TODAY)


def real_pages_missing(site: EndlessSite, crawled: Crawled) -> set[str]:
    return site.real_pages() - {site.real_page(path) for path in crawled.fetched}


# Traps


@each_trap
def test_a_trap_ends_and_all_real_pages_are_found(name: str) -> None:
    make, rules = TRAPS[name]
    site, guard = make(), TrapGuard(TODAY)
    crawled = crawl(site, guard)
    assert len(crawled.fetched) < 300
    assert not real_pages_missing(site, crawled)
    assert set(crawled.refused) <= rules


@each_trap
def test_without_a_guard_it_is_a_trap_indeed(name: str) -> None:
    assert len(crawl(TRAPS[name][0](), None, at_most=1_000).fetched) == 1_000


@each_trap
def test_a_guard_that_is_saved_and_loaded_goes_on_as_if_nothing_was(name: str) -> None:
    plain = crawl(TRAPS[name][0](), TrapGuard(TODAY))
    saved = crawl(TRAPS[name][0](), TrapGuard(TODAY), save_every=7)
    assert saved == plain


@each_trap
def test_links_that_are_asked_about_again_open_no_trap(name: str) -> None:
    site = TRAPS[name][0]()
    crawled = crawl(site, TrapGuard(TODAY), forget_every=20)
    assert len(crawled.fetched) < 300
    assert not real_pages_missing(site, crawled)


@each_trap
def test_all_real_pages_of_a_trap_are_there(name: str) -> None:
    site = TRAPS[name][0]()
    for path in site.real_pages():
        assert site.real_page(path) == path
        assert site.answer(Request(site.host, path)).status == 200
    assert site.answer(Request(site.host, "/nothing/here.txt")).status == 404
    with pytest.raises(ValueError, match="no end"):
        site.reachable()


@pytest.mark.parametrize(
    "written",
    [
        "/calendar/{y}/{m:02}/",
        "/cal.php?m={m}&y={y}",
        "/cal.php?view=list&year={y}&month={m}",
        "/events/{y}{m:02}",
        "/events/month/{y}-{m:02}/",
        "/kalender-{y}-{m:02}.html",
        "/calendar/{y}-{m:02}?view=month",
        "/agenda?date={y}-{m:02}-01&lang=en",
    ],
)
def test_a_calendar_is_known_however_it_writes_its_dates(written: str) -> None:
    guard, now = TrapGuard(TODAY), TODAY.year * 12 + 10
    chain = [written.format(y=month // 12, m=month % 12 + 1) for month in range(now, now + 1_000)]
    guard.refuses(chain[0], 1, "/")
    admitted = 1
    while guard.refuses(chain[admitted], admitted + 1, chain[admitted - 1]) is None:
        guard.learned(chain[admitted], admitted, is_new_content=True)
        admitted += 1
    assert admitted <= TrapsSettings().calendar_pages + 1
    assert guard.refuses(chain[admitted], admitted + 1, chain[admitted - 1]) is Refusal.CALENDAR


# Ordinary sites


def site_of(graph: Graph) -> Site:
    site = Site("ordinary.test")
    for number, (path, links) in enumerate(graph.items()):
        anchors = "".join(f'<a href="{link.replace("&", "&amp;")}">on</a>' for link in links)
        site.add(Page(path, f"<!doctype html><title>{number}</title><p>What {number} is about.</p>{anchors}"))
    return site


def paginated_list() -> Graph:
    graph: Graph = {"/": ["/list?page=1"]}
    for page in range(1, 201):
        items = [f"/item/{page * 10 + n}" for n in range(10)]
        graph[f"/list?page={page}"] = [*items, *([f"/list?page={page + 1}"] if page < 200 else [])]
        graph |= {item: ["/", f"/list?page={page}"] for item in items}
    return graph


def shop() -> Graph:
    graph: Graph = {"/": [f"/category/{n}" for n in range(20)]}
    graph |= {f"/category/{n}": [f"/product/{n * 100 + k}" for k in range(30)] for n in range(20)}
    for n in range(2_000):
        alike = [f"/product/{(n * k + 7 * k) % 2_000}" for k in range(1, 9)]
        graph[f"/product/{n}"] = ["/", f"/category/{n // 100}", f"/product/{(n + 1) % 2_000}", *alike]
    return graph


def _days() -> list[date]:
    return [date(2015, 1, 1) + timedelta(n) for n in range(3_653)]


def _story(day: date) -> str:
    return f"/{day:%Y/%m/%d}/story-{day.toordinal() % 977}-of-the-day"


def archive_as_a_tree() -> Graph:
    """Years lead to months, these to days, these to stories; nothing else leads anywhere."""
    graph: Graph = {"/": [f"/{year}/" for year in range(2015, 2025)]}
    for day in _days():
        graph.setdefault(f"/{day:%Y}/", []).append(f"/{day:%Y/%m}/")
        graph.setdefault(f"/{day:%Y/%m}/", []).append(f"/{day:%Y/%m/%d}/")
        graph |= {f"/{day:%Y/%m/%d}/": [_story(day)], _story(day): ["/", f"/{day:%Y/%m}/"]}
    return graph


def archive_with_a_sidebar() -> Graph:
    """Every month is linked from every month."""
    months = list(dict.fromkeys(f"/{day:%Y/%m}/" for day in _days()))
    graph: Graph = {"/": months, **{month: list(months) for month in months}}
    for day in _days():
        graph[f"/{day:%Y/%m}/"].append(_story(day))
        graph[_story(day)] = ["/", f"/{day:%Y/%m}/"]
    return graph


def archive_as_a_chain() -> Graph:
    """Each month leads to the one before and to its days, and only these to stories: ten years back, link by link."""
    graph: Graph = {"/": ["/2024/12/"]}
    for day in _days():
        before = (day.replace(day=1) - timedelta(1)).strftime("/%Y/%m/")
        graph.setdefault(f"/{day:%Y/%m}/", [before] if day.year > 2015 or day.month > 1 else [])
        graph[f"/{day:%Y/%m}/"].append(f"/{day:%Y/%m/%d}/")
        graph |= {f"/{day:%Y/%m/%d}/": [_story(day)], _story(day): ["/"]}
    return graph


def archive_by_parameter() -> Graph:
    graph: Graph = {"/": ["/archive?month=2024-12"]}
    for day in _days():
        before = (day.replace(day=1) - timedelta(1)).strftime("/archive?month=%Y-%m")
        month = graph.setdefault(f"/archive?month={day:%Y-%m}", [before] if day.year > 2015 or day.month > 1 else [])
        month.append(_story(day))
        graph[_story(day)] = ["/"]
    return graph


def documentation() -> Graph:
    """As postgresql-doc: all pages in one folder, each with next, previous and some others."""
    sections = ("sql", "app", "functions", "catalog", "view", "libpq", "spi", "ecpg", "runtime-config", "infoschema")
    words = ("select", "insert", "create-table", "alter", "json", "window", "index", "plan", "wal", "lock", "role")
    names = [f"/{a}-{b}{c}.html" for a in sections for b in words for c in ("", "-syntax", "-examples")]
    graph: Graph = {"/": ["/index.html"], "/index.html": names[:40]}
    for n, name in enumerate(names):
        others = [names[(n * k + k) % len(names)] for k in range(2, 9)]
        graph[name] = ["/index.html", names[(n + 1) % len(names)], names[n - 1], *others]
    return graph


def forum() -> Graph:
    """20 forums of 60 topics of up to four pages."""
    graph: Graph = {"/": [f"/viewforum.php?f={f}" for f in range(20)]}
    for f in range(20):
        pages = [f"/viewforum.php?f={f}{f'&start={at}' if at else ''}" for at in (0, 20, 40)]
        for n, page in enumerate(pages):
            graph[page] = [*pages, *(f"/viewtopic.php?f={f}&t={f * 1000 + n * 20 + t}" for t in range(20))]
        for t in range(f * 1000, f * 1000 + 60):
            turns = [f"/viewtopic.php?f={f}&t={t}{f'&start={15 * n}' if n else ''}" for n in range(1 + t % 4)]
            graph |= {turn: [pages[0], *turns] for turn in turns}
    return graph


def _hex(n: int, length: int) -> str:
    return sha1(str(n).encode()).hexdigest()[:length]


def repository() -> Graph:
    """1,500 commits, each with its tree and its patch, by 40 hexadecimal digits."""
    graph: Graph = {"/": ["/log"]}
    logs = ["/log", *(f"/log?ofs={50 * n}" for n in range(1, 30))]
    for n, log in enumerate(logs):
        graph[log] = [*logs[n + 1 : n + 2], *(f"/commit/{_hex(c, 40)}" for c in range(n * 50, n * 50 + 50))]
    for c in range(1_500):
        pages = [f"/commit/{_hex(c, 40)}", f"/tree/{_hex(-c, 40)}", f"/patch/{_hex(c, 40)}"]
        graph |= {pages[0]: [*pages[1:], f"/commit/{_hex(min(c + 1, 1_499), 40)}"], pages[1]: ["/"], pages[2]: ["/"]}
    return graph


def stories_by_sid() -> Graph:
    """`sid` is the id of a story here, 24 hexadecimal digits long, and some stories have three pages."""
    graph: Graph = {"/": [f"/section/{n}" for n in range(10)]}
    for n in range(10):
        graph[f"/section/{n}"] = [f"/article?sid={_hex(s, 24)}" for s in range(n * 100, n * 100 + 100)]
    for s in range(1_000):
        pages = [f"/article?sid={_hex(s, 24)}{f'&page={p}' if p > 1 else ''}" for p in (1, 2, 3)]
        graph[pages[0]] = [*pages[1:], *(f"/article?sid={_hex((s * 7 + k) % 1_000, 24)}" for k in range(6))]
        graph |= {page: ["/"] for page in pages[1:]}
    return graph


def wiki() -> Graph:
    def title(n: int) -> str:
        return f"/index.php?title=New+York,+part+{n % 30}+of+{n // 30}"

    graph: Graph = {"/": [title(0), title(1)]}
    graph |= {title(n): [title((2 * n + k) % 1_200) for k in (1, 2)] for n in range(1_200)}
    return graph


def sections_by_year() -> Graph:
    """Every combination of two parameters is a list of stories that are found nowhere else."""
    sections = ("news", "sport", "culture", "local", "letters", "business", "weather")
    graph: Graph = {"/": ["/search"], "/search": [f"/search?year={year}" for year in range(2010, 2025)]}
    for year in range(2010, 2025):
        graph[f"/search?year={year}"] = [f"/search?year={year}&section={section}" for section in sections]
        for section in sections:
            stories = [f"/{section}/story-{year}-{n}.html" for n in range(10)]
            graph |= {f"/search?year={year}&section={section}": stories, **{story: ["/"] for story in stories}}
    return graph


def source_tree() -> Graph:
    """Folders that have a name twice, and many of them."""
    graph: Graph = {"/": []}
    for package in ("com/foo/foo/core", "org/commons/commons/io", "src/main/src/util", "a/b/a/b"):
        pages = [f"/api/{package}/part-{n}/C{n}.html" for n in range(300)]
        graph["/"].append(f"/api/{package}/")
        graph |= {f"/api/{package}/": pages, **{page: ["/", pages[n - 1]] for n, page in enumerate(pages)}}
    return graph


ORDINARY = (
    paginated_list, shop, archive_as_a_tree, archive_with_a_sidebar, archive_as_a_chain, archive_by_parameter,
    documentation, forum, repository, stories_by_sid, wiki, sections_by_year, source_tree,
)  # fmt: skip


@pytest.mark.parametrize("make", ORDINARY, ids=lambda make: make.__name__)
def test_nothing_is_refused_on_an_ordinary_site(make: Callable[[], Graph]) -> None:
    graph, guard = make(), TrapGuard(TODAY)
    crawled = crawl(site_of(graph), guard, forget_every=500, save_every=400)
    assert not crawled.refused
    assert set(crawled.fetched) == set(graph)


@pytest.mark.parametrize("noise", [True, False])
def test_nothing_is_refused_on_a_generated_site(noise: bool) -> None:
    site = Web.generate(3, hosts=["plain.test"], pages_per_host=3_000, links_per_page=20, noise=noise)["plain.test"]
    crawled = crawl(site, TrapGuard(TODAY))
    assert not crawled.refused
    assert set(crawled.fetched) == site.reachable()


# Single rules


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/a/a/a", Refusal.PATH_REPETITION),
        ("/a/b/a/b/a/b/", Refusal.PATH_REPETITION),
        ("/x/a/b/c/a/b/c/a/b/c/y.html", Refusal.PATH_REPETITION),
        ("/a/x/a/y/a/z/a", Refusal.PATH_REPETITION),
        ("/a/a", None),
        ("/a/b/a/b", None),
        ("/11/11/11/11/", None),
        ("/2011/11/11/11-11", None),
        ("/calc?x=/a/a/a/a/a", None),
        ("/" + "/".join(f"s{n}" for n in range(20)), None),
        ("/" + "/".join(f"s{n}" for n in range(20)) + "/", None),
        ("/" + "/".join(f"s{n}" for n in range(21)), Refusal.TOO_MANY_SEGMENTS),
        ("/" + "x" * 999, None),
        ("/" + "x" * 1_000, Refusal.TOO_LONG),
        ("/a?b=" + "x" * 1_000, Refusal.TOO_LONG),
    ],
)
def test_the_shape_of_a_path(path: str, rule: Refusal | None) -> None:
    guard = TrapGuard(TODAY)
    assert guard.refuses(path, 1, "/") is rule


def test_a_path_with_a_name_twice_is_refused_once_those_bring_nothing() -> None:
    guard = TrapGuard(TODAY)
    for n in range(8):
        assert guard.refuses(f"/a/x{n}/a/", 2, "/") is None
        guard.learned(f"/a/x{n}/a/", 1, is_new_content=True)
    assert guard.refuses("/a/x8/a/", 2, "/") is None  # the first of these texts was new
    guard.learned("/a/x8/a/", 1, is_new_content=True)
    assert guard.refuses("/a/x9/a/", 2, "/") is Refusal.PATH_REPETITION
    guard.learned("/a/other/a/", 2, is_new_content=True)
    assert guard.refuses("/a/x9/a/", 2, "/") is None


def test_a_family_of_known_texts_is_cut_off_and_opened_by_a_new_one() -> None:
    guard, run = TrapGuard(TODAY), TrapsSettings().duplicate_run
    for n in range(run + 1):
        assert guard.refuses(f"/n/{n}", 3, f"/n/{n - 1}") is None
        guard.learned(f"/n/{n}", 77, is_new_content=True)
    assert guard.refuses("/n/1000", 3, "/n/1") is Refusal.DUPLICATE_FAMILY
    assert guard.refuses("/n/word", 3, "/n/1") is None
    assert reloaded(guard).refuses("/n/1000", 3, "/n/1") is Refusal.DUPLICATE_FAMILY
    guard.learned("/n/7777", 78, is_new_content=True)
    assert guard.refuses("/n/1000", 3, "/n/1") is None


def test_pages_that_did_not_change_speak_against_nothing() -> None:
    guard = TrapGuard(TODAY)
    for _ in range(10):
        for n in range(100):
            guard.learned(f"/n/{n}", n, is_new_content=False)
            guard.learned(f"/m/{n}", 1_000 + n, is_new_content=True)
    assert guard.refuses("/n/1000", 3, "/n/1") is None
    assert guard.refuses("/m/1000", 3, "/m/1") is None


def test_a_folder_that_only_finds_itself_has_a_budget_that_grows_with_new_texts() -> None:
    settings = TrapsSettings(family_pages=100, family_growth=10)
    guard = TrapGuard(TODAY, settings)
    rules = Counter(guard.refuses(f"/n/{n}", 5, f"/n/{n - 1}") for n in range(500))
    assert rules == {None: 100, Refusal.FAMILY_BUDGET: 400}
    assert guard.refuses("/n/99", 5, "/n/98") is None  # it was admitted before
    assert guard.refuses("/n/501", 5, "/list") is None  # another page knows it
    guard.learned("/n/1", 1, is_new_content=True)
    assert sum(guard.refuses(f"/n/{n}", 5, "/n/1") is None for n in range(600, 700)) == 10


def test_a_page_is_admitted_with_one_token_and_again_only_to_see() -> None:
    guard = TrapGuard(TODAY)
    tokens = [blake2b(str(n).encode(), digest_size=16).hexdigest() for n in range(1_000)]
    first = [guard.refuses(f"/p{n}?sid={tokens[n]}", 2, "/x") for n in range(100)]
    again = [guard.refuses(f"/p{n}?sid={tokens[100 + n]}", 2, "/x") for n in range(100)]
    assert not any(first)
    assert again.count(None) == TrapsSettings().session_probes
    assert guard.refuses(f"/p5?sid={tokens[5]}", 2, "/x") is None


@pytest.mark.parametrize(
    "written",
    ["/p{n};jsessionid={t}", "/p{n}?PHPSESSID={t}", "/(S({t}))/p{n}", "/p{n}?CFID={i}&CFTOKEN={i}", "/s/{t}/p{n}"],
)
def test_tokens_are_known_by_name_or_looks(written: str) -> None:
    guard, rules = TrapGuard(TODAY), Counter[Refusal | None]()
    for visit in range(20):
        for n in range(50):
            token = blake2b(f"{visit} {n}".encode(), digest_size=12).hexdigest()
            path = written.format(n=n, t=token, i=visit * 1_000 + n)
            rule = guard.refuses(path, 2, "/x")
            rules[rule] += 1
            if rule is None:
                guard.learned(path, n, is_new_content=True)
    assert rules[Refusal.SESSION_ID] >= 18 * 50


def test_a_mirror_loses_copies_and_not_what_it_has_of_its_own() -> None:
    guard = TrapGuard(TODAY)
    for n in range(10):
        guard.learned(f"/doc/p{n}", n, is_new_content=True)
    for n in range(6):
        guard.learned(f"/mirror/doc/p{n}", n, is_new_content=True)
    assert guard.refuses("/mirror/doc/p9", 3, "/") is Refusal.MIRROR
    assert guard.refuses("/mirror/mirror/doc/p9", 3, "/") is Refusal.MIRROR
    assert guard.refuses("/mirror/doc/only-here", 3, "/") is None
    assert reloaded(guard).refuses("/mirror/doc/p9", 3, "/") is Refusal.MIRROR


def test_versions_of_a_handbook_are_no_mirrors() -> None:
    guard = TrapGuard(TODAY)
    for n in range(40):
        guard.learned(f"/docs/14/p{n}", n, is_new_content=True)
    for n in range(40):
        guard.learned(f"/docs/15/p{n}", n if n % 2 else 1_000 + n, is_new_content=True)
        assert guard.refuses(f"/docs/15/p{n + 1}", 3, f"/docs/15/p{n}") is None


def test_another_order_of_the_same_parameters_is_refused() -> None:
    guard = TrapGuard(TODAY)
    assert guard.refuses("/list?a=1&b=2", 3, "/x") is None
    assert guard.refuses("/list?b=2&a=1", 3, "/x") is Refusal.FACETS
    assert guard.refuses("/list?a=1&b=2", 3, "/x") is None


def test_lists_of_values_are_combinations() -> None:
    guard, colours = TrapGuard(TODAY), [f"c{n}" for n in range(40)]
    pairs = [f"/list?colour={a},{b}" for a in colours for b in colours if a != b]
    admitted = sum(guard.refuses(pair, 3, "/list") is None for pair in pairs)
    assert admitted < 100


# State


def test_the_state_stays_small_whatever_comes() -> None:
    guard = TrapGuard(TODAY)
    for n, (path, found_on) in enumerate(_hostile_links(6_000)):
        guard.refuses(path, n % 9, found_on)
        guard.learned(path, n % 2_500, is_new_content=n % 5 > 0)
    assert len(json.dumps(guard.to_json())) <= STATE_BYTES
    assert json.dumps(reloaded(guard).to_json()) == json.dumps(guard.to_json())


def test_the_largest_state_there_can_be_is_small_enough() -> None:
    guard, dice = TrapGuard(TODAY), Random(1)
    guard._memory._now, guard._memory._old = (bytearray(dice.randbytes(8_192)) for _ in range(2))
    for _ in range(MAX_FAMILIES):
        tally = guard._tallies.at(dice.getrandbits(32))
        tally.found, tally.new, tally.dup, tally.run = (dice.getrandbits(16) for _ in range(4))
    for n in range(96):
        guard._mirrors.learn(f"/{n:0>71}", (1 << 48) - 1 - n)
    for n in range(16):
        for k in range(5):
            guard._mirrors._claim(f"/{n:0>70}/{k}", f"/{k}", (1 << 48) - 1 - k)
    guard._families.read_json([(1 << 32) - 1 - n for n in range(256)])
    assert 50_000 < len(json.dumps(guard.to_json())) <= STATE_BYTES
    assert reloaded(guard).to_json() == guard.to_json()


def _hostile_links(count: int) -> Iterator[tuple[str, str]]:
    """No two of a family, and each with something that is worth remembering."""
    for n in range(count):
        word = blake2b(str(n).encode(), digest_size=30).hexdigest()
        letters = word.translate(str.maketrans("0123456789", "ghijklmnop"))
        yield f"/{letters[:9]}/{letters[9:24]}/x{letters[24:33]}", f"/{letters[:9]}/"
        yield f"/{letters[:20]}?{letters[:5]}={n}&{letters[5:9]}=b&c={letters}", f"/{letters[:20]}"
        yield f"/mirror-{letters[:12]}/{letters[12:24]}/{n % 2_500}", "/"
        yield f"/{letters[:8]}/{2000 + n % 30}/{n % 12 + 1:02}/", f"/{letters[:8]}/2001/01/"
        yield f"/{letters[:8]}/{word}/page", f"/{letters[:8]}/"


def test_tallies_forget_what_counted_least() -> None:
    tallies = Tallies()
    tallies.at(1).credit()
    for key in range(2, MAX_FAMILIES + 2):
        tallies.at(key)
    assert tallies.get(1) is not None
    assert len(tallies) <= MAX_FAMILIES


def test_a_memory_keeps_what_came_last() -> None:
    memory = Memory()
    assert all(memory.add(key * 7_919) for key in range(100))
    for key in range(1_000, 20_000):
        memory.add(key)
    assert all(memory.has(key) for key in range(16_001, 20_000))
    assert sum(memory.has(key * 7_919 + (1 << 33)) for key in range(10_000)) < 100


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"version": 99},
        {"version": 1},
        {"version": 1, "memory": "???", "tallies": "", "mirrors": [], "closed": []},
        {"memory": 5},
        {"refused": {"no such rule": 1}},
        {"refused": {"calendar": None}},
        {"tallies": "eJwD"},
        {"mirrors": [0, [[1]], []]},
        {"mirrors": {"a": 1}},
        {"closed": ["x"]},
    ],
)
def test_a_state_that_cannot_be_read_is_forgotten(state: dict[str, object]) -> None:
    guard = TrapGuard(TODAY)
    guard.refuses("/a/a/a", 2, "/")
    broken = state if "version" in state or not state else {**guard.to_json(), **state}
    assert TrapGuard.from_json(broken, TODAY).to_json() == TrapGuard(TODAY).to_json()


_segments = st.one_of(
    st.sampled_from(
        ["a", "b", "mirror", "2026", "11", "5", "calendar", "caf%C3%A9", "", "x;jsessionid=1A2B", "(S(x1))"]
    ),
    st.integers(0, 10**9).map(str),
    st.binary(min_size=16, max_size=16).map(bytes.hex),
    st.text(max_size=12),
)
_queries = st.lists(
    st.tuples(
        st.sampled_from(["sid", "page", "month", "year", "a", "b", "sort", ""]),
        st.one_of(
            st.sampled_from(["2026-11", "1", "red,blue", "", "2026", "²"]), st.integers(0, 99).map(str), _segments
        ),
    ).map("=".join),
    max_size=4,
).map("&".join)
_paths = st.builds(
    lambda names, query: f"/{'/'.join(names)}{f'?{query}' if query else ''}", st.lists(_segments, max_size=8), _queries
)
_steps = st.lists(
    st.tuples(_paths, st.integers(0, 5), _paths, st.one_of(st.none(), st.integers(0, 6)), st.booleans()), max_size=60
)


@given(_steps)
def test_any_paths_get_the_same_answers_each_time_and_after_json(
    steps: list[tuple[str, int, str, int | None, bool]],
) -> None:
    first, second, saved = (TrapGuard(TODAY) for _ in range(3))
    for path, depth, found_on, text_hash, is_new in steps:
        answers = [guard.refuses(path, depth, found_on) for guard in (first, second, saved)]
        assert answers[0] is answers[1] is answers[2]
        for guard in (first, second, saved):
            guard.learned(found_on, text_hash, is_new_content=is_new)
        saved = reloaded(saved)
    assert json.dumps(first.to_json()) == json.dumps(saved.to_json())
    assert len(json.dumps(first.to_json())) <= STATE_BYTES


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_at_all_is_judged(path: str, found_on: str) -> None:
    guard = TrapGuard(TODAY)
    assert guard.refuses(path, 2, found_on) in {None, *Refusal}
    guard.learned(path, -1, is_new_content=True)


# Include and exclude


@pytest.mark.parametrize(
    ("pattern", "matched", "passed"),
    [
        ("/docs/", ["/docs/", "/docs/a", "/docs/?x"], ["/docs", "/x/docs/", "/docsy/"]),
        ("/docs", ["/docs", "/docs?x=1", "/docs/a"], ["/docsy", "/a/docs"]),
        ("/", ["/", "/a"], []),
        ("/**", ["/", "/a/b?c=/d"], []),
        ("/blog/*/draft", ["/blog/x/draft", "/blog/x/draft/1"], ["/blog/x/y/draft", "/blog/x/drafts"]),
        ("/a/**/b", ["/a/b", "/a/x/b", "/a/x/y/b?c"], ["/a/xb", "/ab", "/a/bc"]),
        ("/**/a*b", ["/ab", "/x/aXb", "/a/ab"], ["/x/a/b"]),
        ("/*a*a*b", ["/xaxaxb", "/aab"], ["/xaxb", "/a/ab"]),
        ("/v?/", ["/v1/", "/v1/x"], ["/v/", "/v12/"]),
        ("/list?page=*", ["/list?page=3", "/list?page=3&x"], ["/list"]),
        ("print=", ["/a?print=1", "/print=/"], ["/a", "/print"]),
        ("*.pdf", ["/a/b.pdf", "/.pdf?x"], ["/a/pdf"]),
        ("**/x/**", ["/a/x/b"], ["/ax/b"]),
        ("/café/", ["/caf%C3%A9/x"], ["/cafe/x"]),
        ("/a.b", ["/a.b"], ["/axb"]),
        (r"re:^/20\d\d/", ["/2019/x"], ["/a/2019/"]),
        ("re:[?&](sort|dir)=", ["/a?sort=1", "/a?b=1&dir=2"], ["/sort=1"]),
        (r"re:/[^/]+-\d+\.html$", ["/a/b-1.html"], ["/a/b-1.html?c"]),
    ],
)
def test_patterns(pattern: str, matched: list[str], passed: list[str]) -> None:
    exclude, include = LinkRules(exclude=[pattern]), LinkRules(include=[pattern])
    for path in matched:
        assert exclude.refuses(path) is Refusal.EXCLUDED, path
        assert include.refuses(path) is None, path
    for path in passed:
        assert exclude.refuses(path) is None, path
        assert include.refuses(path) is Refusal.NOT_INCLUDED, path


def test_what_is_excluded_is_excluded() -> None:
    rules = LinkRules(include=["/docs/", "/news/"], exclude=["/docs/old/", "print="])
    assert rules.refuses("/docs/new/") is None
    assert rules.refuses("/news/1") is None
    assert rules.refuses("/docs/old/1") is Refusal.EXCLUDED
    assert rules.refuses("/about?print=1") is Refusal.EXCLUDED
    assert rules.refuses("/about") is Refusal.NOT_INCLUDED
    assert LinkRules().refuses("/anything") is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        " ",
        "re:",
        "re:(",
        "re:[[a]",
        "re:a{1,2}{3}",
        "x" * (MAX_PATTERN_CHARS + 1),
        "re:(a+)+$",
        "re:((a*))*",
        "re:(a|a)*b",
        "re:(?:a?){30}",
        "re:(a+)(?#x)+",
        "re:(?x)(a+) +",
        "re:.*a.*b.*c.*d",
        r"re:(a)\1",
        "re:(?P<x>a)(?P=x)",
        "re:" + "(a|b)" * 12,
        "re:" + "a?" * 12,
    ],
)
def test_bad_patterns_are_refused_with_a_hint(pattern: str) -> None:
    with pytest.raises(UsageError) as refused:
        LinkRules(exclude=[pattern])
    assert refused.value.hint


def test_too_many_patterns_are_refused() -> None:
    LinkRules(include=["/a"] * MAX_PATTERNS)
    with pytest.raises(UsageError):
        LinkRules(include=["/a"] * MAX_PATTERNS, exclude=["/b"])


@pytest.mark.parametrize(
    "pattern",
    [
        "/" + "*a" * 40 + "*b",
        "/" + "**a" * 40 + "**b",
        "*a" * 40 + "*b",
        "**a*a" * 30 + "**b",
        "/**/a/**/a/**/a/**/b",
        "re:.*a.*a.*b",
        "re:a*a*a*b",
        "re:(a|a)(a|a)(a|a)a*a*b",
    ],
)
def test_no_pattern_takes_long(pattern: str) -> None:
    rules = LinkRules(exclude=[pattern])
    started = time.process_time()
    assert rules.refuses("/" + "a" * 1_990) is None
    assert rules.refuses("/" + "a/" * 990) is None
    assert time.process_time() - started < 5


@given(st.text(max_size=40), st.text(max_size=60))
def test_any_pattern_works_or_is_refused(pattern: str, path: str) -> None:
    try:
        rules = LinkRules(exclude=[pattern])
    except UsageError:
        return
    assert rules.refuses(path) in (None, Refusal.EXCLUDED)
