"""Reads docs/reference/fields.md and compares it with a schema: text and metadata in, problems out."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlalchemy import CheckConstraint, MetaData, PrimaryKeyConstraint, UniqueConstraint

OURS_ALONE = "Ours alone"
FIELD_HEADER = ("field", "rule", "ours", "note")
OWN_HEADER = ("column", "why")

_NAME = r"[a-z][a-z0-9_]*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})+"
_COLUMN = rf"{_NAME}\.{_NAME}"
_TICKED = re.compile(r"`([^`]+)`")
_FIELD_LIST = re.compile(r"`[^`]+`(?:, `[^`]+`)*")


def _ticked(name: str) -> str:
    return rf"(?P<names>`{name}`(?:, `{name}`)*)"


# The whole grammar of a cell in the column "ours"; parts of a cell are joined by "; ".
_FORMS = {
    "column": re.compile(_ticked(_COLUMN)),
    "later column": re.compile("not yet: " + _ticked(_COLUMN)),
    "setting": re.compile("setting " + _ticked(_DOTTED)),
    "later setting": re.compile("not yet: setting " + _ticked(_DOTTED)),
    "index": re.compile("index " + _ticked(_NAME)),
    "later index": re.compile("not yet: index on " + _ticked(_COLUMN)),
    "check": re.compile("check " + _ticked(_NAME)),
    "later check": re.compile("not yet: check on " + _ticked(_COLUMN)),
    "not kept": re.compile("not kept"),
}
_NEEDS_TABLE_ABSENT = {"later column", "later index", "later check"}


@dataclass(frozen=True, slots=True)
class Claim:
    """One part of the cell "ours": a form of the grammar and the names in it."""

    form: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    spec: str
    entity: str
    fields: tuple[str, ...]
    rule: str
    claims: tuple[Claim, ...]
    note: str

    @property
    def place(self) -> str:
        return f"line {self.line}, {self.spec} {self.entity}: {', '.join(self.fields)}"


@dataclass(frozen=True, slots=True)
class OwnRow:
    line: int
    column: str


@dataclass(slots=True)
class Page:
    rows: list[Row] = field(default_factory=list)
    own: list[OwnRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def named_columns(self) -> set[str]:
        """Columns that the sections of the specifications name as existing."""
        return {name for row in self.rows for c in row.claims if c.form == "column" for name in c.names}


@dataclass(frozen=True, slots=True)
class Schema:
    tables: frozenset[str]
    columns: frozenset[str]
    indexes: frozenset[str]
    checks: frozenset[str]


def schema_of(metadata: MetaData) -> Schema:
    """Unique constraints and primary keys count as indexes too: in PostgreSQL each of them is one."""
    tables = metadata.tables.values()
    constraints = [c for t in tables for c in t.constraints]
    keys = [c for c in constraints if isinstance(c, UniqueConstraint | PrimaryKeyConstraint)]
    checks = [c for c in constraints if isinstance(c, CheckConstraint)]
    return Schema(
        tables=frozenset(t.name for t in tables),
        columns=frozenset(f"{t.name}.{c.name}" for t in tables for c in t.columns),
        indexes=frozenset(str(i.name) for t in tables for i in t.indexes) | _names(keys),
        checks=_names(checks),
    )


def _names(
    constraints: list[UniqueConstraint | PrimaryKeyConstraint] | list[CheckConstraint],
) -> frozenset[str]:
    return frozenset(str(c.name) for c in constraints if c.name)


def parse(text: str) -> Page:
    """Never raises: what cannot be read becomes a fault that names its line."""
    page = Page()
    section = entity = ""
    header: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#"):
            header = ()
        if line.startswith("## "):
            section, entity = line[3:].strip(), ""
        elif line.startswith("### "):
            entity = line[4:].strip()
        elif line.startswith("|") and not header:
            header = _header(page, number, line, section, entity)
        elif line.startswith("|") and not re.fullmatch(r"[|\- ]+", line):
            _body_row(page, number, _cells(line), section, entity)
    return page


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _header(page: Page, number: int, line: str, section: str, entity: str) -> tuple[str, ...]:
    found = _cells(line)
    wanted = OWN_HEADER if section == OURS_ALONE else FIELD_HEADER
    if found != wanted:
        page.faults.append(f"line {number}: the columns must be {' | '.join(wanted)}")
    if section != OURS_ALONE and not (re.match(r"\d{3} ", section) and entity):
        page.faults.append(f"line {number}: a table outside a specification's entity")
    return found


def _body_row(page: Page, number: int, cells: tuple[str, ...], section: str, entity: str) -> None:
    wanted = OWN_HEADER if section == OURS_ALONE else FIELD_HEADER
    if len(cells) != len(wanted):
        page.faults.append(f"line {number}: {len(cells)} cells, not {len(wanted)}")
    elif section == OURS_ALONE:
        _own_row(page, number, *cells)
    else:
        _field_row(page, number, cells, (section[:3], entity))


def _own_row(page: Page, number: int, column: str, why: str) -> None:
    if not re.fullmatch(f"`{_COLUMN}`", column):
        page.faults.append(f"line {number}: {column!r} is not one `table.column`")
        return
    if not why:
        page.faults.append(f"line {number}: {column} has no why")
    page.own.append(OwnRow(number, column.strip("`")))


def _field_row(page: Page, number: int, cells: tuple[str, ...], place: tuple[str, str]) -> None:
    label, rule, ours, note = cells
    if not label or not rule:
        page.faults.append(f"line {number}: a row needs a field and a rule")
    names = tuple(_TICKED.findall(label)) if _FIELD_LIST.fullmatch(label) else (label,)
    claims = tuple(_claim(part) for part in ours.split("; "))
    row = Row(number, *place, names, rule, tuple(c for c in claims if c), note)
    if None in claims:
        page.faults.append(f"{row.place}: cannot read {ours!r}")
    if any(c.form == "not kept" for c in row.claims) and (len(claims) > 1 or not note):
        page.faults.append(f"{row.place}: not kept stands alone and needs a note that says why")
    page.rows.append(row)


def _claim(part: str) -> Claim | None:
    for form, pattern in _FORMS.items():
        if found := pattern.fullmatch(part):
            return Claim(form, tuple(_TICKED.findall(part)) if found.groups() else ())
    return None


def problems(page: Page, schema: Schema) -> list[str]:
    """Every way in which page and schema differ; empty when both directions hold."""
    return [
        *page.faults,
        *_duplicates(page),
        *(fault for row in page.rows for fault in _row_problems(row, schema)),
        *_own_problems(page, schema),
        *_unnamed_columns(page, schema),
    ]


def _duplicates(page: Page) -> Iterator[str]:
    fields = Counter((row.spec, row.entity, name) for row in page.rows for name in row.fields)
    yield from (f"{' '.join(key)}: listed {n} times" for key, n in fields.items() if n > 1)
    own = Counter(row.column for row in page.own)
    yield from (f"{OURS_ALONE}, {column}: listed {n} times" for column, n in own.items() if n > 1)


def _row_problems(row: Row, schema: Schema) -> Iterator[str]:
    existing = {"column": schema.columns, "index": schema.indexes, "check": schema.checks}
    for claim in row.claims:
        for name in claim.names:
            if claim.form in existing and name not in existing[claim.form]:
                yield f"{row.place}: the schema has no {claim.form} {name}"
            table = name.partition(".")[0]
            if claim.form in _NEEDS_TABLE_ABSENT and table in schema.tables:
                yield f"{row.place}: says not yet of {name}, but the table {table} exists"


def _own_problems(page: Page, schema: Schema) -> Iterator[str]:
    named = page.named_columns()
    for row in page.own:
        place = f"line {row.line}, {OURS_ALONE}, {row.column}"
        if row.column not in schema.columns:
            yield f"{place}: the schema has no such column"
        if row.column in named:
            yield f"{place}: a specification's section names it too"


def _unnamed_columns(page: Page, schema: Schema) -> Iterator[str]:
    named = page.named_columns() | {row.column for row in page.own}
    yield from (f"{column}: a column that the page does not name" for column in sorted(schema.columns - named))
