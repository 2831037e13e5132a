"""docs/reference/fields.md against the schema, both ways, and against the specifications if they are here."""

import os
from pathlib import Path

import pytest
from sqlalchemy import CheckConstraint, Column, Index, Integer, MetaData, Table, UniqueConstraint

from bailiwick.db.tables import metadata
from tests.docs import spec_fields
from tests.docs.fields_page import Page, Schema, parse, problems, schema_of

ROOT = Path(__file__).parents[2]
PAGE = parse((ROOT / "docs/reference/fields.md").read_text(encoding="utf-8"))
SPECS = Path(os.environ.get("BAILIWICK_SPECS") or ROOT.parent / "shared/specs")

# Counted by reading: (fields, indexes) that a specification declares in the forms that spec_fields reads.
COUNTED = {"000": (20, 0), "001": (46, 5), "002": (39, 10), "003": (113, 3), "004": (77, 20)}

# Fields that a specification names only in running text or in queries, where spec_fields does not look.
IN_PROSE = {
    ("000", "members"): {"id"},
    ("000", "page_snapshots"): {"id", "crawled_at"},
    ("000", "extractions"): {"id", "page_snapshot_id"},
    ("000", "DiscoverDomain"): {"domain_id", "start_url", "max_depth", "rate_limit"},
    ("001", "FundingSourceCandidate"): {"status", "confidenceScore", "validation_notes"},
    ("002", "domains"): {"frontier_snapshot", "parent_domain", "error_count", "priority"},
    ("002", "transition_domain_status"): {
        "p_domain_id",
        "p_from_status",
        "p_to_status",
        "p_worker_id",
        "p_expected_version",
    },
    ("002", "images"): {"last_seen_at"},
    ("002", "crawl_runs"): {"id"},
    ("002", "crawl_log"): {"domain", "domain_id", "page_url", "status", "images_found", "crawled_at"},
    ("002", "provenance"): {"source_domain", "domain_id", "image_id", "discovery_type"},
    ("003", "ManualReviewSettings"): {"settings"},
    ("004", "error_logs"): {"crawl_task_id", "error_type", "error_message", "stack_trace", "occurred_at"},
    ("004", "Rate limits"): {"domain_id", "proxy_id", "request_count", "window_start"},
    ("004", "products"): {"parser_version"},
}


def listed(spec: str, entity: str) -> set[str]:
    return {name for row in PAGE.rows if (row.spec, row.entity) == (spec, entity) for name in row.fields}


def test_page_and_schema_agree_both_ways() -> None:
    assert problems(PAGE, schema_of(metadata)) == []


def test_page_has_all_five_specifications() -> None:
    assert {row.spec for row in PAGE.rows} == set(COUNTED)


@pytest.mark.parametrize(("spec", "entity"), IN_PROSE)
def test_fields_named_in_prose_are_listed(spec: str, entity: str) -> None:
    assert IN_PROSE[spec, entity] - listed(spec, entity) == set()


# Defined only where the specifications are: a test that cannot run is not a skipped test.
if SPECS.is_dir():

    def spec_text(spec: str) -> str:
        (path,) = SPECS.glob(f"{spec}_*.txt")
        return path.read_text(encoding="utf-8")

    @pytest.fixture(params=COUNTED)
    def spec(request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_reader_finds_what_was_counted(spec: str) -> None:
        text = spec_text(spec)
        found = {(f.entity, f.name) for f in spec_fields.fields(spec, text)}
        counted_fields, counted_indexes = COUNTED[spec]
        assert len(found) >= counted_fields
        assert len(spec_fields.index_names(text)) >= counted_indexes

    def test_every_declared_field_is_listed(spec: str) -> None:
        declared = spec_fields.fields(spec, spec_text(spec))
        names = {e: set(map(spec_fields.snake, listed(spec, e))) for e in {f.entity for f in declared}}
        assert sorted({f"{f.entity}.{f.name}" for f in declared if f.name not in names[f.entity]}) == []

    def test_every_default_is_in_its_rule(spec: str) -> None:
        rules = {
            (row.entity, spec_fields.snake(name)): row.rule.lower()
            for row in PAGE.rows
            for name in row.fields
            if row.spec == spec
        }
        declared = [f for f in spec_fields.fields(spec, spec_text(spec)) if f.default]
        assert [f for f in declared if f"default {f.default}" not in rules.get((f.entity, f.name), "")] == []

    def test_every_named_object_is_listed(spec: str) -> None:
        names = {name for row in PAGE.rows if row.spec == spec for name in row.fields}
        assert sorted(spec_fields.objects(spec_text(spec)) - names) == []

    def test_every_value_of_a_list_is_named(spec: str) -> None:
        cells = " ".join(f"{' '.join(row.fields)} {row.rule}" for row in PAGE.rows if row.spec == spec)
        words = set(cells.lower().replace(",", " ").replace(":", " ").split())
        assert sorted(spec_fields.values(spec_text(spec)) - words) == []


# A comparison that cannot fail proves nothing: each rule is broken once on a small page.

HEAD = "| field | rule | ours | note |\n| --- | --- | --- | --- |\n"
OWN = "\n## Ours alone\n\n| column | why |\n| --- | --- |\n"
SMALL = Schema(frozenset({"t"}), frozenset({"t.a"}), frozenset({"t_a_idx"}), frozenset({"t_a_check"}))


def small_page(*rows: str, own: str = "") -> Page:
    body = "\n".join(("| `a` | int | `t.a` | |", *rows))
    return parse(f"# Fields\n\n## 000 Small\n\n### thing\n\n{HEAD}{body}\n{OWN}{own}\n")


@pytest.mark.parametrize(
    "row",
    [
        "| `b`, `c` | int | not yet: `later.b`, `later.c` | |",
        "| `b` | int | `t.a`; not yet: `later.b` | |",
        "| `b` | int | not kept | nobody asks for it |",
        "| `b` | int | setting `some.thing` | |",
        "| `b` | int | not yet: setting `some.deep.thing` | |",
        "| `b` | index | index `t_a_idx` | |",
        "| `b` | index | not yet: index on `later.b`, `later.c` | |",
        "| values of `a` | one of x, y | check `t_a_check` | |",
        "| values of `b` | one of x, y | not yet: check on `later.b` | |",
    ],
)
def test_every_form_is_read(row: str) -> None:
    assert problems(small_page(row), SMALL) == []


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ("| `b` | int | `t.b` | |", "line 10, 000 thing: b: the schema has no column t.b"),
        ("| `b` | index | index `t_b_idx` | |", "the schema has no index t_b_idx"),
        ("| `b` | check | check `t_b_check` | |", "the schema has no check t_b_check"),
        (
            "| `b` | int | not yet: `t.b` | |",
            "line 10, 000 thing: b: says not yet of t.b, but the table t exists",
        ),
        ("| `b` | index | not yet: index on `t.b` | |", "says not yet of t.b"),
        ("| `b` | check | not yet: check on `t.b` | |", "says not yet of t.b"),
        ("| `b` | int | `t.a`; not yet: `t.b` | |", "says not yet of t.b"),
        ("| `b` | int | not kept | |", "needs a note"),
        ("| `b` | int | not kept; `t.a` | why | |", "5 cells, not 4"),
        ("| `b` | int | not kept; `t.a` | why |", "stands alone"),
        ("| `b` | int | | |", "cannot read ''"),
        ("| `b` | int | t.a | |", "cannot read 't.a'"),
        ("| `b` | int | `a` | |", "cannot read '`a`'"),
        ("| `b` | int | perhaps `t.a` | |", "cannot read"),
        ("| `b` | int | setting `single` | |", "cannot read"),
        ("| `b` | index | index on `t.a` | |", "cannot read"),
        ("| `b` | index | not yet: index `t_a_idx` | |", "cannot read"),
        ("| `b` | | `t.a` | |", "needs a field and a rule"),
        ("| `a` | int | `t.a` | |", "000 thing a: listed 2 times"),
        ("| `b`, `a` | int | `t.a` | |", "000 thing a: listed 2 times"),
    ],
)
def test_a_bad_row_is_reported(row: str, complaint: str) -> None:
    assert any(complaint in problem for problem in problems(small_page(row), SMALL))


@pytest.mark.parametrize(
    ("own", "complaint"),
    [
        ("| `t.z` | gone |", "Ours alone, t.z: the schema has no such column"),
        ("| `t.a` | twice |", "a specification's section names it too"),
        ("| `t.a` | once |\n| `t.a` | again |", "Ours alone, t.a: listed 2 times"),
        ("| `t.a` | |", "has no why"),
        ("| t.a | bare |", "is not one `table.column`"),
    ],
)
def test_a_bad_row_of_ours_alone_is_reported(own: str, complaint: str) -> None:
    assert any(complaint in problem for problem in problems(small_page(own=own), SMALL))


def test_a_column_that_no_row_names_is_reported() -> None:
    wider = Schema(SMALL.tables, SMALL.columns | {"t.new"}, SMALL.indexes, SMALL.checks)
    assert problems(small_page(), wider) == ["t.new: a column that the page does not name"]
    assert problems(small_page(own="| `t.new` | why not |"), wider) == []


def test_a_later_column_does_not_count_as_named() -> None:
    wider = Schema(SMALL.tables, SMALL.columns | {"t.new"}, SMALL.indexes, SMALL.checks)
    found = problems(small_page("| `new` | int | not yet: `t.new` | |"), wider)
    assert "t.new: a column that the page does not name" in found


def test_a_table_in_the_wrong_place_or_form_is_reported() -> None:
    assert parse(f"## 000 Small\n\n{HEAD}").faults == ["line 3: a table outside a specification's entity"]
    wrong = "## 000 Small\n\n### thing\n\n| field | ours |\n| --- | --- |\n"
    assert parse(wrong).faults == ["line 5: the columns must be field | rule | ours | note"]


def test_schema_is_read_from_metadata() -> None:
    tables = MetaData()
    column = Column("a", Integer)
    checks = (CheckConstraint("a > 0", name="t_a_check"), UniqueConstraint("a", name="t_a_key"))
    Table("t", tables, column, *checks, Index("t_a_idx", column))
    assert schema_of(tables) == Schema(
        frozenset({"t"}), frozenset({"t.a"}), frozenset({"t_a_idx", "t_a_key"}), frozenset({"t_a_check"})
    )
