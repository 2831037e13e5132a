"""`bailiwick search` and `bailiwick export` as people use them."""

import csv
import io
import os
import pty
import subprocess
from pathlib import Path

import pytest

from bailiwick.db.engine import Database
from tests.cli.tools import PROGRAM, bailiwick, environment
from tests.query.content_tools import Made, domain, parsed

EVIL = "\x1b[2J\x1b]0;owned\x07 heron \u202e\r\nforged line"


@pytest.fixture(scope="module", autouse=True)
def content(store: Database) -> None:
    with store.begin() as conn:
        herons, evil = domain(conn, "herons.org"), domain(conn, "evil.org")
        parsed(conn, herons, "/", Made("A heron stands in the water.", title="Herons"))
        parsed(conn, herons, "/shop", Made("Buy.", title="Shop", items=[("product", {"name": "Heron mug"})]))
        parsed(conn, evil, "/", Made(EVIL, title=EVIL, is_relevant=False))


def test_found_in_a_pipe(land: Path) -> None:
    ran = bailiwick("search", "stands", cwd=land)
    assert (ran.code, ran.out) == (0, "Herons\n  https://herons.org/\n  heron stands in the water\n")
    assert "1 match, shown 1 to 1" in ran.err


def test_found_for_machines(land: Path) -> None:
    rows = bailiwick("search", "heron", "--json", "--domain", "herons.org", cwd=land).rows
    assert {(row["kind"], row["url"]) for row in rows} == {
        ("page", "https://herons.org/"),
        ("product", "https://herons.org/shop"),
    }
    page = next(row for row in rows if row["kind"] == "page")
    assert ["heron", True] in page["parts"]
    assert page["snippet"] == "".join(part for part, _ in page["parts"])


def test_filters_and_facets(land: Path) -> None:
    assert len(bailiwick("search", "heron", "--json", "--kind", "product", cwd=land).rows) == 1
    assert len(bailiwick("search", "heron", "--json", "--relevant", cwd=land).rows) == 2
    assert bailiwick("search", "heron", "--since", "1h", cwd=land).err.endswith("nothing found\n")
    ran = bailiwick("search", "heron", "--facets", cwd=land)
    assert "kind: page 2, product 1" in ran.err
    assert "domain: herons.org 2, evil.org 1" in ran.err
    *hits, counts = bailiwick("search", "heron", "--facets", "--json", "--limit", "1", cwd=land).rows
    assert len(hits) == 1
    assert (counts["total"], counts["is_capped"]) == (3, False)
    assert counts["facets"]["kind"] == [["page", 2], ["product", 1]]
    assert "kind:" not in bailiwick("search", "unheardof", "--facets", cwd=land).err


def test_new_pages_are_found_at_once(land: Path, store: Database) -> None:
    bailiwick("search", "heron", cwd=land)
    with store.begin() as conn:
        parsed(conn, domain(conn, "new.org"), "/", Made("a bittern"))
    assert "https://new.org/" in bailiwick("search", "bittern", cwd=land).out
    with store.begin() as conn:
        parsed(conn, domain(conn, "new.org"), "/", None)
    assert bailiwick("search", "bittern", cwd=land).out == ""


@pytest.mark.parametrize("words", [("-x",), ("the",), ("'",), ("",)])
def test_nothing_to_look_for_is_no_error(land: Path, words: tuple[str, ...]) -> None:
    ran = bailiwick("search", "--", *words, cwd=land)
    assert (ran.code, ran.out) == (0, "")
    assert "there is no word to look for" in ran.err


def test_without_words(land: Path) -> None:
    assert bailiwick("search", cwd=land).code == 2
    assert "made of" in bailiwick("search", "--rebuild", cwd=land).err
    assert "no such" in (ran := bailiwick("search", "x", "--domain", "unknown.org", cwd=land)).err or ran.code == 1


def test_nothing_from_the_web_reaches_the_terminal(land: Path) -> None:
    shown = _on_a_terminal(land, "search", "heron", "--domain", "evil.org")
    for forbidden in (b"\x1b[2J", b"\x1b]0;", b"\x07", "\u202e".encode()):
        assert forbidden not in shown
    assert b"\x1b[33m\x1b[1mheron" in shown, "what matched is coloured by us"
    assert "\u202e" not in bailiwick("search", "heron", "--domain", "evil.org", cwd=land).out


def _on_a_terminal(land: Path, *arguments: str) -> bytes:
    ours, theirs = pty.openpty()
    ended = subprocess.run(
        [PROGRAM, *arguments],
        cwd=land,
        env=environment(TERM="xterm"),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    os.close(theirs)
    assert ended.returncode == 0
    return os.read(ours, 100_000)


def test_export_to_a_pipe(land: Path) -> None:
    rows = bailiwick("export", "pages", "--domain", "herons.org", cwd=land).rows
    assert {row["url"] for row in rows} == {"https://herons.org/", "https://herons.org/shop"}
    ran = bailiwick("export", "items", "--format", "csv", "--kind", "product", cwd=land)
    assert [row["data"] for row in csv.DictReader(io.StringIO(ran.out, newline=""))] == ['{"name":"Heron mug"}']
    assert "herons.org" in {row["domain"] for row in bailiwick("export", "domains", cwd=land).rows}


def test_export_to_files(land: Path) -> None:
    for name in ("p.jsonl", "p.csv", "p.parquet", "p.warc.gz"):
        ran = bailiwick("export", "pages", "-o", name, cwd=land)
        assert ran.code == 0, ran.err
        assert "exported to" in ran.err
    assert (land / "p.parquet").read_bytes()[:4] == b"PAR1"
    assert (land / "p.warc.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert not list(land.glob("*.part*"))
    again = bailiwick("export", "pages", "-o", "p.csv", cwd=land)
    assert (again.code, again.err.splitlines()[0]) == (2, "error: p.csv exists already")
    assert bailiwick("export", "pages", "-o", "p.csv", "--force", cwd=land).code == 0


def test_export_since_the_last_time(land: Path) -> None:
    wish = ("export", "items", "--name", "nightly", "--since", "last")
    assert len(bailiwick(*wish, cwd=land).rows) == 1
    assert bailiwick(*wish, "--kind", "product", cwd=land).code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pages", "--kind", "product"), "pages have no --kind"),
        (("domains", "--relevant"), "domains have no --relevant"),
        (("pages", "--since", "last"), "since the last export of which name?"),
        (("pages", "--since", "yesterday-ish"), "is no time"),
        (("pages", "--format", "parquet"), "parquet goes to a file"),
        (("items", "--format", "warc", "-o", "x.warc.gz"), "WARC holds pages"),
        (("pages", "-o", "."), "is a directory"),
        (("pages", "-o", "no/such/dir.jsonl"), "cannot write"),
    ],
)
def test_wrong_usage_is_told(land: Path, arguments: tuple[str, ...], message: str) -> None:
    ran = bailiwick("export", *arguments, cwd=land)
    assert ran.code == 2
    assert message in ran.err
