"""Every page that `benchmarks/web.py` asks for: which lists, which filters, in which order, how deep."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from urllib.parse import urlencode

from sqlalchemy import Connection, text

from bailiwick.db.engine import Database
from bailiwick.model.transitions import APPROVAL, CRAWL, STANDING
from bailiwick.registry.listing import Sort
from benchmarks.web_rows import CLEAN, HUGE, SUBMITTER

OFTEN, SOME, FEW = 40, 20, 5
"""How many requests: of a page by itself, of a list with one filter, of each of very many combinations."""
PREFIXES = ("a", "b", "bl", "blog.", "blog.q", "shop.ab", "qq", "abc", "huge", "no-such-domain")
SPARSE = (Sort.YIELD, Sort.LAST_CRAWLED)
Combination = tuple[str, str, str]


@dataclass(frozen=True)
class Page:
    """One page to measure; its paths are asked for in turn."""

    group: str
    label: str
    paths: Sequence[str]
    times: int = OFTEN
    who: str = "admin"


@dataclass(frozen=True)
class Places:
    """Some domains of each combination of states that there is, and how many there are."""

    names: dict[Combination, list[str]]
    counts: dict[Combination, int]

    def matching(self, states: Sequence[str]) -> list[Combination]:
        return [
            found for found in self.names if all(want in ("", has) for want, has in zip(states, found, strict=True))
        ]

    def deep(self, states: Sequence[str], sort: Sort) -> list[str]:
        """Where lists of these go on, if they are longer than a page."""
        found = [one for one in self.matching(states) if not (sort in SPARSE and one[2] == "pending")]
        if sum(self.counts[one] for one in found) < 200:
            return []
        names = [name for one in found for name in self.names[one]]
        return random.Random(len(names)).sample(names, min(SOME, len(names)))


def every_page(database: Database) -> list[Page]:
    with database.bare() as conn:
        pages = [*_single(conn), *_domain_pages(conn), *_lists(_places(conn))]
    return [page for page in pages if page.paths]  # few rows have no deep places


def _single(conn: Connection) -> Iterator[Page]:
    yield Page("/healthz", "/healthz", ["/healthz"])
    for path in ("/", "/account", "/submit", "/metrics", "/live/now?topic=tiles"):
        yield Page(path, path, [path])
    yield Page("/live/now, a domain", "/live/now, a domain", [f"/live/now?topic=domain:{HUGE}"])
    yield Page("/members", "/members", ["/members"])
    yield Page("/members", "/members, deep", ["/members?after=member-2"])
    yield Page("/review", "/review", ["/review"])
    waiting = "select first_seen_at, id from domains where approval = 'pending_review' order by random() limit 20"
    yield Page("/review", "/review, deep", [f"/review?{_after(row)}" for row in conn.execute(text(waiting))])
    yield Page("/mine", "/mine, 50,000", ["/mine"], who="submitter")
    own = "select first_seen_at, id from domains where submitted_by = (select id from members where name = :name) "
    rows = conn.execute(text(own + "order by random() limit 20"), {"name": SUBMITTER})
    yield Page("/mine", "/mine, deep", [f"/mine?{_after(row)}" for row in rows], who="submitter")


def _domain_pages(conn: Connection) -> Iterator[Page]:
    small = conn.execute(text("select name from domains where id % 250 = 0 order by random() limit 20")).scalars().all()
    older = conn.execute(
        text("select id from events where subject_id = 1 order by id offset 2000 limit 1")
    ).scalar_one()
    yield Page("/domains/…", "/domains/…, huge", [f"/domains/{HUGE}"])
    yield Page("/domains/…", "/domains/…, huge, older events", [f"/domains/{HUGE}?before={older}"])
    yield Page("/domains/…", "/domains/…, small", [f"/domains/{name}" for name in small])
    deep = {
        "fetched": "select fetched_at, path_hash from fetch_log where domain_id = :id order by 1 limit 20 offset 1000",
        "waiting": "select priority, depth, path_hash from pages where domain_id = :id and state = 'pending' "
        "order by 1 desc, 2 desc limit 20 offset 1000",
        "refused": "select path_hash from refused_links where domain_id = :id order by 1 desc limit 20 offset 1000",
    }
    deep["errors"] = deep["fetched"].replace("offset 1000", "offset 3000")
    for view, query in deep.items():
        group = f"/domains/…/pages, {view}"
        for name, number in ((HUGE, 1), (CLEAN, 2)):
            path = f"/domains/{name}/pages?view={view}"
            rows = conn.execute(text(query), {"id": number}).all()
            yield Page(group, f"{group}, {name}", [path])
            yield Page(group, f"{group}, {name}, deep", [f"{path}&{_after(row)}" for row in rows])
        yield Page(group, f"{group}, small", [f"/domains/{one}/pages?view={view}" for one in small])
    path = f"/domains/{HUGE}/pages?path=/section-7/a-page-of-7"
    yield Page("/domains/…/pages, one page explained", "/domains/…/pages, one page explained", [path])


def _lists(places: Places) -> Iterator[Page]:
    axes = [("", *machine.states) for machine in (APPROVAL, STANDING, CRAWL)]
    groups = ("/domains, all", "/domains, one axis", "/domains, two axes", "/domains, three axes")
    for states, sort in product(product(*axes), Sort):
        given = sum(1 for state in states if state)
        times = (OFTEN, SOME, FEW, FEW)[given]
        yield from _list(groups[given], states, sort, places.deep(states, sort), times)
    for prefix, sort in product(PREFIXES, Sort):
        yield from _list("/domains, prefix", ("", "", ""), sort, [], SOME, prefix)
        for states in (("rejected", "", ""), ("approved", "", "exhausted"), ("pending_review", "", "exhausted"),
                       ("", "blacklisted", ""), ("", "discovered", "pending")):  # fmt: skip
            yield from _list("/domains, prefix and axes", states, sort, [], FEW, prefix)
    for sort in Sort:
        yield Page("/approved", f"/approved, {sort}", [f"/approved?sort={sort}"])
        names = places.deep(("approved", "", ""), sort)
        yield Page("/approved", f"/approved, {sort}, deep", [f"/approved?{_query(sort=sort, after=n)}" for n in names])


def _list(group: str, states: Combination, sort: Sort, deep: list[str], times: int, prefix: str = "") -> Iterator[Page]:
    asked = dict(zip(("approval", "standing", "crawl"), states, strict=True)) | {"q": prefix, "sort": sort.value}
    label = " ".join(filter(None, ("/domains", *states, prefix and f"{prefix}*", f"by {sort}")))
    yield Page(group, label, [f"/domains?{_query(**asked)}"], times)
    if deep:
        paths = [f"/domains?{_query(**asked, after=name)}" for name in deep]
        yield Page(f"{group}, deep", f"{label}, deep", paths, times)


def _places(conn: Connection) -> Places:
    query = """
        select approval, standing, crawl, name, size from (
            select approval, standing, crawl, name, count(*) over states as size,
                   row_number() over (partition by approval, standing, crawl order by md5(name)) as nth
            from domains window states as (partition by approval, standing, crawl)) as numbered
        where nth <= 20"""
    names: dict[Combination, list[str]] = {}
    counts: dict[Combination, int] = {}
    for approval, standing, crawl, name, size in conn.execute(text(query)):
        names.setdefault((approval, standing, crawl), []).append(name)
        counts[approval, standing, crawl] = size
    return Places(names, counts)


def _after(row: Sequence[object]) -> str:
    return _query(after=",".join(value.isoformat() if hasattr(value, "isoformat") else str(value) for value in row))


def _query(**given: str) -> str:
    return urlencode({name: value for name, value in given.items() if value})
