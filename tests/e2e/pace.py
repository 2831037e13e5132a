"""The judge of politeness: it reads the server's log and the history of leases, and knows nothing of the crawler.

The log's `received` is the kernel's own moment of arrival (see `demo.web.arrivals`): as exact as two clocks can be
compared, whatever the machine is busy with. Where TLS reads ahead, it may be off by the entry's `blur`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bailiwick.demo.web.log import Entry, RequestLog
from tests.e2e.tools import Land

SLACK_SECONDS = 0.001


@dataclass(frozen=True)
class Breach:
    """What one host had to suffer, and when by the log's clock."""

    host: str
    what: str
    at: float


@dataclass(frozen=True)
class Hold:
    """A host asked to be left alone: from the moment its answer went out, until then (the log's clock)."""

    host: str
    since: float
    until: float


def gaps(log: RequestLog, host: str) -> list[float]:
    """Seconds between each request to a host and the one before, over its whole history."""
    return [after - before for before, after in pairwise(log.times(host))]


def too_close(log: RequestLog, delays: Mapping[str, float]) -> list[Breach]:
    """Requests that came sooner after the one before than the host's delay allows."""
    return [
        Breach(host, f"{after.received - before.received:.3f} s after the one before, not {delay}", after.received)
        for host, delay in delays.items()
        for before, after in pairwise(sorted(log.entries(host), key=lambda entry: entry.received))
        if after.received - before.received < delay - SLACK_SECONDS - max(before.blur, after.blur)
    ]


def too_many(log: RequestLog, limits: Mapping[str, int]) -> list[Breach]:
    """Hosts at which more requests were open at once than their limit allows."""
    most = {host: log.most_at_once(host) for host in limits}
    return [
        Breach(host, f"{most[host]} at once, not {limit}", 0.0) for host, limit in limits.items() if most[host] > limit
    ]


def in_holds(log: RequestLog, holds: Iterable[Hold]) -> list[Breach]:
    """Requests that came while their host wanted none. What was written before it said so is no breach."""
    return [
        Breach(
            hold.host, f"{hold.until - entry.received:.3f} s before the end of a pause ({entry.path})", entry.received
        )
        for hold in holds
        for entry in log.entries(hold.host)
        if hold.since < entry.received < hold.until - SLACK_SECONDS
    ]


def refusals(log: RequestLog, host: str) -> list[Entry]:
    """The requests that were answered with 429 or 503."""
    return [entry for entry in log.entries(host) if entry.status in (429, 503)]


@dataclass(frozen=True)
class Tenure:
    """One lease of one domain: from its claim to its release, its loss or now; seconds since 1970."""

    name: str
    key_hash: int
    lease_no: int
    worker: str
    since: float
    until: float
    crashes: int
    """Leases in a row before it that nobody released."""


class LeaseHistory:
    """Every change of hands, kept by a trigger in the test's own database from now on.

    A claim counts a key's leases under the key's lock, so the order of the statements is the order of the truth.
    """

    def __init__(self, land: Land) -> None:
        self._land = land
        land.rows_done("""
            create table lease_history (
                n bigserial, at timestamptz not null default clock_timestamp(), domain_id bigint, key_hash bigint,
                lease_no int, worker text, crashes int);
            create function note_lease() returns trigger language plpgsql as $$
            begin
                insert into lease_history (domain_id, key_hash, lease_no, worker, crashes)
                values (new.domain_id, new.key_hash, new.lease_no, new.worker, new.crashes);
                return null;
            end $$;
            create trigger note_lease after update on crawl_queue for each row
            when ((old.worker, old.lease_no) is distinct from (new.worker, new.lease_no))
            execute function note_lease()""")

    def tenures(self) -> list[Tenure]:
        """All leases, in the order in which they were given."""
        rows = self._land.rows("""
            select d.name, h.key_hash, h.lease_no, h.worker, h.crashes, extract(epoch from h.at)::float8 as since,
                   coalesce(extract(epoch from lead(h.at) over (partition by h.domain_id order by h.n)),
                            'infinity')::float8 as until
            from lease_history as h join domains as d on d.id = h.domain_id order by h.n""")
        return [
            Tenure(row.name, row.key_hash, row.lease_no, row.worker, row.since, row.until, row.crashes)
            for row in rows
            if row.worker is not None
        ]

    def most_live(self) -> dict[int, int]:
        """The most leases that lived at the same time, by shared key."""
        moments = [(t.since, 1, t.key_hash) for t in self.tenures()]
        moments += [(t.until, -1, t.key_hash) for t in self.tenures()]
        live: Counter[int] = Counter()
        most: Counter[int] = Counter()
        for _, change, key in sorted(moments):
            live[key] += change
            most[key] = max(most[key], live[key])
        return dict(most)

    def strays(self, hosts: Sequence[str]) -> list[Breach]:
        """Requests to these hosts at a moment at which nobody held their lease."""
        held = self._by_host(hosts)
        return [
            Breach(host, f"nobody held it ({entry.path})", entry.received)
            for host, tenures in held.items()
            for entry in self._land.running.log.entries(host)
            for off in [SLACK_SECONDS + entry.blur]
            if not any(t.since <= entry.at + off and entry.at - off <= t.until for t in tenures)
        ]

    def late_results(self) -> list[object]:
        """Pages that were written for one lease after the next one had begun."""
        return self._land.rows("""
            select f.domain_id, f.lease_no, f.fetched_at, h.at from fetch_log as f
            join lease_history as h on h.domain_id = f.domain_id and h.lease_no > f.lease_no and h.worker is not null
            where f.fetched_at > h.at""")

    def too_soon(self, delays: Mapping[str, float]) -> list[Breach]:
        """First requests under a lease that was taken over, sooner than a full delay after the take-over."""
        found = ((t, self._first(host, t), delay) for host, t, delay in self._taken_over(delays))
        return [
            Breach(t.name, f"{first.at - t.since:.3f} s after a take-over, not {delay}", first.received)
            for t, first, delay in found
            if first is not None and first.at - t.since < delay - SLACK_SECONDS
        ]

    def _taken_over(self, delays: Mapping[str, float]) -> Iterator[tuple[str, Tenure, float]]:
        for host, tenures in self._by_host(list(delays)).items():
            yield from ((host, tenure, delays[host]) for tenure in tenures if tenure.crashes)

    def _by_host(self, hosts: Sequence[str]) -> dict[str, list[Tenure]]:
        everything = self.tenures()
        return {host: [t for t in everything if t.name == self._land.name(host)] for host in hosts}

    def _first(self, host: str, tenure: Tenure) -> Entry | None:
        entries = self._land.running.log.entries(host)
        return min((e for e in entries if tenure.since <= e.at < tenure.until), key=lambda e: e.received, default=None)
