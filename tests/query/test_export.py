"""Exports: every row once, the same after a kill in the middle, whole or not at all, and nothing lost between two."""

import csv
import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bailiwick.base.errors import ConflictError, UsageError
from bailiwick.base.sections import StorageSettings
from bailiwick.db.engine import Database
from bailiwick.ports import StoredBody
from bailiwick.query.export import rows as rows_module
from bailiwick.query.export import spool as spool_module
from bailiwick.query.export.formats import Csv, JsonLines
from bailiwick.query.export.kinds import KINDS, Type
from bailiwick.query.export.rows import Which
from bailiwick.query.export.service import Exported, Request, encoder_for, to_file, to_stream
from bailiwick.query.export.warc import fitting_head
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf
from tests.discover.tools import run
from tests.query.content_tools import Made, domain, fetched, key_of, parsed, sold
from tests.registry.tools import shift_clock
from tests.review.tools import routed, urls

FORMATS = ("jsonl", "csv", "parquet")


class Killed(BaseException):
    """As if the process had ended here."""


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "CHUNK", 7)
    monkeypatch.setattr(spool_module, "_NOTE_SECONDS", -1.0)


@pytest.fixture
def land(database: Database) -> Database:
    """40 pages of two domains, every third with an item."""
    with database.begin() as conn:
        for name in ("a.org", "b.org"):
            domain_id = domain(conn, name)
            for n in range(20):
                items = [("product", {"name": f"P{n}", "tags": ["x", None]})] if n % 3 == 0 else []
                parsed(
                    conn,
                    domain_id,
                    f"/{n}",
                    Made(f"text {n}\nnext", title=f"Ä {n}", is_relevant=n % 2 == 0, items=items),
                )
                conn.execute(
                    text("""
                        insert into image_sightings (domain_id, path_hash, url_hash, nth, position, url, image_type,
                                                     found_in, discovery_type)
                        values (:d, :p, 1, 0, 0, 'https://a.org/x.png', 'gallery', 'src', 'discovery')"""),
                    {"d": domain_id, "p": key_of(domain_id, f"/{n}").path_hash},
                )
        sold(conn)
    run(database, {"https://a.org/0": 0.9, "https://a.org/poor": 0.2, "https://b.org/1": 0.8})
    with database.begin() as conn:
        for url, score in zip(urls(conn, 3, domain="a.org"), (0.9, 0.6, 0.1), strict=True):
            routed(conn, url, score)
    return database


def export(database: Database, path: Path, request: Request, **more: Any) -> Exported:
    return to_file(database, request, path, encoder_for(request, lambda: more["store"]), advance=lambda _: None)


def ask(
    kind: str = "pages", format_: str = "jsonl", *, name: str | None = None, since: str | None = None, **which: Any
) -> Request:
    return Request(kind, format_, Which(**which), since=since, name=name)


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".csv":
        return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    if path.suffix == ".parquet":
        import pyarrow.parquet

        return list(pyarrow.parquet.read_table(path).to_pylist())
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    ("kind", "count"), [("pages", 40), ("items", 14), ("domains", 2), ("candidates", 3), ("evaluations", 3)]
)
def test_every_row_is_there_once_with_its_columns(
    land: Database, tmp_path: Path, kind: str, count: int, format_: str
) -> None:
    path = tmp_path / f"out.{format_}"
    assert export(land, path, ask(kind, format_)).rows == count
    rows = read(path)
    assert len(rows) == count
    assert list(rows[0]) == [column.name for column in KINDS[kind].columns]
    assert len({json.dumps(row, default=str) for row in rows}) == count
    assert [p.name for p in tmp_path.iterdir()] == [path.name], "nothing else is left"


def test_columns_are_those_of_the_query(land: Database, tmp_path: Path) -> None:
    for kind in KINDS.values():
        with land.read() as conn:
            keys = rows_module._walk(conn, kind, rows_module.START, 2**63 - 1)
            row = rows_module._rows(conn, kind, Which(), keys)[0]
        assert list(row._fields) == [column.name for column in kind.columns]  # type: ignore[attr-defined]


def test_candidates_and_evaluations_by_status_and_time(land: Database, tmp_path: Path) -> None:
    def exported(file: str, kind: str, **more: Any) -> list[tuple[str, str]]:
        export(land, tmp_path / file, ask(kind, **more))
        return [(row["url"], row["status"]) for row in read(tmp_path / file)]

    high = [("https://a.org/0", "pending_crawl"), ("https://b.org/1", "pending_crawl")]
    assert exported("c", "candidates", states=("pending_crawl",), name="c") == high
    assert exported("e", "evaluations", states=("approved", "waiting")) == [
        ("https://a.org/0", "approved"),
        ("https://a.org/1", "waiting"),
    ]
    shift_clock(land, "1 hour")
    with pytest.raises(ConflictError, match="other filters"):
        exported("other", "candidates", states=("approved",), name="c", since="last")
    with land.begin() as conn:
        conn.execute(
            text("update candidates set crawled_at = bailiwick_now(), state = 'pending_review' where name = 'b.org/1'")
        )
        until = conn.execute(text("select bailiwick_now() - interval '1 minute'")).scalar_one()
    export(land, tmp_path / "new", Request("candidates", "jsonl", Which(since=until)))
    assert [row["url"] for row in read(tmp_path / "new")] == ["https://b.org/1"]


def test_values(land: Database, tmp_path: Path) -> None:
    export(land, tmp_path / "p.jsonl", ask())
    row = next(row for row in read(tmp_path / "p.jsonl") if row["url"] == "https://a.org/3")
    assert row["url_sha256"] == sha256(b"https://a.org/3").hexdigest()
    assert {name: row[name] for name in ("domain", "path", "status", "title", "text", "is_relevant", "markdown")} == {
        "domain": "a.org", "path": "/3", "status": 200, "title": "Ä 3", "text": "text 3\nnext", "is_relevant": False,
        "markdown": None,
    }  # fmt: skip
    export(land, tmp_path / "i.jsonl", ask("items"))
    assert {row["data"]["tags"][0] for row in read(tmp_path / "i.jsonl")} == {"x"}


def test_types_in_parquet(land: Database, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    export(land, tmp_path / "p.parquet", ask("pages", "parquet"))
    file = pyarrow.parquet.ParquetFile(tmp_path / "p.parquet")
    schema = file.schema_arrow
    wanted = {
        Type.TIME: pa.timestamp("us", tz="UTC"),
        Type.INTEGER: pa.int64(),
        Type.BOOLEAN: pa.bool_(),
        Type.NUMBER: pa.float64(),
    }
    for column in KINDS["pages"].columns:
        assert schema.field(column.name).type == wanted.get(column.type, pa.string())
    assert file.metadata.num_rows == 40


def test_filters(land: Database, tmp_path: Path) -> None:
    with land.read() as conn:
        a = conn.execute(text("select id from domains where name = 'a.org'")).scalar_one()
    wanted = {
        ask(domain_ids=(a,)): 20,
        ask(domain_ids=(a, a + 10**6)): 20,
        ask(domain_ids=(a,), only_relevant=True): 10,
        ask("items", domain_ids=(a,)): 7,
        ask("items", item_kinds=("product",)): 14,
        ask("items", item_kinds=("article",)): 0,
        ask("domains", domain_ids=(a,)): 1,
    }
    for number, (request, count) in enumerate(wanted.items()):
        assert export(land, tmp_path / f"{number}.jsonl", request).rows == count, request


@pytest.mark.parametrize("format_", FORMATS)
def test_killed_at_every_chunk_it_goes_on(
    land: Database, tmp_path: Path, format_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / f"whole.{format_}"
    export(land, whole, ask("pages", format_))
    for chunk in range(1, 7):
        path = tmp_path / f"{chunk}.{format_}"
        with dying_at(chunk, monkeypatch):
            export(land, path, ask("pages", format_))
        assert not path.exists()
        part = path.with_name(f"{path.name}.part")
        with part.open("ab") as file:
            file.write(b"half a chunk that was never noted")
        done = export(land, path, ask("pages", format_))
        assert (done.rows, done.resumed_at) == (40, (chunk - 1) * 7)
        assert read(path) == read(whole)
        assert not part.exists()


@contextmanager
def dying_at(chunk: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The process ends while it makes this chunk."""
    with monkeypatch.context() as patched:
        _die_after(patched, chunk)
        with pytest.raises(Killed):
            yield


def _die_after(patched: pytest.MonkeyPatch, chunk: int) -> None:
    count = iter(range(100))

    def encode(encode: Any, self: Any, rows: Any) -> bytes:
        if next(count) == chunk - 1:
            raise Killed
        return bytes(encode(self, rows))

    from bailiwick.query.export.parquet import Parquet

    for encoder in (JsonLines, Csv, Parquet):
        old = encoder.encode
        patched.setattr(encoder, "encode", lambda self, rows, old=old: encode(old, self, rows))


def test_a_part_of_another_export_is_not_mixed_in(
    land: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.jsonl"
    with dying_at(3, monkeypatch):
        export(land, path, ask())
    with pytest.raises(ConflictError, match="part of another export"):
        export(land, path, ask(only_relevant=True))
    request = ask(only_relevant=True)
    done = to_file(land, request, path, JsonLines(request.source.columns), force=True, advance=lambda _: None)
    assert (done.rows, done.resumed_at) == (20, 0)


def test_a_damaged_note_means_a_new_start(land: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.jsonl"
    for damage in ("", "{", "[]", '{"rows": "x"}'):
        with dying_at(3, monkeypatch):
            export(land, path, ask())
        (tmp_path / "p.jsonl.part.json").write_text(damage)
        assert export(land, path, ask()).resumed_at == 0
        assert len(read(path)) == 40
        path.unlink()


def test_a_part_that_lost_bytes_means_a_new_start(
    land: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.jsonl"
    with dying_at(3, monkeypatch):
        export(land, path, ask())
    (tmp_path / "p.jsonl.part").write_bytes(b"")
    assert export(land, path, ask()).resumed_at == 0
    assert len(read(path)) == 40


def test_a_file_is_not_replaced_unasked(land: Database, tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("precious")
    with pytest.raises(UsageError, match="exists already"):
        export(land, path, ask())
    assert path.read_text() == "precious"
    to_file(land, ask(), path, JsonLines(ask().source.columns), force=True, advance=lambda _: None)
    assert len(read(path)) == 40


def test_two_exports_of_one_file_do_not_mix(land: Database, tmp_path: Path) -> None:
    outcomes: list[BaseException] = []

    def meanwhile(_: int) -> None:
        if not outcomes:
            with pytest.raises(ConflictError, match="another export is writing") as raised:
                export(land, tmp_path / "p.jsonl", ask())
            outcomes.append(raised.value)

    to_file(land, ask(), tmp_path / "p.jsonl", JsonLines(ask().source.columns), advance=meanwhile)
    assert len(outcomes) == 1


def test_only_what_changed_since_the_last_time(land: Database, tmp_path: Path) -> None:
    request = ask(name="daily", since="last")
    numbers: Iterator[int] = iter(range(100))

    def urls() -> set[str]:
        path = tmp_path / f"{next(numbers)}.jsonl"
        export(land, path, request)
        return {row["url"] for row in read(path)}

    shift_clock(land, "10 minutes")
    assert len(urls()) == 40, "the first one has everything"
    shift_clock(land, "1 hour")
    assert urls() == set()
    shift_clock(land, "2 hours")
    with land.begin() as conn:
        a = domain(conn, "a.org")
        parsed(conn, a, "/3", Made("changed"))
        parsed(conn, a, "/new", Made("new"))
        fetched(conn, a, "/4")
    shift_clock(land, "150 minutes")
    assert urls() == {"https://a.org/3", "https://a.org/new"}
    shift_clock(land, "3 hours")
    assert urls() == set()
    with pytest.raises(ConflictError, match="other filters"):
        export(land, tmp_path / "other.jsonl", replace(request, which=Which(only_relevant=True)))


def test_a_cursor_moves_only_when_the_file_is_there(
    land: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ask(name="daily", since="last")
    with dying_at(3, monkeypatch):
        export(land, tmp_path / "1.jsonl", request)
    with land.read() as conn:
        assert conn.execute(text("select count(*) from export_cursors")).scalar_one() == 0
    assert export(land, tmp_path / "1.jsonl", request).rows == 40
    with land.read() as conn:
        assert conn.execute(text("select name, kind from export_cursors")).one() == ("daily", "pages")


def test_what_a_slow_transaction_commits_late_is_not_lost(land: Database, tmp_path: Path) -> None:
    """Its rows carry the time of its start, which is before the end of an export that could not see them."""
    request = ask(name="daily", since="last")
    started, go_on = threading.Event(), threading.Event()

    def slowly() -> None:
        with land.begin() as conn:
            parsed(conn, domain(conn, "late.org"), "/late", Made("late"))
            started.set()
            go_on.wait(30)

    thread = threading.Thread(target=slowly)
    thread.start()
    assert started.wait(30)
    assert export(land, tmp_path / "1.jsonl", request).rows == 40
    go_on.set()
    thread.join(30)
    export(land, tmp_path / "2.jsonl", request)
    assert "https://late.org/late" in {row["url"] for row in read(tmp_path / "2.jsonl")}


def test_no_formula_gets_into_a_spreadsheet(database: Database, tmp_path: Path) -> None:
    evil = ["=cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", 'quo"te', "line\nfeed", "plain"]
    with database.begin() as conn:
        for number, title in enumerate(evil):
            parsed(conn, domain(conn, "a.org"), f"/{number}", Made("x", title=title))
    export(database, tmp_path / "p.csv", ask("pages", "csv"))
    titles = {row["path"]: row["title"] for row in read(tmp_path / "p.csv")}
    assert [titles[f"/{n}"] for n in range(6)] == [f"'{title}" for title in evil[:6]]
    assert [titles[f"/{n}"] for n in range(6, 9)] == evil[6:]


def test_a_stream_has_the_same_lines(land: Database, tmp_path: Path) -> None:
    for format_ in ("jsonl", "csv"):
        stream = io.BytesIO()
        request = ask("pages", format_)
        assert to_stream(land, request, stream, encoder_for(request, lambda: None)).rows == 40  # type: ignore[arg-type, return-value]
        export(land, tmp_path / f"p.{format_}", request)
        assert stream.getvalue() == (tmp_path / f"p.{format_}").read_bytes()


def test_warc_is_for_pages(land: Database) -> None:
    with pytest.raises(UsageError, match="WARC holds pages"):
        encoder_for(ask("items", "warc"), lambda: None)  # type: ignore[arg-type, return-value]


HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nContent-Length: 17\r\n"
    b"Transfer-Encoding: chunked\r\nSet-Cookie: session=secret\r\n  folded=secret\r\nX-Odd: \xff\r\n\r\n"
)


def test_warc_records_are_consistent_and_readable(database: Database, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator
    from warcio.checker import Checker

    store = PackStore(Shelf(database, tmp_path / "packs", "a machine", StorageSettings()))
    bodies = {"/": b"<p>home</p>", "/empty": b"", "/big": bytes(range(256)) * 4000}
    with database.begin() as conn:
        domain_id = domain(conn, "a.org")
        for path, body in bodies.items():
            ref = store.put(StoredBody(domain_id, 1, HEAD, body))
            place = {"pack_id": ref.pack_id, "pack_offset": ref.offset, "pack_length": ref.length}
            fetched(conn, domain_id, path, **place)
        fetched(conn, domain_id, "/gone", pack_id=999, pack_offset=0, pack_length=10)
        fetched(conn, domain_id, "/bodiless")
    store.sync()
    path = tmp_path / "pages.warc.gz"
    done = export(database, path, ask("pages", "warc"), store=store)
    assert (done.rows, done.missing) == (4, 1)
    found = {}
    with path.open("rb") as file:
        records = ArchiveIterator(file, check_digests="raise")
        first = next(records)
        assert (first.rec_type, first.rec_headers.protocol) == ("warcinfo", "WARC/1.1")
        for record in records:
            assert record.rec_type == "response"
            url = record.rec_headers["WARC-Target-URI"]
            found[url.removeprefix("https://a.org")] = record.content_stream().read()
            headers = record.http_headers
            assert headers.get_statuscode() == "200"
            assert headers["Content-Length"] == str(len(found[url.removeprefix("https://a.org")]))
            assert headers["X-Archive-Orig-Content-Encoding"] == "gzip"
            assert headers["Content-Encoding"] is None
            assert headers["Transfer-Encoding"] is None
    assert found == bodies
    assert b"secret" not in path.read_bytes()
    checker = Checker(type("Options", (), {"inputs": [str(path)], "verbose": False})())
    checker.process_all()
    assert not checker.exit_value
    store.close()


@pytest.mark.parametrize(
    "head", [b"", b"\x00\xff", b"HTTP/1.1 200 OK", b"garbage\r\nno colon\r\n\r\n", b"HTTP/1.1 404\nA: b\n\n"]
)
def test_odd_heads_become_proper_ones(head: bytes) -> None:
    fitted = fitting_head(StoredBody(1, 1, head, b"abc"))
    assert fitted.startswith(b"HTTP/1.")
    assert fitted.endswith(b"\r\nContent-Length: 3\r\n\r\n")
