"""What other bands would have done: past evaluations by the band they had and the one they would have."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from bailiwick.base.bands import BandAction, Bands
from bailiwick.db.tables import review_queue
from bailiwick.review.queue import SQL


@dataclass(frozen=True, slots=True)
class Shift:
    """Evaluations that had one band and would have another."""

    band: str
    action: BandAction
    new_band: str
    new_action: BandAction
    count: int

    @property
    def is_elsewhere(self) -> bool:
        """A band by another name that leads to the same is nowhere else."""
        return self.action is not self.new_action


@dataclass(frozen=True, slots=True)
class Preview:
    """All of them, the largest first."""

    shifts: Sequence[Shift]

    @property
    def total(self) -> int:
        return sum(shift.count for shift in self.shifts)

    @property
    def elsewhere(self) -> int:
        return sum(shift.count for shift in self.shifts if shift.is_elsewhere)

    def by_action(self) -> dict[tuple[BandAction, BandAction], int]:
        """(what it led to, what it would lead to) -> how many, where these differ; the most first."""
        found: dict[tuple[BandAction, BandAction], int] = {}
        for shift in self.shifts:
            if shift.is_elsewhere:
                way = (shift.action, shift.new_action)
                found[way] = found.get(way, 0) + shift.count
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def line(self) -> str:
        """For people."""
        ways = ", ".join(f"{count:,} {before} → {after}" for (before, after), count in self.by_action().items())
        told = f"of {self.total:,} past evaluations {self.elsewhere:,} would have gone elsewhere"
        return f"{told}: {ways}" if ways else told


def preview(conn: Connection, bands: Bands, *, own: Collection[str]) -> Preview:
    """Past evaluations under these bands, but for those of profiles that have their `own`."""
    asked = {"cuts": list(bands.cuts), "own": sorted(own)}
    return Preview(
        [
            Shift(row.band, BandAction(row.action), new.name, new.action, row.evaluations)
            for row in conn.exec_driver_sql(SQL["evaluations_by_band"], asked)
            for new in [bands.upward[row.nth]]
        ]
    )


def waiting_by_band(conn: Connection) -> dict[str, int]:
    """How many wait now, by the band that brought them here."""
    kept = review_queue.c
    counted = select(kept.confidence_band, func.count().label("waiting")).where(kept.reviewed_at.is_(None))
    query = counted.group_by(kept.confidence_band)
    return {row.confidence_band: row.waiting for row in conn.execute(query)}
