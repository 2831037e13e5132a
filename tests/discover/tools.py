"""Sessions without engines and judges: finds are given, and their confidence stands in their titles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, text

from bailiwick.accounts.members import local_admin, system_actor
from bailiwick.base.discovery_sections import DiscoverSettings
from bailiwick.db.engine import Database
from bailiwick.discover import sessions
from bailiwick.discover.gathering import Gathering
from bailiwick.discover.keeping import Keeper
from bailiwick.discover.sessions import Order, Session
from bailiwick.discover.stats import Stats
from bailiwick.model.discovery import Case, JudgeScore, Judgment, SearchResult
from bailiwick.model.urls import PageUrl
from bailiwick.pipeline.judging import Judging

THRESHOLD = 0.6


def by_title(cases: Sequence[Case]) -> list[Judgment]:
    """Judges who say what the title says: a number."""
    return [
        Judgment(
            confidence_score=(score := float(case.result.title)),
            should_crawl=score >= THRESHOLD,
            domain_name=case.domain.name,
            judge_scores=(JudgeScore(judge_name="title", score=score, explanation="as it stands"),),
            reasoning=f"the title says {score}",
            threshold=THRESHOLD,
        )
        for case in cases
    ]


def gathered(finds: Mapping[str, float | str], engine: str = "file") -> Gathering:
    """Pages by URL, with what judges will say of them."""
    found = Gathering()
    for position, (url, title) in enumerate(finds.items(), start=1):
        found.add(PageUrl.parse(url), SearchResult(url, str(title), "a snippet", engine, "grants", position))
    return found


def order(name: str = "grants") -> Order:
    return Order((name,), ("file",), "funding", THRESHOLD, 0)


@dataclass(frozen=True)
class Ran:
    session: Session
    stats: Stats


def run(
    database: Database,
    finds: Mapping[str, float | str],
    *,
    settings: DiscoverSettings | None = None,
    judge: Callable[[Sequence[Case]], list[Judgment]] = by_title,
    name: str = "grants",
    finishes: bool = True,
) -> Ran:
    """One session over these finds."""
    with database.begin() as conn:
        session, goes_on = sessions.begin(conn, order(name), local_admin(conn))
        keeper = Keeper(session, settings or DiscoverSettings(), local_admin(conn), system_actor(conn))
    stats = session.stats
    if goes_on:
        stats.go_on()
    Judging(database, keeper, judge, stats).run(gathered(finds), lambda _: None)
    if finishes:
        with database.begin() as conn:
            sessions.finish(conn, session.id, stats, keeper.starter)
    return Ran(session, stats)


def states(conn: Connection) -> dict[str, str]:
    """Candidates' states by their names."""
    rows = conn.execute(text("select name, state from candidates order by name, id")).all()
    return {row.name: row.state for row in rows}
