"""Finds of a session, judged and kept batch by batch: the part of discovery that knows both judges and candidates."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from bailiwick.base.telemetry import LogEvent, logger
from bailiwick.db.engine import Database
from bailiwick.discover.gathering import DomainFinds, Gathering
from bailiwick.discover.keeping import JudgedDomain, Keeper, Known, histories, known_domains
from bailiwick.discover.stats import Stats
from bailiwick.model.discovery import Case, History, Judgment
from bailiwick.registry.standing import Closed

BATCH_DOMAINS = 200
BATCH_FINDS = 2_000

JudgeAll = Callable[[Sequence[Case]], list[Judgment]]


@dataclass
class Judging:
    """Judges what was gathered and keeps it; every batch is true when it is written."""

    database: Database
    keeper: Keeper
    judge: JudgeAll
    stats: Stats

    def run(self, gathered: Gathering, advance: Callable[[int], None]) -> None:
        """All domains of the gathering. Says how many pages are done by now."""
        done = 0
        for batch in _batches(gathered.domains()):
            self._batch(batch)
            done += sum(len(found.finds) for found in batch)
            advance(done)

    def _batch(self, batch: Sequence[DomainFinds]) -> None:
        session = self.keeper.session
        with self.database.read() as conn:
            known = known_domains(conn, session.id, [found.name for found in batch], self.keeper.settings)
            told = histories(conn, [one.row["id"] for one in known.values()])
        open_ = [found for found in batch if self._is_open(found, known.get(found.name.name))]
        judged = self._judged(open_, known, told)
        with self.database.begin() as conn:
            self.keeper.keep(conn, judged, self.stats)

    def _is_open(self, found: DomainFinds, known: Known | None) -> bool:
        """Whether it is judged at all; who is not, is counted here and costs nothing more."""
        if known is None or (known.closed is None and not known.done):
            return True
        left = max(len(found.finds) - known.done, 0)  # a file may have lost rows since the session was interrupted
        self.stats.passed_over(left, blacklisted=known.closed is Closed.BLACKLISTED)
        return False

    def _judged(
        self, batch: Sequence[DomainFinds], known: dict[str, Known], told: dict[int, History]
    ) -> list[JudgedDomain]:
        cases = [_cases(found, known.get(found.name.name), told) for found in batch]
        try:
            judgments = iter(self.judge(list(chain.from_iterable(cases))))
            return [
                JudgedDomain(found, [next(judgments) for _ in some]) for found, some in zip(batch, cases, strict=True)
            ]
        except Exception as error:  # noqa: BLE001 - whose fault it is is found out below
            logger().warning(LogEvent.JUDGING_FAILED, error=repr(error))
        return [self._alone(found, some) for found, some in zip(batch, cases, strict=True)]

    def _alone(self, found: DomainFinds, cases: Sequence[Case]) -> JudgedDomain:
        """One domain by itself: what cannot be judged takes nobody else along."""
        try:
            return JudgedDomain(found, self.judge(cases))
        except Exception as error:  # noqa: BLE001 - recorded with the domain, which is tried again later
            return JudgedDomain(found, failure=f"judging failed: {type(error).__name__}: {error}"[:500])


def _cases(found: DomainFinds, known: Known | None, told: dict[int, History]) -> list[Case]:
    history = told.get(known.row["id"]) if known is not None else None
    return [Case.of(find.best, found.name, sightings=tuple(find.sightings), history=history) for find in found.finds]


def _batches(domains: Iterator[DomainFinds]) -> Iterator[list[DomainFinds]]:
    batch: list[DomainFinds] = []
    finds = 0
    for found in domains:
        if batch and (len(batch) == BATCH_DOMAINS or finds + len(found.finds) > BATCH_FINDS):
            yield batch
            batch, finds = [], 0
        batch.append(found)
        finds += len(found.finds)
    if batch:
        yield batch
