"""`bailiwick judge` as people use it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.tools import PROGRAM, bailiwick, environment

GRANT = {"url": "https://lakes.gov/grants", "title": "Small grants for lakes", "snippet": "Deadline: 1 March 2027"}
AWARD = {"url": "https://lakeherald.com/x", "title": "Lake club wins grant", "snippet": "It was awarded on Monday."}
DAY = ("--today", "2026-11-16")


def lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


def test_a_file_is_judged_without_a_database(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text(lines(AWARD, GRANT))
    ran = bailiwick("judge", "results.jsonl", "--profile", "funding", "--json", *DAY, cwd=tmp_path)
    assert ran.code == 0
    award, grant = ran.rows
    assert (award["should_crawl"], grant["should_crawl"]) == (False, True)
    assert (grant["line"], grant["url"], grant["domain_name"]) == (2, "https://lakes.gov/grants", "lakes.gov")
    assert set(grant) >= {
        "confidence_score", "should_crawl", "domain_name", "judge_scores", "reasoning", "threshold",
        "extracted_organization_name", "extracted_program_name",
    }  # fmt: skip
    assert {"judge_name", "score", "weight", "explanation"} == set(grant["judge_scores"][0])
    weights = [score["weight"] for score in grant["judge_scores"]]
    mean = sum(score["score"] * score["weight"] for score in grant["judge_scores"]) / sum(weights)
    assert grant["confidence_score"] == pytest.approx(mean, abs=1e-6)
    assert "judged 2 results, 1 of them to be crawled" in ran.err
    assert not (tmp_path / ".bailiwick").exists()


def test_people_see_the_best_first_with_reasons(tmp_path: Path) -> None:
    ran = bailiwick("judge", "-", "--profile", "funding", *DAY, cwd=tmp_path, stdin=lines(AWARD, GRANT))
    assert ran.code == 0
    head, first, why, second, _ = ran.out.splitlines()
    assert head.split() == ["CONFIDENCE", "CRAWL", "URL", "TITLE"]
    assert ("yes" in first, "no" in second) == (True, True)
    assert "recency 0.90: open until 2027-03-01" in why
    only = bailiwick("judge", "-", "--profile", "funding", "--limit", "1", cwd=tmp_path, stdin=lines(AWARD, GRANT))
    assert "Small grants for lakes" in only.out
    assert "Lake club" not in only.out


def test_bad_lines_are_counted_and_explained(tmp_path: Path) -> None:
    bad = [
        {"title": "no url"}, {"url": "javascript:alert(1)"}, {"url": "data:text/html,x"}, {"url": "http://10.0.0.1/"},
        {"url": "x" * 5000}, "nonsense", "[1, 2]", "[" * 9_999, {"url": 5}, "", {"url": "https://ok.org/", "title": 7},
    ]  # fmt: skip
    ran = bailiwick("judge", "-", "--json", cwd=tmp_path, stdin=lines(*bad, GRANT, GRANT))
    assert ran.code == 0
    assert [row["line"] for row in ran.rows] == [11, 12, 13]
    assert "line 1 is not judged: no url\n" in ran.err
    assert "line 2 is not judged: 'javascript:alert(1)' is neither http nor https" in ran.err
    assert "line 4 is not judged: '10.0.0.1' is an IP address" in ran.err
    assert "line 8 is not judged: no JSON" in ran.err
    assert "judged 3 results" in ran.err
    assert "pages that came before: 1; lines not judged: 9" in ran.err


def test_only_some_refusals_are_shown_but_all_are_counted(tmp_path: Path) -> None:
    ran = bailiwick("judge", "-", "--json", cwd=tmp_path, stdin="x\n" * 500)
    assert (ran.code, ran.out, ran.err.count("is not judged")) == (0, "", 20)
    assert "lines not judged: 500" in ran.err


def test_markup_and_control_characters_do_not_come_out(tmp_path: Path) -> None:
    row = {
        "link": "https://lakes.gov/",
        "title": "<b>Grants</b> &amp; \x1b[31mmore\u202e",
        "description": "grant " * 20_000,
    }
    [judged] = bailiwick("judge", "-", "--profile", "funding", "--json", cwd=tmp_path, stdin=lines(row)).rows
    assert judged["title"] == "Grants & [31mmore"
    shown = bailiwick("judge", "-", "--profile", "funding", cwd=tmp_path, stdin=lines(row))
    assert "\x1b" not in shown.out


def test_a_line_without_end_is_not_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "long.jsonl").write_text('{"url": "' + "x" * 3_000_000 + '"}\n' + lines(GRANT))
    ran = bailiwick("judge", "long.jsonl", "--json", cwd=tmp_path)
    assert [row["line"] for row in ran.rows] == [2]
    assert "line 1 is not judged: longer than 1,000,000 bytes" in ran.err


def test_the_threshold_and_places_in_engines(tmp_path: Path) -> None:
    row = GRANT | {"engine": "a", "query": "lakes", "position": 3}
    high, low = (
        bailiwick("judge", "-", "--threshold", given, "--json", cwd=tmp_path, stdin=lines(row)).rows[0]
        for given in ("1", "0")
    )
    assert (high["should_crawl"], low["should_crawl"], low["threshold"]) == (False, True, 0)
    assert "agreement" in [score["judge_name"] for score in low["judge_scores"]]


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "many.jsonl").write_text(lines(*([GRANT] * 5_000)))
    done = subprocess.run(
        f"'{PROGRAM}' judge many.jsonl --json | head -n 1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert "error" not in done.stderr


def test_wrong_usage(tmp_path: Path) -> None:
    for arguments in (
        ["missing.jsonl"],
        ["-", "--threshold", "2"],
        ["-", "--today", "soon"],
        ["-", "--profile", "no"],
    ):
        assert bailiwick("judge", *arguments, cwd=tmp_path).code == 2


def test_an_unknown_judge_is_named(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "bailiwick.toml").touch()
    (tmp_path / "profiles" / "odd.toml").write_text('extends = "funding"\ntitle = "Odd"\njudges = [{name = "stars"}]\n')
    ran = bailiwick("judge", "-", "--profile", "odd", cwd=tmp_path, stdin=lines(GRANT))
    assert (ran.code, ran.out) == (1, "")
    assert "error: profile odd: there is no judge stars\nhint: known judges: keywords, meaning" in ran.err
