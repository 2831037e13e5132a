"""`bailiwick review` as people use it, and what other commands say of the queue. Each test has a domain of its own."""

import io
import json
import re
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest
from sqlalchemy import text

from bailiwick.base.review_sections import ReviewSettings
from bailiwick.cli.main import main
from bailiwick.db.engine import Database
from tests.cli.domain_tools import add_member
from tests.cli.tools import Ran
from tests.cli.tools import bailiwick as program
from tests.review.tools import job, queued, routed, urls

WIDER = [
    {"name": "top", "min": 0.6, "max": 1, "action": "auto_approve"},
    {"name": "rest", "min": 0, "max": 0.59, "action": "reject"},
]


@pytest.fixture(scope="module", autouse=True)
def people(store: Database) -> None:
    """What is handed in is the operator's; these two review it."""
    add_member(store, "ada", "reviewer")
    add_member(store, "carl", "admin")


def bailiwick(*arguments: str, cwd: Path, stdin: str = "") -> Ran:
    """The program in this process: its start would cost ten times as much as what it does."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with chdir(cwd), redirect_stdout(out), redirect_stderr(err), patch("sys.stdin", io.StringIO(stdin)):
        code = main(list(arguments))
    said = [stream.detach().getvalue().decode() for stream in (out, err)]
    return Ran(code, *said)


def review(*arguments: str, cwd: Path, as_: str = "ada", stdin: str = "") -> Ran:
    return bailiwick("--as", as_, "review", *arguments, cwd=cwd, stdin=stdin)


def made(store: Database, domain: str, scores: Sequence[float]) -> list[str]:
    """Ids of entries that wait, of a job with the domain's name."""
    with store.begin() as conn:
        pages = urls(conn, len(scores), domain=domain, job_id=job(conn, domain))
        return [str(entry.id) for entry in queued(conn, scores, where=pages)]


def test_the_queue_is_listed_filtered_and_paged(land: Path, store: Database) -> None:
    made(store, "list.example", (0.7, 0.31, 0.55, 0.6))
    mine = ("--domain", "list.example", "--job", "list.example")
    shown = review("list", *mine, "--band", "low", cwd=land)
    assert "0.31   low" in shown.out
    ordered = (*mine, "--order", "information")
    first = review("list", *ordered, "--limit", "2", "--json", cwd=land)
    assert [row["confidence_score"] for row in first.rows] == [0.55, 0.6]
    assert f"--after {first.rows[-1]['cursor']}" in first.err
    rest = review("list", *ordered, "--json", "--after", first.rows[-1]["cursor"], cwd=land)
    assert [row["confidence_score"] for row in rest.rows] == [0.7, 0.31]
    assert "nothing is waiting" in review("list", *mine, "--older-than", "1d", cwd=land).err
    for wrong in (("--after", "x"), ("--min-score", "0.9", "--max-score", "0.1")):
        assert review("list", *wrong, cwd=land).code == 2


def test_one_entry_is_shown_with_its_evidence(land: Path, store: Database) -> None:
    [entry] = made(store, "show.example", (0.7,))
    shown = review("show", entry, cwd=land).out
    for line in (
        "+ domain age                 value 365, threshold 180",
        "- tld type                   value info, red flags info, tk",
        "? registrar reputation       not checked: the registry did not answer",
        "* write for us               found",
        "“Write for us!”  https://site.example/write",
        "author bio                 not found",
        "+ design quality             0.70  Clean layout",
        "confidence  0.70 medium (evidence 0.70), profile general, weights abc",
    ):
        assert line in shown
    [row] = review("show", entry, "--json", cwd=land).rows
    assert row["layer2_results"]["unchecked"] == {"excessive_ads": "the page has no styles"}
    assert row["evidence"]["layer2"]["write_for_us"][0]["text"] == "Write for us!"


def test_take_decide_and_take_it_back(land: Path, store: Database) -> None:
    one, two = made(store, "decide.example", (0.7, 0.4))
    assert f"entry {one} (decide.example/" in review("claim", one, cwd=land).out
    other = review("approve", one, as_="carl", cwd=land)
    assert (other.code, "is held by ada until" in other.err) == (1, True)
    assert review("claim", one, "--take-over", as_="carl", cwd=land).code == 0
    assert "is free" in review("release", one, as_="carl", cwd=land).out
    done = review("reject", one, two, "99999", "--notes", "link farms", cwd=land)
    assert (done.code, done.out.count(" is rejected: link farms (undo within 10 minutes)")) == (1, 2)
    assert "there is no entry 99999" in done.err
    assert "was rejected by ada, " in review("approve", two, as_="carl", cwd=land).err
    assert "waits again" in review("undo", one, cwd=land).out
    late = review("undo", two, as_="carl", cwd=land)
    assert f"hint: an admin can look at it again: bailiwick review requeue {two}" in late.err
    assert "waits again" in review("requeue", two, "--reason", "sold", as_="carl", cwd=land).out


def test_notes_reasons_and_targets_are_asked_for(land: Path) -> None:
    assert review("reject", "1", cwd=land).code == 2
    assert "needs a reason" in review("requeue", "1", as_="carl", cwd=land).err
    assert "give IDs, or --overflow" in review("requeue", cwd=land).err


def test_the_next_one_is_taken_and_shown(land: Path, store: Database) -> None:
    made(store, "next.example", (0.7,))
    [taken] = program("--as", "ada", "review", "next", "--json", cwd=land).rows  # in a process of its own
    assert taken["claimed_by"] == "ada"
    again = review("next", cwd=land)
    assert f"[{taken['id']}]" in again.out
    assert f"review approve {taken['id']}" in again.err
    assert review("release", str(taken["id"]), cwd=land).code == 0


def test_stale_ones_are_marked_when_a_time_is_set(land: Path, store: Database) -> None:
    _, old = made(store, "stale.example", (0.7, 0.4))
    unset = review("stale", cwd=land)
    assert (unset.code, "auto_review_timeout_days" in unset.err) == (2, True)
    assert bailiwick("settings", "set", "review.auto_review_timeout_days", "7", cwd=land).code == 0
    with store.begin() as conn:
        shift = "update review_queue set queued_at = bailiwick_now() - interval '8 days' where id = :i"
        conn.execute(text(shift), {"i": old})
    assert "1 URLs are stale now" in review("stale", cwd=land).out
    listed = review("list", "--stale", "--domain", "stale.example", "--json", cwd=land).rows
    assert [str(row["id"]) for row in listed] == [old]
    [figures] = review("stats", "--json", cwd=land).rows
    assert (figures["stale"], figures["waiting"] >= 2) == (1, True)


def test_overflow_is_taken_in_again(land: Path, store: Database) -> None:
    made(store, "full.example", (0.7,))
    with store.begin() as conn:
        for url in urls(conn, 3, domain="full.example", job_id=job(conn, "full.example")):
            assert routed(conn, url, 0.6, ReviewSettings(queue_size_limit=1)).status == "queue_overflow"
    assert "1 URLs were taken into the queue" in review("requeue", "--overflow", "--limit", "1", cwd=land).out
    assert "2 URLs were taken into the queue" in review("requeue", "--overflow", cwd=land).out


def test_bands_are_changed_knowing_what_that_means(land: Path, store: Database) -> None:
    made(store, "bands.example", (0.7, 0.55, 0.31))
    before = {row["band"]: row for row in review("bands", "--json", cwd=land).rows}
    assert before["medium"]["max"] == 0.79
    assert before["medium"]["evaluated"] >= 2
    (land / "bands.json").write_text(json.dumps(WIDER), encoding="utf-8")
    no = review("bands", "--set", "bands.json", as_="carl", stdin="n\n", cwd=land)
    assert no.code != 0
    elsewhere = re.search(
        r"of (\d+) past evaluations (\d+) would have gone elsewhere: .*manual_review → reject", no.err
    )
    assert elsewhere is not None
    assert int(elsewhere[2]) == sum(row["evaluated"] for row in before.values() if row["action"] == "manual_review")
    assert re.search(r"medium +manual_review +top +auto_approve", no.out)
    gap = '[{"name": "a", "min": 0, "max": 0.5, "action": "reject"}]'
    for wrong, why in (
        (gap, "no band for scores from 0.5 to 1"),
        ("nowhere", "cannot read nowhere"),
        ("[1", "no JSON"),
    ):
        bad = review("bands", "--set", wrong, "--yes", as_="carl", cwd=land)
        assert (bad.code, why in bad.err) == (2, True), bad
    assert bailiwick("settings", "show", "review.bands", "--json", cwd=land).rows[0]["origin"] == "default"
    assert "(reviewer) may not do this" in review("bands", "--set", json.dumps(WIDER), "--yes", cwd=land).err
    assert review("bands", "--set", json.dumps(WIDER), "--yes", as_="carl", cwd=land).code == 0
    told = bailiwick("settings", "set", "review.bands", "--default", cwd=land)
    assert told.code == 0
    assert "would have gone elsewhere" in bailiwick("settings", "set", "review.bands", json.dumps(WIDER), cwd=land).err


def test_evaluations_are_exported_by_status(land: Path, store: Database) -> None:
    made(store, "export.example", (0.7,))
    rows = bailiwick("export", "evaluations", "--status", "waiting", "--domain", "export.example", cwd=land).rows
    assert [(row["status"], row["confidence_band"], row["is_stale"]) for row in rows] == [("waiting", "medium", False)]
    assert set(rows[0]["layer1_results"]) >= {"domain_age", "unchecked"}
    assert bailiwick("export", "evaluations", "--status", "odd", cwd=land).code == 2
    assert bailiwick("export", "pages", "--status", "approved", cwd=land).code == 2


def test_a_job_is_deleted_after_its_entries_were_named(land: Path, store: Database) -> None:
    one, *_ = made(store, "gone.example", (0.7, 0.6, 0.5))
    assert review("approve", one, cwd=land).code == 0
    with store.begin() as conn:
        conn.execute(text("update jobs set state = 'cancelled' where name = 'gone.example'"))
    no = bailiwick("job", "delete", "gone.example", stdin="n\n", cwd=land)
    assert "With job gone.example go 3 evaluations, 2 that wait for review and 1 decided there" in no.err
    done = bailiwick("job", "delete", "gone.example", "--yes", cwd=land)
    assert "with 3 evaluations and 3 entries of the review queue" in done.out
    assert "there is no entry" in review("show", one, cwd=land).err
