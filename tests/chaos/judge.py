"""The judge: reads the server's log, the database and the packs afterwards, and counts. It knows what was done to the
workers only where a bound depends on it.

Each check has a name, and `tests/chaos/test_judge.py` shows that each of them can fail.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256

from bailiwick.base.errors import BailiwickError
from bailiwick.demo.web.answers import NOT_PAGES
from bailiwick.demo.web.log import Entry
from bailiwick.ports import BodyRef
from tests.chaos.driver import Account
from tests.chaos.tenures import Overlap, TenureBook
from tests.chaos.web import SITEMAP, Ground
from tests.e2e.pace import Breach, LeaseHistory, gaps, too_close, too_many
from tests.e2e.tools import Land

AT_ONCE = 3
"""Requests that may be open at a host at the same time."""
_SHOWN = 3


@dataclass
class Figures:
    """What was counted."""

    pages_reachable: int = 0
    pages_answered: int = 0
    page_rows: int = 0
    lost: int = 0
    """Reachable, and not stored."""
    doubled_rows: int = 0
    """Written by two flushes of one lease, or logged more often than answered."""
    refetches: int = 0
    refetch_bound: int = 0
    most_at_one_blow: int = 0
    """Pages of one domain that were fetched under one lease and not written."""
    poison: int = 0
    counter_differences: int = 0
    bodies_verified: int = 0
    bodies_wrong: int = 0
    leases: int = 0
    taken_over: int = 0
    let_go: int = 0
    """Leases that their worker gave up unused, because the answer to its claim was lost."""
    lease_overlaps: int = 0
    requests: int = 0
    cut_off: int = 0
    """Requests that ended without an answer because their sender was gone."""
    pace_breaches: int = 0
    smallest_margin_ms: float = 0.0
    """The smallest gap between two requests to a host, less its delay; below zero by less than 1 is rounding."""


@dataclass
class Verdict:
    figures: Figures
    faults: dict[str, list[str]] = field(default_factory=dict)
    """Check -> what it found, the first few."""

    def add(self, check: str, found: Iterable[object]) -> int:
        """Note what a check found; how much?"""
        found = [str(one) for one in found]
        if found:
            self.faults[check] = found[:_SHOWN] + ([f"… {len(found)} in all"] if len(found) > _SHOWN else [])
        return len(found)


@dataclass
class Judge:
    """Installed before the crawl starts, asked when it is over."""

    land: Land
    ground: Ground
    flush_pages: int
    open_domains: int
    """That one worker holds at most."""

    def __post_init__(self) -> None:
        self._tenures = TenureBook(self.land)
        self._history = LeaseHistory(self.land)

    def judge(self, account: Account) -> Verdict:
        verdict = Verdict(Figures())
        self._pages(verdict)
        self._flushes(verdict, account)
        self._books(verdict)
        self._bodies(verdict)
        self._leases(verdict, account)
        self._pace(verdict)
        return verdict

    def _answers(self) -> list[Entry]:
        """Pages that were answered with 200 and to the end; robots.txt and sitemaps are none."""
        aside = NOT_PAGES | {SITEMAP}
        log = self.land.running.log
        return [e for e in log.entries() if e.status == 200 and e.whole and e.path not in aside]

    def _pages(self, verdict: Verdict) -> None:
        figures = verdict.figures
        rows = self.land.rows("""
            select d.name, p.path, p.state, p.last_status, p.last_outcome
            from pages as p join domains as d on d.id = p.domain_id""")
        known = {(_host(row.name), row.path) for row in rows}
        stored = {(_host(row.name), row.path) for row in rows if row.state == "fetched" and row.last_status == 200}
        answered = {(entry.host, entry.path) for entry in self._answers()}
        figures.pages_reachable, figures.pages_answered = len(self.ground.reachable), len(answered)
        figures.page_rows = len(rows)
        figures.lost = verdict.add("a page is lost", sorted(self.ground.reachable - stored))
        verdict.add("a page has no answer", sorted(stored - answered))
        verdict.add("an answer has no page", sorted(answered - known))
        verdict.add("a page that nobody links to", sorted(known - self.ground.reachable))
        condemned = [row for row in rows if row.last_outcome == "poison" or row.state == "failed"]
        figures.poison = verdict.add("a page was condemned", condemned)

    def _flushes(self, verdict: Verdict, account: Account) -> None:
        figures, answers = verdict.figures, self._answers()
        twice = self.land.rows("""
            select d.name, p.path, f.lease_no, count(*) as times from fetch_log as f
            join pages as p using (domain_id, path_hash) join domains as d on d.id = f.domain_id
            where f.outcome = 'ok' group by 1, 2, 3 having count(*) > 1""")
        logged = self.land.rows("""
            select d.name, p.path, count(*) as times from fetch_log as f
            join pages as p using (domain_id, path_hash) join domains as d on d.id = f.domain_id
            where f.outcome = 'ok' group by 1, 2""")
        asked = Counter((entry.host, entry.path) for entry in answers)
        invented = [row for row in logged if row.times > asked[_host(row.name), row.path]]
        figures.doubled_rows = verdict.add("a flush was written twice", twice)
        figures.doubled_rows += verdict.add("the log has more fetches than answers", invented)
        worth = self.flush_pages + AT_ONCE
        figures.refetches = len(answers) - len(asked)
        figures.refetch_bound = account.hit_domains * worth
        if figures.refetches > figures.refetch_bound:
            verdict.add("more was fetched again than was in flight", [f"{figures.refetches}, {figures.refetch_bound}"])
        figures.most_at_one_blow = self._most_unwritten(answers)

    def _most_unwritten(self, answers: list[Entry]) -> int:
        written = {
            (row.name, row.lease_no): row.times
            for row in self.land.rows("""
                select d.name, f.lease_no, count(*) as times from fetch_log as f
                join domains as d on d.id = f.domain_id group by 1, 2""")
        }
        by_host: dict[str, list[float]] = {}
        for entry in answers:
            by_host.setdefault(entry.host, []).append(entry.at)
        return max(
            (
                sum(t.since <= at < t.until for at in by_host.get(_host(t.name), ()))
                - written.get((t.name, t.lease_no), 0)
                for t in self._history.tenures()
            ),
            default=0,
        )

    def _books(self, verdict: Verdict) -> None:
        for what, rows in self.land.differences().items():
            verdict.figures.counter_differences += verdict.add(f"the books differ from {what}", rows)

    def _bodies(self, verdict: Verdict) -> None:
        """Twice: by the program's own command, and by reading each body that a page refers to."""
        told = self.land.run("storage", "verify", "--json", code=None)
        wrong = [] if told.code == 0 else [row for row in told.rows if "kind" in row]
        found: list[str] = []
        rows = self.land.rows("""
            select d.name, p.path, p.body_hash, p.pack_id, p.pack_offset, p.pack_length
            from pages as p join domains as d on d.id = p.domain_id where p.state = 'fetched'""")
        with self.land.app() as app:
            for row in rows:
                ref = BodyRef(row.pack_id, row.pack_offset, row.pack_length)
                try:
                    body = app.body_store.get(ref).body
                except BailiwickError as error:
                    found.append(f"{row.name}{row.path}: {error.message}")
                    continue
                if sha256(body).digest() != bytes(row.body_hash) or body != self._served(row.name, row.path):
                    found.append(f"{row.name}{row.path}: other bytes than were served")
        verdict.figures.bodies_verified = len(rows) - len(found)
        verdict.figures.bodies_wrong = verdict.add("a body is not what was served", found)
        verdict.add("storage verify found a fault", wrong)

    def _served(self, name: str, path: str) -> bytes:
        page = self.ground.web[_host(name)].page(path, origins=self.land.running.origins)
        assert page is not None
        return page.body.encode() if isinstance(page.body, str) else page.body

    def _leases(self, verdict: Verdict, account: Account) -> None:
        figures, tenures = verdict.figures, self._history.tenures()
        figures.leases, figures.taken_over = len(tenures), sum(tenure.crashes > 0 for tenure in tenures)
        found = self._tenures.overlaps(account.deaths)
        unused = self._unused(found)
        if len(unused) > account.lost_claims * self.open_domains:
            unused = set()  # more than lost claims can explain
        overlaps, figures.let_go = [one for one in found if one not in unused], len(unused)
        figures.lease_overlaps = verdict.add("a lease was taken from a living holder", overlaps)
        verdict.add("a late result was written", self._history.late_results())
        verdict.add("a request without a lease", self._history.strays(self.ground.hosts))

    def _unused(self, found: Iterable[Overlap]) -> set[Overlap]:
        """Leases under which nothing was sent and nothing written: those of a claim whose answer was lost."""
        begins = {(tenure.name, tenure.lease_no): tenure.since for tenure in self._history.tenures()}
        log = self.land.running.log
        return {
            one
            for one in found
            if not one.flushes
            and not any(begins[one.domain, one.lease_no] <= e.at <= one.at for e in log.entries(_host(one.domain)))
        }

    def _pace(self, verdict: Verdict) -> None:
        figures, log = verdict.figures, self.land.running.log
        delays = self.ground.delays
        breaches = too_close(log, delays) + self._unwanted() + self._history.too_soon(delays)
        breaches += too_many(log, dict.fromkeys(self.ground.hosts, AT_ONCE))
        figures.pace_breaches = verdict.add("requests too close", breaches)
        margins = [gap - delays[host] for host in self.ground.hosts for gap in gaps(log, host)]
        figures.smallest_margin_ms = round(1000 * min(margins, default=0.0), 1)
        figures.requests = len(log.entries())
        figures.cut_off = sum(entry.status is None for entry in log.entries())

    def _unwanted(self) -> list[Breach]:
        """Crawl delays out of robots.txt: who asks for robots.txt itself cannot know them yet."""
        log = self.land.running.log
        asks = {(e.host, e.received) for e in log.entries() if e.path == "/robots.txt"}
        return [breach for breach in too_close(log, self.ground.wishes) if (breach.host, breach.at) not in asks]


def _host(name: str) -> str:
    return name.partition(":")[0]
