"""Near duplicates among the pages of a domain: clusters of pages whose simhashes differ in a few bits.

Two numbers of 64 bits that differ in at most three agree in at least one of four groups of 16: only pages that share a
group are compared. Looked for when somebody asks, over narrow rows; a very large domain is looked at in part.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import Connection

from bailiwick.extract.queue import SQL

NEAR_BITS = 3
MOST_PAGES = 50_000
_GROUPS = (0, 16, 32, 48)
_MOST_IN_BUCKET = 500
"""Where more pages share a group, each is compared with the first of them only: those are alike anyway."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Pages that hold nearly the same. `distinct` counts the contents that differ at all."""

    pages: int
    distinct: int
    examples: list[str]


@dataclass(frozen=True, slots=True)
class Duplicates:
    """All clusters of a domain, the largest first."""

    pages: int
    clusters: list[Cluster]
    is_partial: bool
    """The domain has more pages than were looked at."""

    @property
    def surplus(self) -> int:
        """Pages that another page makes superfluous."""
        return sum(cluster.pages - 1 for cluster in self.clusters)


def find(conn: Connection, domain_id: int, *, show: int = 5, examples: int = 3) -> Duplicates:
    """The clusters of a domain's pages as they are now; the largest with paths of some of their pages."""
    rows = conn.exec_driver_sql(SQL["simhashes"], {"domain_id": domain_id, "most": MOST_PAGES}).all()
    found = clusters((row.path_hash, row.simhash) for row in rows)
    contents = {row.path_hash: row.content_hash for row in rows}
    found.sort(key=len, reverse=True)
    wanted = [path_hash for members in found[:show] for path_hash in members[:examples]]
    values = {"domain_id": domain_id, "hashes": wanted}
    paths = {row.path_hash: row.path for row in conn.exec_driver_sql(SQL["paths"], values)}
    return Duplicates(
        len(rows),
        [
            Cluster(
                len(members),
                len({contents[member] for member in members}),
                sorted(paths[member] for member in members[:examples] if member in paths),
            )
            for members in found
        ],
        is_partial=len(rows) == MOST_PAGES,
    )


def clusters(pages: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Groups of at least two, of (page, simhash): in each, everybody is near somebody else of it."""
    by_hash: dict[int, list[int]] = defaultdict(list)
    for page, simhash in pages:
        by_hash[simhash & (2**64 - 1)].append(page)
    leader = {simhash: simhash for simhash in by_hash}
    for one, other in _near(list(by_hash)):
        leader[_top(leader, one)] = _top(leader, other)
    groups: dict[int, list[int]] = defaultdict(list)
    for simhash, members in by_hash.items():
        groups[_top(leader, simhash)] += members
    return [members for members in groups.values() if len(members) > 1]


def _near(hashes: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs that differ in a few bits."""
    for shift in _GROUPS:
        buckets: dict[int, list[int]] = defaultdict(list)
        for simhash in hashes:
            buckets[simhash >> shift & 0xFFFF].append(simhash)
        for alike in buckets.values():
            for n, one in enumerate(alike):
                for other in alike[n + 1 : n + 1 + _MOST_IN_BUCKET]:
                    if (one ^ other).bit_count() <= NEAR_BITS:
                        yield one, other


def _top(leader: dict[int, int], simhash: int) -> int:
    """The one that stands for a whole cluster."""
    while leader[simhash] != simhash:
        leader[simhash] = simhash = leader[leader[simhash]]
    return simhash
