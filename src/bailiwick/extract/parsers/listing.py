"""How site parsers do, for people: by version, by domain, and the pages on which they fail."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from bailiwick.extract.parsers.stats import SQL

_LOWEST = -(2**63)
FIRST_RATE: "RateKey" = (_LOWEST, "", 0)
FIRST_FAILURE: "FailureKey" = (_LOWEST, _LOWEST, "")
RateKey = tuple[int, str, int]
FailureKey = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a version of a parser succeeded."""

    parser: str
    version: int
    tried: int
    succeeded: int
    is_fallen: bool
    """Whether it lately succeeds half as often as before, on some domain."""

    @property
    def share(self) -> float:
        return self.succeeded / self.tried if self.tried else 0.0


@dataclass(frozen=True, slots=True)
class DomainRate:
    """The same on one domain."""

    rate: Rate
    domain: str
    last_tried_at: datetime
    key: RateKey


@dataclass(frozen=True, slots=True)
class Failure:
    """A page on which a parser failed the last time."""

    domain: str
    path: str
    parser: str
    version: int
    outcome: str
    why: str | None
    tried_at: datetime
    key: FailureKey


def rates(conn: Connection) -> dict[tuple[str, int], Rate]:
    """Of all versions, over all domains."""
    rows = conn.exec_driver_sql(SQL["parser_rates"])
    found = [Rate(row.parser, row.version, row.tried, row.succeeded, row.fallen > 0) for row in rows]
    return {(rate.parser, rate.version): rate for rate in found}


def rates_by_domain(conn: Connection, domain_id: int | None, *, limit: int, after: RateKey) -> list[DomainRate]:
    values = {"domain_id": domain_id, "limit": limit, "after_domain": after[0], "after_parser": after[1],
              "after_version": after[2]}  # fmt: skip
    return [
        DomainRate(
            Rate(row.parser, row.version, row.tried, row.succeeded, row.fell_from is not None),
            row.domain,
            row.last_tried_at,
            (row.domain_id, row.parser, row.version),
        )
        for row in conn.exec_driver_sql(SQL["parser_rates_by_domain"], values)
    ]


def failures(conn: Connection, domain_id: int | None, *, limit: int, after: FailureKey) -> list[Failure]:
    values = {"domain_id": domain_id, "limit": limit, "after_domain": after[0], "after_path": after[1],
              "after_kind": after[2]}  # fmt: skip
    return [
        Failure(
            row.domain,
            row.path,
            row.parser,
            row.version,
            row.outcome,
            row.why,
            row.tried_at,
            (row.domain_id, row.path_hash, row.kind),
        )
        for row in conn.exec_driver_sql(SQL["parser_failures"], values)
    ]
