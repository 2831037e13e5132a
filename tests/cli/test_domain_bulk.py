"""Imports of every kind of list, and what goes over many domains at once."""

import re
from pathlib import Path

import pytest
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.registry.release import Outcome
from tests.cli.domain_tools import crawled, domain, done, leased, listed, shown
from tests.cli.tools import Ran, bailiwick
from tests.registry.tools import faults
from tests.suites import json_lines, suite_path


def counts(ran: Ran) -> tuple[int, int, int]:
    """(added, known, rejected), as the last line says."""
    found = re.search(r": ([\d,]+) added, ([\d,]+) known, ([\d,]+) rejected$", ran.out.splitlines()[-1])
    assert found, ran
    added, known, rejected = (int(group.replace(",", "")) for group in found.groups())
    return added, known, rejected


def test_a_text_file_comes_in_once(land: Path) -> None:
    seeds = land / "seeds.txt"
    seeds.write_text("# ours\n\none.text.org\nhttps://WWW.Two.text.org/x\r\nwww.one.text.org\nthree.text.org.\n")
    first = done("import", "seeds.txt", cwd=land)
    assert counts(first) == (3, 1, 0)
    assert listed("--site", "text.org", "--approval", "pending_review", cwd=land) == [
        "one.text.org", "three.text.org", "two.text.org",
    ]  # fmt: skip
    source = shown("one.text.org", land)["source"]
    assert re.fullmatch(r"seeds\.txt \d{4}-\d\d-\d\d", source)
    done("approve", "one.text.org", cwd=land)
    again = done("import", "seeds.txt", "--approve", cwd=land)
    assert counts(again) == (0, 4, 0)
    assert listed("--site", "text.org", "--approval", "approved", cwd=land) == ["one.text.org"], "states stay"
    trail = bailiwick("events", "--of", f"import:{source}", "--json", cwd=land).rows
    assert [event["details"]["added"] for event in trail] == [3, 0], "one event for each import"
    assert not list(land.glob("seeds.txt.rejects*"))


def test_lists_with_ranks(land: Path) -> None:
    (land / "tranco.csv").write_text("1,big.rank.com\r\n2,www.second.rank.com\n")
    (land / "majestic.csv").write_text(
        '\ufeffGlobalRank,TldRank,Domain,TLD,RefSubNets\n1,1,major.rank.com,com,5\n77,2,"minor.rank.com",com,4\n'
    )
    ran = done("import", "tranco.csv", "majestic.csv", "--approve", "--source", "lists", cwd=land)
    assert ran.out.splitlines() == ["lists: 2 added, 0 known, 0 rejected"] * 2
    rows = done("list", "--site", "rank.com", "--source", "lists", "--json", cwd=land).rows
    assert {row["domain"]: (row["seed_rank"], row["approval"]) for row in rows} == {
        "big.rank.com": (1, "approved"),
        "second.rank.com": (2, "approved"),
        "major.rank.com": (1, "approved"),
        "minor.rank.com": (77, "approved"),
    }
    assert rows[0]["priority_score"] == 1000


def test_bad_lines_are_listed_with_their_numbers_and_the_rest_goes_in(land: Path) -> None:
    bad = {
        2: "localhost", 3: "10.0.0.1", 4: "[::1]", 5: "bad\x01name.org", 6: "x" * 10_000 + ".org", 7: "y" * 100_000,
        8: "tab\there.org", 9: "me@example.org", 10: "99999999999,", 11: "\x1b[31m", 12: "a..b",
    }  # fmt: skip
    lines = ["good.bad.org", *bad.values(), "0" * 5000 + "7,ranked.bad.org", "last.bad.org"]
    (land / "bad.txt").write_bytes("\n".join(lines).encode() + b"\n\xff\xfe.bad.org")
    ran = done("import", "bad.txt", cwd=land)
    assert counts(ran) == (3, 0, 12)
    assert ran.err == "rejected lines are in bad.txt.rejects.tsv\n"
    header, *rows = [line.split("\t") for line in (land / "bad.txt.rejects.tsv").read_text().splitlines()]
    assert header == ["line", "why", "text"]
    assert [int(row[0]) for row in rows] == [*bad, 15]
    why = {int(row[0]): row[1] for row in rows}
    assert why[2] == "'localhost' is not a public domain name"
    assert why[3] == "'10.0.0.1' is an IP address"
    assert "control character" in why[5]
    assert "10,004 characters long" in why[6]
    assert why[7] == "the line is too long"
    assert all(cell.isprintable() and len(cell) <= 260 for row in rows for cell in row)
    assert rows[3][2] == r"bad\x01name.org"
    assert listed("--site", "bad.org", cwd=land) == ["good.bad.org", "last.bad.org", "ranked.bad.org"]


def test_standard_input(land: Path) -> None:
    ran = done("import", "-", cwd=land, stdin="in.stdin.org\nnot a name\nраураl.stdin.org\n")  # noqa: RUF001
    assert ran.out.startswith("stdin 2")
    assert counts(ran) == (2, 0, 1)
    assert "mixes scripts" in ran.err
    assert (land / "stdin.rejects.tsv").read_text().splitlines()[1].startswith("2\t")
    assert listed("--site", "stdin.org", cwd=land) == ["in.stdin.org", "xn--l-7sba6dbr.stdin.org"]
    nothing = done("import", "-", cwd=land, stdin="")
    assert counts(nothing) == (0, 0, 0)


NAUGHTY = suite_path("hostile/naughty_strings.jsonl")
if NAUGHTY:

    def test_naughty_strings_are_counted_and_never_a_trace(land: Path) -> None:
        assert NAUGHTY is not None
        text_in = "\n".join(case["s"] for case in json_lines(NAUGHTY)) + "\n"
        lines = [line.strip() for line in text_in.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
        expected = len([line for line in lines if line and not line.startswith("#")])
        # \0 ends the arguments of a shell, not a line of a file.
        ran = done("import", "-", "--source", "naughty", cwd=land, stdin=text_in)
        added, known, rejected = counts(ran)
        assert (added + known + rejected, rejected > 100) == (expected, True)
        assert "Traceback" not in ran.err
        names = listed("--source", "naughty", "--limit", "10000", cwd=land)
        assert len(names) == added
        again = done("import", "-", "--source", "naughty again", cwd=land, stdin="\n".join(names))
        assert counts(again) == (0, len(names), 0), "every name that came in is canonical"


def test_an_import_obeys_trust_rules(land: Path) -> None:
    done("trust", "--suffix", ".edu.pl", cwd=land)
    done("import", "-", "--source", "poland", cwd=land, stdin="uw.edu.pl\nonet.pl\n")
    rows = done("list", "--source", "poland", "--json", cwd=land).rows
    assert {row["domain"]: (row["approval"], row["is_trusted"]) for row in rows} == {
        "onet.pl": ("pending_review", False),
        "uw.edu.pl": ("approved", True),
    }


def test_an_import_from_a_pipe_or_a_closed_place_keeps_its_rejects_here(land: Path) -> None:
    ran = done("import", "/dev/stdin", "--source", "pipe", cwd=land, stdin="in.pipe.org\n?\n")
    assert (counts(ran), ran.err) == ((1, 0, 1), "rejected lines are in stdin.rejects.tsv\n")


def test_priorities_are_computed_anew(land: Path) -> None:
    done("import", "-", "--source", "prio", cwd=land, stdin="1,first.prio.org\n")
    assert shown("first.prio.org", land)["priority_score"] == 1000
    ran = domain("reprioritize", cwd=land, BAILIWICK_PRIORITY_RANK="2")
    assert re.fullmatch(r"\d+ domains looked at, [1-9]\d* have another priority now\n", ran.out)
    assert shown("first.prio.org", land)["priority_score"] == 2000
    assert "domains looked at" in done("recalculate-priorities", cwd=land).out
    assert shown("first.prio.org", land)["priority_score"] == 1000


def test_purge_removes_what_was_collected_and_keeps_the_decisions(land: Path, store: Database) -> None:
    done("submit", "full.purge.org", "--approve", cwd=land)
    crawled(store, "full.purge.org", Outcome("active"), pages=7, images=2)
    asked = domain("purge", "full.purge.org", cwd=land, stdin="n\n")
    assert (asked.code, "(7 pages)?" in asked.err) == (130, True)
    assert shown("full.purge.org", land)["pages_crawled"] == 7
    lease = leased(store, "full.purge.org", "busy")
    busy = domain("purge", "full.purge.org", "--yes", cwd=land)
    assert (busy.code, "full.purge.org is being crawled" in busy.err) == (1, True)
    assert "hint: bailiwick lease release full.purge.org" in busy.err
    bailiwick("lease", "release", lease.name.name, cwd=land)
    assert done("purge", "full.purge.org", "--yes", "--reason", "asked to", cwd=land).out.endswith("is removed\n")
    facts = shown("full.purge.org", land)
    assert (facts["pages_crawled"], facts["approval"]) == (0, "approved")
    assert facts["events"][0]["did"] == "purge"


@pytest.fixture
def own_land(home: Path) -> Path:
    bailiwick("db", "upgrade", cwd=home)
    return home


def test_merge_shows_the_plan_first(own_land: Path) -> None:
    land = own_land
    done("submit", "merge.org", "blog.merge.org", "--approve", cwd=land)
    done("submit", "a.lone.org", cwd=land)
    done("reject", "a.lone.org", "--reason", "no", cwd=land)
    assert done("merge", cwd=land).err == "every domain has the name that it should have\n"
    bailiwick("settings", "set", "names.collapse_subdomains", "true", cwd=land)
    plan = done("merge", "--json", cwd=land)
    assert plan.rows == [
        {"domain": "a.lone.org", "becomes": "lone.org"},
        {"domain": "blog.merge.org", "becomes": "merge.org"},
    ]
    assert "2 domains would be merged or renamed; bailiwick domain merge --yes does it" in plan.err
    assert len(listed(cwd=land)) == 3, "a dry run"
    assert shown("blog.merge.org", land)["domain"] == "blog.merge.org", "what is not merged yet can be named"
    assert done("merge", "--yes", cwd=land).out == "2 domains merged or renamed, 0 not\n"
    assert listed(cwd=land) == ["lone.org", "merge.org"]
    assert shown("new.merge.org", land)["domain"] == "merge.org"
    assert shown("lone.org", land)["approval"] == "rejected"
    assert shown("merge.org", land)["events"][0]["did"] == "merge"


def test_the_queue_agrees_with_the_rule_after_all_of_this(land: Path, store: Database) -> None:
    done("import", "-", "--approve", cwd=land, stdin="sound.check.org\n")
    with store.read() as conn:
        assert faults(conn) == []
        assert conn.execute(text("select count(*) from domains as d left join crawl_queue as q on q.domain_id = d.id "
                                 "where q.domain_id is null")).scalar_one() == 0  # fmt: skip
