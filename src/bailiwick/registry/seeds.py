"""Seeds: domains out of text files, Tranco and Majestic lists, standard input. Pure but for reading lines."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bailiwick.base.errors import NameRefusedError
from bailiwick.model.names import DomainName

_LONGEST_LINE = 20_000


@dataclass(frozen=True, slots=True)
class Seed:
    """One domain of a list, with its rank in it."""

    name: DomainName
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Reject:
    """One line that names no domain, and why."""

    line_number: int
    text: str
    why: str


def read_seeds(lines: Iterable[str], *, allow_private: bool, collapse_subdomains: bool) -> Iterator[Seed | Reject]:
    """Every line's seed or reject. Blank lines and `#` comments are passed over.

    Understood: one domain or URL a line; Tranco (`rank,domain`); Majestic (a header with GlobalRank and Domain).
    """
    columns: tuple[int, int] | None = None
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if len(line) > _LONGEST_LINE:
            yield Reject(number, line[:200], "the line is too long")
            continue
        if number == 1 and (found := _header(line)):
            columns = found
            continue
        try:
            text, rank = _cells(line, columns)
            name = DomainName.parse(text, allow_private=allow_private, collapse_subdomains=collapse_subdomains)
        except NameRefusedError as error:
            yield Reject(number, line[:200], error.message)
        except csv.Error as error:
            yield Reject(number, line[:200], f"the line is no CSV: {error}")
        else:
            yield Seed(name, rank)


def _header(line: str) -> tuple[int, int] | None:
    """The places of rank and domain, if this is a header that names them."""
    names = [cell.strip().lower() for cell in line.split(",")]
    rank = next((names.index(n) for n in ("globalrank", "rank") if n in names), None)
    domain = next((names.index(n) for n in ("domain", "domain_name", "name", "url") if n in names), None)
    if domain is None:
        return None
    return (rank if rank is not None else -1, domain)


def _cells(line: str, columns: tuple[int, int] | None) -> tuple[str, int | None]:
    if columns is None:
        head, comma, rest = line.partition(",")
        if comma and head.isascii() and head.isdigit():
            return rest.partition(",")[0], _rank(head)
        return line, None
    cells = next(csv.reader([line]))
    rank_at, domain_at = columns
    text = cells[domain_at] if domain_at < len(cells) else ""
    return text, _rank(cells[rank_at]) if 0 <= rank_at < len(cells) else None


def _rank(text: str) -> int | None:
    digits = text.strip().lstrip("0")[:12]  # int() refuses thousands of digits, the column what is above 2**31
    return int(digits) if digits.isascii() and digits.isdigit() and int(digits) < 2**31 else None
