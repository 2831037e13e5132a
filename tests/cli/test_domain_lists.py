"""Lists of domains: every filter, every order, page by page, in a pipe and on a terminal."""

import os
import pty
import shlex
import subprocess
from pathlib import Path

import pytest

from bailiwick.db.engine import Database
from bailiwick.registry.release import BlockCode, Outcome
from tests.cli.domain_tools import crawled, domain, done, listed
from tests.cli.tools import PROGRAM, bailiwick, environment


@pytest.fixture(scope="module")
def lists(land: Path, store: Database) -> Path:
    """A few domains in different states, and 120 of one list."""
    many = "".join(f"{rank},site{rank:03}.many.org\n" for rank in range(1, 121))
    done("import", "-", "--source", "many", cwd=land, stdin=many)
    names = ("active.state.net", "blocked.state.net", "done.state.net", "gone.state.net", "new.state.net")
    done("submit", *names, "black.state.net", "late.state.net", "--approve", cwd=land)
    done("submit", "no.state.net", "wait.state.net", cwd=land)
    crawled(store, "active.state.net", Outcome("active"), pages=450, images=3200)
    crawled(store, "blocked.state.net", Outcome("blocked", BlockCode.LOGIN_WALL, "login\nrequired"), pages=3)
    crawled(store, "done.state.net", Outcome("exhausted"), pages=50, images=12)
    crawled(store, "gone.state.net", Outcome("unreachable", BlockCode.UNREACHABLE, "DNS resolution failed"))
    done("blacklist", "black.state.net", "--reason", "link farm", cwd=land)
    done("suspend", "late.state.net", "--reason", "too slow", cwd=land)
    done("reject", "no.state.net", "--reason", "off topic", cwd=land)
    return land


def test_every_filter(lists: Path) -> None:
    def names(*arguments: str) -> list[str]:
        found = listed("--site", "state.net", *arguments, cwd=lists)
        return [name.removesuffix(".state.net") for name in found]

    assert names() == ["active", "black", "blocked", "done", "gone", "late", "new", "no", "wait"]
    for state, expected in (
        ("active", "active"),
        ("blocked", "blocked"),
        ("exhausted", "done"),
        ("unreachable", "gone"),
    ):
        assert names("--crawl", state) == [expected]
    assert names("--status", "pending") == ["black", "late", "new", "no", "wait"], "002's word for it"
    for state, expected in (("rejected", "no"), ("suspended", "late"), ("pending_review", "wait")):
        assert names("--approval", state) == [expected]
    assert names("--standing", "blacklisted") == ["black"]
    assert names("--prefix", "BL", "--approval", "approved") == ["black", "blocked"]
    assert names("--source", "many") == []
    assert len(listed("--source", "many", "--limit", "1000", cwd=lists)) == 120


def test_the_table_in_a_pipe_is_that_of_the_specification(lists: Path) -> None:
    lines = done("list", "--site", "state.net", cwd=lists).out.splitlines()
    assert lines[0].split() == ["DOMAIN", "APPROVAL", "CRAWL", "PAGES", "IMAGES", "YIELD", "LAST", "CRAWLED"]
    assert lines[1].split()[:6] == ["active.state.net", "approved", "active", "450/450", "3200", "7.1"]
    below = {lines[n - 1].split()[0]: line for n, line in enumerate(lines) if "└─" in line}
    assert below == {
        "black.state.net": "  └─ reason: blacklisted: link farm",
        "blocked.state.net": "  └─ reason: login required",
        "gone.state.net": "  └─ reason: DNS resolution failed",
        "late.state.net": "  └─ reason: too slow",
        "no.state.net": "  └─ reason: off topic",
    }
    [row] = done("list", "--prefix", "blocked.", "--json", cwd=lists).rows
    assert (row["reason"], row["pages_crawled"], row["image_yield_rate"]) == ("login\nrequired", 3, 0.0)
    assert domain("list", "--prefix", "nothing", cwd=lists).err == "no such domains\n"


def test_orders(lists: Path) -> None:
    assert [n.partition(".")[0] for n in listed("--sort", "yield", cwd=lists)] == ["active", "done", "blocked"]
    assert listed("--sort", "last-crawled", "--limit", "1", cwd=lists) == ["gone.state.net"]
    assert listed("--sort", "first-seen", "--limit", "1", cwd=lists)[0].endswith(".state.net")
    top = done("top", "--limit", "2", "--json", cwd=lists).rows
    assert [row["domain"] for row in top] == ["active.state.net", "done.state.net"]
    assert done("status", "--json", "--limit", "1", cwd=lists).rows[0]["domain"] == "active.state.net"
    assert bailiwick("domain", "info", "wait.state.net", cwd=lists).out.startswith("wait.state.net\n")


@pytest.mark.parametrize("sort", ["name", "priority", "first-seen"])
def test_pages_follow_each_other_without_gaps(lists: Path, sort: str) -> None:
    whole = listed("--sort", sort, "--limit", "1000", cwd=lists)
    assert len(whole) == 129
    command, found = f"bailiwick domain list --json --sort {sort} --limit 50", []
    for _ in range(5):
        ran = bailiwick(*shlex.split(command)[1:], cwd=lists)
        found += [row["domain"] for row in ran.rows]
        if not ran.err:
            break
        command = ran.err.removeprefix("more: ").strip()
    assert found == whole
    assert len(ran.rows) == 29


def test_sites_are_counted_and_paged(lists: Path) -> None:
    first = done("list", "--by", "site", "--limit", "1", "--json", cwd=lists)
    assert first.rows == [{"site": "many.org", "domains": 120, "approved": 0, "pages_crawled": 0}]
    assert first.err == "more: bailiwick domain list --by site --limit 1 --json --after many.org\n"
    [second] = done("list", "--by", "site", "--after", "many.org", "--json", cwd=lists).rows
    assert (second["site"], second["domains"], second["pages_crawled"]) == ("state.net", 9, 503)
    [active] = done("list", "--by", "site", "--crawl", "active", "--json", cwd=lists).rows
    assert (active["site"], active["domains"]) == ("state.net", 1)


def test_on_a_terminal_it_is_a_table_too(lists: Path) -> None:
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [PROGRAM, "domain", "list", "--site", "state.net"],
        cwd=lists, env=environment(COLUMNS="120", TERM="xterm"), stdout=terminal, stderr=terminal, stdin=terminal,
    ) as process:  # fmt: skip
        os.close(terminal)
        seen = b""
        while chunk := _read(controller):
            seen += chunk
        assert process.wait(30) == 0
    os.close(controller)
    screen = seen.decode()
    assert "────" in screen
    assert "└─ reason: too slow" in screen
    assert "\x1b[" in screen


def _read(controller: int) -> bytes:
    try:
        return os.read(controller, 65536)
    except OSError:  # Linux says so when the other end is closed
        return b""
