"""Judged domains become true: registered, rated, with their candidates, in one transaction a batch."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue
from sqlalchemy import Connection, RowMapping

from bailiwick.base.discovery_sections import DiscoverSettings
from bailiwick.db.sql import queries
from bailiwick.discover import sessions
from bailiwick.discover.gathering import DomainFinds, Find
from bailiwick.discover.sessions import Session
from bailiwick.discover.stats import Stats
from bailiwick.ledger.events import Act, Actor, Subject, record
from bailiwick.ledger.move import Move
from bailiwick.model.discovery import History, Judgment, Sighting
from bailiwick.model.names import DomainName
from bailiwick.model.transitions import APPROVAL
from bailiwick.model.urls import hash_of
from bailiwick.registry import standing
from bailiwick.registry.apply import SQL as REGISTRY_SQL
from bailiwick.registry.apply import apply, lock_queue, requeue
from bailiwick.registry.records import get_by_id
from bailiwick.registry.standing import Closed, Rated
from bailiwick.registry.submit import propose

SQL = queries("bailiwick.discover")


@dataclass(frozen=True, slots=True)
class Known:
    """What the registry holds of a domain that was found."""

    row: RowMapping
    closed: Closed | None
    done: int
    """Candidates that this very session made of it, before it was interrupted."""


@dataclass(frozen=True, slots=True)
class JudgedDomain:
    """A domain's finds with what judges said of each, in order; or why judging failed."""

    found: DomainFinds
    judgments: Sequence[Judgment] = ()
    failure: str | None = None

    @property
    def best(self) -> float:
        return max((judgment.confidence_score for judgment in self.judgments), default=0.0)


def known_domains(
    conn: Connection, session_id: int, names: Iterable[DomainName], settings: DiscoverSettings
) -> dict[str, Known]:
    """Those of the domains that are known, by name, and whether they are judged now."""
    asked = {"names": [name.name for name in names], "session_id": session_id}
    rows = conn.exec_driver_sql(SQL["domains_by_name"], asked).mappings()
    fresh = timedelta(days=settings.fresh_days)
    return {row["name"]: Known(row, standing.closed(row, row["now"], fresh=fresh), row["done"]) for row in rows}


def histories(conn: Connection, ids: Sequence[int]) -> dict[int, History]:
    """What domains gave before, by id."""
    return {
        row.id: History(
            high_candidates=row.high_candidates,
            low_candidates=row.low_candidates,
            approved_candidates=row.approved,
            rejected_candidates=row.rejected,
            pages_crawled=row.pages_crawled,
            pages_relevant=row.pages_relevant,
            items=row.items,
        )
        for row in conn.exec_driver_sql(SQL["histories"], {"ids": list(ids)})
    }


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes what one session judged."""

    session: Session
    settings: DiscoverSettings
    starter: Actor
    system: Actor

    def keep(self, conn: Connection, judged: Sequence[JudgedDomain], stats: Stats) -> None:
        """One batch. What another session was faster with, or people decided meanwhile, is counted as known."""
        by_name = {one.found.name.name: one for one in judged}
        new = self._register(conn, judged, stats)
        known = known_domains(conn, self.session.id, [one.found.name for one in judged], self.settings)
        lock_queue(conn, [one.row["id"] for one in known.values()])
        # Read once more, now that nobody else is at them.
        known = known_domains(conn, self.session.id, [one.found.name for one in judged], self.settings)
        open_ = {name: one for name, one in known.items() if one.closed is None}
        for name, one in known.items():
            if one.closed is not None:
                stats.passed_over(len(by_name[name].found.finds), blacklisted=one.closed is Closed.BLACKLISTED)
        ids = {name: one.row["id"] for name, one in open_.items()}
        standing.start(conn, list(ids.values()), self.system, reason=self._why)
        self._fail(conn, {ids[name]: by_name[name] for name in ids if by_name[name].failure is not None}, stats)
        self._rate(conn, {ids[name]: by_name[name] for name in ids if by_name[name].failure is None}, stats)
        self._admit(conn, {name: by_name[name] for name in open_ if name not in new}, open_, stats)
        stats.domains += len(open_)
        sessions.save(conn, self.session.id, stats)

    @property
    def _why(self) -> str:
        return f"discovery session {self.session.id}"

    def _register(self, conn: Connection, judged: Sequence[JudgedDomain], stats: Stats) -> set[str]:
        """Those that nobody knew, made known; admitted where a rule or the operator's setting says so."""
        ordered = sorted(judged, key=lambda one: one.found.name.name)
        admitted = [self._is_admitted(one) for one in ordered]
        columns = {
            "name": [one.found.name.name for one in ordered],
            "site": [one.found.name.site for one in ordered],
            "shared_key": [one.found.name.shared_key for one in ordered],
            "proposed": [self._is_proposed(one) for one in ordered],
            "admitted": admitted,
            "actor": self.starter.id,
            "context": f"found by {self._why}",
            "profile": self.session.order.profile,
            "source": f"discover:{self.session.id}",
            "session_id": self.session.id,
        }
        added = conn.exec_driver_sql(REGISTRY_SQL["add_found"], columns).all()
        confidence = {one.found.name.name: one.best for one in ordered}
        for domain_id, name, approval, _, rule in added:
            if approval == "approved":
                details: JsonValue = {"rule": rule} if rule else {"confidence": confidence[name]}
                act = Act("admit", after=approval, reason=self._why, details=details)
                record(conn, self.system, Subject("domain", name, domain_id), act)
        approved = sum(row.approval == "approved" for row in added)
        stats.domains_new += len(added)
        stats.domains_admitted += approved
        stats.domains_proposed += sum(row.is_proposed for row in added) - approved
        ids = [row.id for row in added]
        lock_queue(conn, ids)
        requeue(conn, ids)
        return {row.name for row in added}

    def _is_proposed(self, one: JudgedDomain) -> bool:
        return one.failure is None and one.best >= max(self.settings.queue_confidence, _EPSILON)

    def _is_admitted(self, one: JudgedDomain) -> bool:
        least = self.settings.admit_confidence
        return one.failure is None and least is not None and one.best >= max(least, _EPSILON)

    def _fail(self, conn: Connection, failed: Mapping[int, JudgedDomain], stats: Stats) -> None:
        standing.fail(conn, {domain_id: one.failure or "" for domain_id, one in failed.items()}, self.system)
        stats.failed(sum(len(one.found.finds) for one in failed.values()))

    def _rate(self, conn: Connection, judged: Mapping[int, JudgedDomain], stats: Stats) -> None:
        added = conn.exec_driver_sql(SQL["add_candidates"], self._columns(judged)).all()
        high: dict[int, list[float]] = {}
        low: dict[int, list[float]] = {}
        for row in added:
            (high if row.state == "pending_crawl" else low).setdefault(row.domain_id, []).append(row.confidence)
        stats.judged((c for some in high.values() for c in some), (c for some in low.values() for c in some))
        stats.passed_over(sum(len(one.found.finds) for one in judged.values()) - len(added), blacklisted=False)
        rated = [
            Rated(i, len(high.get(i, ())), len(low.get(i, ())), max((*high.get(i, ()), *low.get(i, ())), default=None))
            for i in judged
        ]
        least = self.settings.low_quality_after
        standing.finish(conn, rated, self.system, low_quality_after=least, reason=self._why)
        wanted = [row for row in added if row.state == "pending_crawl"]
        asked = {"domain_id": [row.domain_id for row in wanted], "path": [row.path for row in wanted]}
        conn.exec_driver_sql(SQL["ask_for_pages"], {**asked, "actor": self.starter.id})
        concerned = sorted(set(asked["domain_id"]))
        conn.exec_driver_sql(REGISTRY_SQL["wake_asked"], {"ids": concerned})
        requeue(conn, concerned)

    def _admit(
        self, conn: Connection, judged: Mapping[str, JudgedDomain], known: Mapping[str, Known], stats: Stats
    ) -> None:
        """Domains that were known and undecided: this session may be the first to find them good enough."""
        for name, one in judged.items():
            row = known[name].row
            if row["approval"] != "pending_review":
                continue
            if self._is_admitted(one):
                domain = get_by_id(conn, row["id"])
                wish = Move(
                    APPROVAL, domain.id, "admit", domain.approval_seen, self._why, details={"confidence": one.best}
                )
                apply(conn, wish, self.system)
                stats.domains_admitted += 1
            elif self._is_proposed(one) and not row["is_proposed"]:
                propose(conn, get_by_id(conn, row["id"]), self.system, context=f"found by {self._why}")
                stats.domains_proposed += 1

    def _columns(self, judged: Mapping[int, JudgedDomain]) -> dict[str, object]:
        rows = [
            (domain_id, find, judgment)
            for domain_id, one in judged.items()
            for find, judgment in zip(one.found.finds, one.judgments, strict=True)
        ]
        return {
            "session_id": self.session.id,
            "profile": self.session.order.profile,
            "domain_id": [domain_id for domain_id, _, _ in rows],
            **_find_columns([find for _, find, _ in rows]),
            **_judgment_columns([judgment for _, _, judgment in rows]),
        }


_EPSILON = 1e-9
"""A domain of no confidence at all is never proposed, whatever the settings say."""


def _find_columns(finds: Sequence[Find]) -> dict[str, object]:
    return {
        "name": [str(find.page) for find in finds],
        "url": [find.best.url for find in finds],
        "path": [find.page.path for find in finds],
        "path_hash": [hash_of(find.page.path) for find in finds],
        "title": [find.best.title for find in finds],
        "snippet": [find.best.snippet for find in finds],
        "engine": [find.best.engine for find in finds],
        "query": [find.best.query for find in finds],
        "position": [find.best.position for find in finds],
        "found_by": [json.dumps([_told(one) for one in find.sightings], ensure_ascii=False) for find in finds],
    }


def _told(seen: Sighting) -> dict[str, str | int]:
    return {"engine": seen.engine, "query": seen.query, "position": seen.position}


def _judgment_columns(judgments: Sequence[Judgment]) -> dict[str, object]:
    return {
        "confidence": [judgment.confidence_score for judgment in judgments],
        "threshold": [judgment.threshold for judgment in judgments],
        "judge_scores": [
            json.dumps([score.model_dump() for score in judgment.judge_scores], ensure_ascii=False)
            for judgment in judgments
        ],
        "reasoning": [judgment.reasoning for judgment in judgments],
        "organization_name": [judgment.extracted_organization_name for judgment in judgments],
        "program_name": [judgment.extracted_program_name for judgment in judgments],
    }
