"""The engine's desk: everything that it asks of the database, as plain functions for its one database thread."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import JsonValue
from sqlalchemy import Connection

from bailiwick.accounts.members import system_actor
from bailiwick.base.errors import DiskLowError
from bailiwick.base.failpoints import failpoint
from bailiwick.base.settings import Settings
from bailiwick.crawl import requests, runs, scope, upkeep
from bailiwick.crawl.facts import Ending, Known, Outlook, boottime
from bailiwick.crawl.flush import SQL, flush
from bailiwick.crawl.images import writing as images
from bailiwick.crawl.images.facts import ImageOutlook
from bailiwick.crawl.linkgate import patterns_mark
from bailiwick.crawl.outcomes import MEANINGS, StopReason
from bailiwick.crawl.results import Batch, Flushed, Taken
from bailiwick.crawl.runs import Assignment
from bailiwick.crawl.sitemaps import SitemapDue
from bailiwick.crawl.slice import HOME_HASH, Slice
from bailiwick.crawl.visit import origins
from bailiwick.db.engine import Database
from bailiwick.db.sql import by_index
from bailiwick.ledger import outbox
from bailiwick.ledger.events import Actor
from bailiwick.model.names import DomainName
from bailiwick.model.urls import UrlRules
from bailiwick.net.gates import RESERVED_SECONDS
from bailiwick.net.robots import RobotsVerdict, decide
from bailiwick.ports import BodyStore
from bailiwick.registry import workers
from bailiwick.registry.leases import Lease, Rules, Wish, claim, lock_key, renew
from bailiwick.registry.release import BlockCode, Outcome, release_all

OTHER_HOST_DELAY_SECONDS = 2.0
_AGAINST_DOMAIN = [outcome.value for outcome, meaning in MEANINGS.items() if meaning.code is not None]
_REFUSALS = frozenset({"pending_review", "rejected", "suspended", "blacklisted", "no_funds_this_year"})


@dataclass(frozen=True, slots=True)
class Opened:
    """A domain that was leased, and all that its slice starts with."""

    lease: Lease
    run: Assignment
    known: Known
    claimed_at: float


@dataclass(frozen=True, slots=True)
class Left:
    """What the jobs of a command still have: leased by anybody, ready for somebody."""

    leased: int
    ready: int


class Desk:
    """One worker's dealings with the database. Every method is one short transaction; none is called twice at once."""

    def __init__(self, database: Database, settings: Settings, store: BodyStore, *, agent: str) -> None:
        self._database = database
        self._settings = settings
        self._store = store
        self._agent = agent
        self._rules = Rules(settings.lease, settings.priority)
        self._me = workers.this_worker()
        self.worker = str(self._me)
        self._after = 0
        self._is_unsure = False
        """The last claim may have been written without our knowing: its COMMIT was not answered."""
        with database.begin() as conn:
            self._system: Actor = system_actor(conn)
            workers.register(conn, self._me)
        self.keep_house()

    def keep_house(self) -> None:
        """What has to be done now and then, by whoever works: the next partitions of log and outbox."""
        with self._database.begin() as conn:
            upkeep.run_once(conn)
            outbox.run_once(conn, keep_days=self._settings.outbox.keep_days)

    def tell(self, figures: JsonValue) -> None:
        """Say how it is going, for whoever watches the workers; on a full disk that can wait."""
        with suppress(DiskLowError), self._database.begin() as conn:
            workers.tell(conn, self._me, figures)

    def leave(self) -> None:
        """Say good-bye: this worker holds nothing any more."""
        with self._database.begin() as conn:
            workers.unregister(conn, self._me)

    def claim(self, limit: int, job_ids: Sequence[int] | None, held: Collection[int] = ()) -> list[Opened]:
        """Lease up to `limit` domains that are due (of these jobs alone, if given) and give each its run.

        `held` are those that the caller has: what else is leased to this worker, by a claim whose answer was lost, is
        let go first. Nobody else could before its lease runs out.
        """
        unsure, self._is_unsure = self._is_unsure, True
        opened = self._claim(limit, job_ids, held if unsure else None)
        self._is_unsure = False
        return opened

    def _claim(self, limit: int, job_ids: Sequence[int] | None, held: Collection[int] | None) -> list[Opened]:
        claimed_at = boottime()
        with self._database.begin() as conn:
            workers.bury_the_dead(conn)
            if held is not None:
                workers.drop_strays(conn, self.worker, held)
            leases = self._lease(conn, limit, job_ids)
            if not leases and job_ids is not None:
                # Nothing of theirs is ready: make those ready whose time has come or whose lease ran out.
                claim(conn, Wish(self.worker, 0, among=[]), self._rules, self._system)
                leases = self._lease(conn, limit, job_ids)
            if not leases:
                return []
            assigned = runs.assign(conn, leases, job_ids)
            ids = [lease.domain_id for lease in leases]
            homes = [domain_id for domain_id in ids if assigned[domain_id].options.starts_at_home]
            conn.exec_driver_sql(SQL["seed_homes"], {"ids": homes, "path_hash": HOME_HASH})
            by_index(conn)
            conn.exec_driver_sql(SQL["try_again"], {"ids": ids, "outcomes": _AGAINST_DOMAIN})
            patterns = [patterns_mark(assigned[i].options.include, assigned[i].options.exclude) for i in ids]
            conn.exec_driver_sql(SQL["readmit"], {"ids": ids, "patterns": patterns})
            known = self._known(conn, leases)
        return [Opened(le, assigned[le.domain_id], known[le.domain_id], claimed_at) for le in leases]

    def _lease(self, conn: Connection, limit: int, job_ids: Sequence[int] | None) -> list[Lease]:
        among = None if job_ids is None else self._wanted_by(conn, job_ids, limit)
        if among is not None and not among:
            return []
        return claim(conn, Wish(self.worker, limit, among=among), self._rules, self._system)

    def _wanted_by(self, conn: Connection, job_ids: Sequence[int], limit: int) -> list[int]:
        asked = {"jobs": list(job_ids), "limit": 4 * limit}
        found = list(conn.exec_driver_sql(SQL["claimable_of"], asked | {"after": self._after}).scalars())
        if not found and self._after:
            found = list(conn.exec_driver_sql(SQL["claimable_of"], asked | {"after": 0}).scalars())
        self._after = found[-1] if len(found) == 4 * limit else 0
        return found

    def _known(self, conn: Connection, leases: Sequence[Lease]) -> dict[int, Known]:
        rest, limit = self._settings.cooldown.exhausted_days * 86400, self._settings.crawl.max_domain_errors
        ids = [lease.domain_id for lease in leases]
        others = any(lease.taken_over for lease in leases) and workers.are_others(conn, self._me)
        memory = {row.domain_id: row for row in conn.exec_driver_sql(SQL["memory_of"], {"ids": ids})}
        # Where the origin is not known yet, any of those that may have been asked counts: it may want a longer delay.
        homes = {lease.domain_id: [lease.base_url] if lease.base_url else origins(lease.name.name) for lease in leases}
        read = self._robots(conn, [origin for home in homes.values() for origin in home])
        return {
            row.domain_id: Known(
                pages=row.pages_discovered,
                waiting=row.pages_waiting,
                failed=row.pages_failed,
                # At the limit it was blocked for it: this is another try, and counts from its start.
                errors_in_row=row.consecutive_error_count if row.consecutive_error_count < limit else 0,
                outlinks=row.outlinks_found,
                sent_seconds_ago=row.sent_ago,
                revisit_seconds=row.scrape_frequency_hours * 3600 if row.scrape_frequency_hours else rest,
                held_seconds=max(memory[row.domain_id].held_seconds, row.reserved_seconds or 0.0),
                backoffs=memory[row.domain_id].backoffs,
                traps=memory[row.domain_id].traps,
                refused_links=memory[row.domain_id].refused_links,
                has_other_workers=others,
                robots={origin: read[origin] for origin in homes[row.domain_id] if origin in read},
            )
            for row in conn.exec_driver_sql(SQL["progress_of"], {"ids": ids})
        }

    def _robots(self, conn: Connection, origins: Sequence[str]) -> dict[str, RobotsVerdict]:
        rows = conn.exec_driver_sql(SQL["robots_of"], {"origins": list(origins)})
        return {row.origin: decide(row.status, (row.body or "").encode(), self._agent) for row in rows}

    def flush(self, batches: Sequence[Batch]) -> dict[int, Flushed]:
        """Bodies first, then the one transaction."""
        self._store.sync()
        failpoint("after_pack")
        with self._database.begin() as conn:
            answers = flush(conn, batches, worker=self.worker, system_id=self._system.id, machine=self._me.machine)
            failpoint("before_commit")
        failpoint("after_commit")
        return answers

    def take(self, wishes: Sequence[tuple[Slice, int]]) -> dict[int, list[Taken]]:
        """So many of the next pages of each: what they have already is read once more and left out by them."""
        slices = [s for s, _ in wishes]
        with self._database.read() as conn:
            by_index(conn)
            rows = conn.exec_driver_sql(
                SQL["take"],
                {
                    "ids": [s.lease.domain_id for s in slices],
                    "most": [most for _, most in wishes],
                    "max_depth": [s.run.max_depth for s in slices],
                },
            ).all()
        pages: dict[int, list[Taken]] = {s.lease.domain_id: [] for s in slices}
        for domain_id, path_hash, path, depth, _, retries, state, etag, last_modified, body_hash, text_hash in rows:
            pages[domain_id].append(
                Taken(path_hash, path, depth, retries, state, etag, last_modified, body_hash, text_hash)
            )
        return pages

    def next_sitemaps(self, slices: Sequence[Slice]) -> dict[int, SitemapDue]:
        """The next sitemap of each that is due, if there is one."""
        with self._database.read() as conn:
            rows = conn.exec_driver_sql(SQL["next_sitemaps"], {"ids": [s.lease.domain_id for s in slices]})
            return {
                row.domain_id: SitemapDue(row.url_hash, row.url, row.level, row.entries_taken, row.tries)
                for row in rows
            }

    def image_outlook(self, held: Mapping[int, int]) -> dict[int, ImageOutlook]:
        """What waits of the images of these domains."""
        with self._database.read() as conn:
            return images.outlook(conn, held)

    def outlook(self, slices: Sequence[Slice]) -> dict[int, Outlook]:
        """Why there is nothing to take."""
        with self._database.read() as conn:
            by_index(conn)
            rows = conn.exec_driver_sql(
                SQL["outlook"],
                {"ids": [s.lease.domain_id for s in slices], "max_depth": [s.run.max_depth for s in slices]},
            )
            return {row.domain_id: Outlook(row.has_deeper, row.next_in) for row in rows}

    def control(self, slices: Sequence[Slice]) -> dict[int, StopReason]:
        """Which of the domains we hold have to stop, and why."""
        with self._database.read() as conn:
            rows = conn.exec_driver_sql(
                SQL["control"],
                {
                    "ids": [s.lease.domain_id for s in slices],
                    "lease_nos": [s.lease.lease_no for s in slices],
                    "worker": self.worker,
                },
            )
            wanted = {row.domain_id: (row.wanted, row.refusal) for row in rows}
        return {
            s.lease.domain_id: reason
            for s in slices
            if (reason := _stop_reason(wanted.get(s.lease.domain_id))) is not None
        }

    def drain(self, slices: Sequence[Slice]) -> set[int]:
        """Take what others want of these domains into their frontiers; which have something new?"""
        with self._database.read() as conn:
            waiting = requests.waiting(conn, [s.lease.domain_id for s in slices])
        if not waiting:
            return set()
        leases = [s.lease for s in slices if s.lease.domain_id in {request.domain_id for request in waiting}]
        more = True
        while more:
            with self._database.begin() as conn:
                more = requests.admit(conn, waiting, leases, self.worker)
        return {request.domain_id for request in waiting}

    def widen(self, slices: Sequence[Slice]) -> int:
        """Admit further hosts for slices whose job asks for the whole site."""
        count = 0
        rules = UrlRules(allow_private=self._settings.names.allow_private)
        for s in slices:
            if s.run.options.scope == "site":
                with self._database.begin() as conn:
                    count += scope.widen(conn, s.run.job_id, s.lease.domain_id, s.lease.name, rules)
        return count

    def renew(self, slices: Sequence[Slice]) -> set[int]:
        """Extend the leases; those that are named are still ours."""
        with self._database.begin() as conn:
            workers.register(conn, self._me)
            return set(renew(conn, [s.lease for s in slices], self._rules))

    def release(self, endings: Sequence[tuple[Slice, Ending]]) -> set[int]:
        """Give leases back, each with what came of it; those that are named were still ours."""
        self.widen([s for s, ending in endings if ending.reason is not None])
        failpoint("before_release")
        with self._database.begin() as conn:
            done = release_all(
                conn,
                [(s.lease, _outcome(ending, s)) for s, ending in endings],
                self._rules,
                self._settings.cooldown,
                self._system,
            )
            mine = [(s, ending) for s, ending in endings if s.lease.domain_id in done]
            conn.exec_driver_sql(
                SQL["keep_gates"],
                {"ids": [s.lease.domain_id for s, _ in mine], "delays": [s.pace.delay_seconds for s, _ in mine]},
            )
            ended = [runs.Ending(s.lease.domain_id, s.run.run_id, ending.reason) for s, ending in mine]
            runs.end(conn, ended, self._system, rest_seconds=self._settings.cooldown.exhausted_days * 86400)
        return done

    def left_of(self, job_ids: Sequence[int]) -> Left:
        with self._database.read() as conn:
            row = conn.exec_driver_sql(SQL["left_of"], {"jobs": list(job_ids)}).one()
        return Left(row.leased, row.ready)


def _stop_reason(wanted: tuple[str, str | None] | None) -> StopReason | None:
    if wanted is None:
        return StopReason.LEASE_LOST
    wish, refusal = wanted
    if wish == "run":
        return None
    if refusal in _REFUSALS:
        return StopReason.APPROVAL_WITHDRAWN
    return StopReason.PAUSED if wish == "pause" else StopReason.CANCELLED


def _outcome(ending: Ending, part: Slice) -> Outcome:
    """What the end of a slice means for the domain's crawl axis."""
    if ending.blamed is not None:
        code = MEANINGS[ending.blamed].code or BlockCode.ERROR_LIMIT
        state = "unreachable" if code is BlockCode.UNREACHABLE else "blocked"
        return Outcome(state, code, ending.why)
    # Where only typed pages were start pages, or patterns kept pages back, the domain is not done.
    if ending.reason is StopReason.FRONTIER_EMPTY and part.run.options.covers_domain:
        return Outcome("exhausted")
    rests = ending.reason is not None and ending.reason.ends_run
    return Outcome("active", pause_seconds=ending.pause_seconds, rests=rests)


def reserve(
    database: Database, host: str, *, delay_seconds: float = OTHER_HOST_DELAY_SECONDS, longest_seconds: float = 1e9
) -> float:
    """Reserve the next request to a host; how many seconds until then? Infinite: somebody holds it, nothing is.

    Every port of a host name, with `www.` or without, has one gate. Unlike a desk's, these may be called at once.
    Whoever comes next waits for the delay; a moment that is further off than the longest is not reserved.
    """
    name = DomainName.parse(host, allow_private=True)
    with database.begin() as conn:
        lock_key(conn, name.shared_key)
        wait: float | None = conn.exec_driver_sql(
            SQL["reserve_host"],
            {
                "host": name.host,
                "names": [name.host, name.name],
                "shared_key": name.shared_key,
                "delay": max(delay_seconds, OTHER_HOST_DELAY_SECONDS),
                "late": RESERVED_SECONDS,
                "longest": longest_seconds,
            },
        ).scalar()
    return float("inf") if wait is None else wait
