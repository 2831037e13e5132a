"""`bailiwick crawl` and its seeds, options and endings, as a user types them."""

import socket
import time

import pytest

from bailiwick.demo.web.behaviours import held
from bailiwick.demo.web.sites import Web
from tests.e2e.conftest import MakeLand, land_of
from tests.e2e.tools import Land

__all__ = ["land_of"]  # the fixture

A, B, C = "alpha.test", "beta.test", "gamma.test"


@pytest.fixture
def land(land_of: MakeLand) -> Land:
    return land_of(Web.generate(1, hosts=[A, B, C], pages_per_host=5))


def test_seeds_from_a_file_with_comments_urls_and_mistakes(land: Land) -> None:
    lines = ["# ours", "", land.name(A), f"http://{land.name(B)}/  # the whole of it", "not a name", "me@example.org"]
    (land.home / "seeds.txt").write_text("\n".join(lines))
    ran = land.crawl("seeds.txt", "--json")
    assert {row["domain"] for row in ran.rows} == {land.name(A), land.name(B)}
    assert "seeds.txt, line 5:" in ran.err
    assert "seeds.txt, line 6:" in ran.err
    assert "e-mail address" in ran.err


def test_seeds_from_standard_input_and_from_a_ranked_list(land: Land) -> None:
    (land.home / "ranked.csv").write_text(f"1,{land.name(A)}\n2,{land.name(B)}\n")
    assert len(land.crawl("ranked.csv", "--json").rows) == 2
    done = land.run(
        "crawl", "-", "--resolve", land.running.resolve, "--delay", "0", "--json", stdin=f"{land.name(C)}\n"
    )
    assert [row["domain"] for row in done.rows] == [land.name(C)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("no_such_file",), "there is no file"),
        (("--depth", "deep", A), "neither a number"),
        (("--max-pages", "-1", A), "-1"),
        (("--resolve", "nonsense", A), "HOST:PORT:ADDRESS"),
        (("--resolve", "a.test:99999:127.0.0.1", A), "no port 99999"),
        (("--resolve", "a.test:80:localhost", A), "localhost"),
        (("--max-pages", "5"), "these options are for seeds"),
        (("--time", "0", A), "--time"),
    ],
)
def test_wrong_usage_is_told_and_makes_nothing(land: Land, arguments: tuple[str, ...], complaint: str) -> None:
    ran = land.run("crawl", *arguments, code=2)
    assert complaint in ran.err
    assert "Traceback" not in ran.err
    assert land.rows("select * from domains") == []
    assert land.value("select count(*) from jobs") == 1


def test_an_empty_file_is_told(land: Land) -> None:
    (land.home / "empty.txt").write_text("# nothing\n")
    assert "the seeds name no domain" in land.crawl("empty.txt", code=2).err


def test_each_seed_that_is_not_crawled_has_a_line_with_rule_and_command(land: Land) -> None:
    names = {state: f"{state}.example" for state in ("pending", "rejected", "suspended", "blacklisted")}
    land.run("domain", "submit", *names.values())
    land.run("domain", "approve", names["suspended"], names["blacklisted"])
    land.run("domain", "reject", names["rejected"], "--reason", "off topic")
    land.run("domain", "suspend", names["suspended"], "--reason", "they asked")
    land.run("domain", "blacklist", names["blacklisted"], "--reason", "spam")
    ran = land.crawl(*names.values(), land.name(A), "--json")
    assert [row["domain"] for row in ran.rows] == [land.name(A)]
    for state, command in (
        ("pending", "domain approve"), ("rejected", "domain submit"), ("suspended", "domain resume"),
        ("blacklisted", "--lift"),
    ):  # fmt: skip
        [line] = [line for line in ran.err.splitlines() if line.startswith(names[state])]
        assert "is not crawled: it" in line
        assert command in line
    only = land.crawl(names["pending"], "--exit-code", code=3)
    assert "waits for review" in only.err


def test_dry_run_changes_nothing(land: Land) -> None:
    ran = land.crawl(land.name(A), f"http://{land.name(B)}/deep/page", "--dry-run")
    assert ran.out.splitlines() == [
        f"{land.name(A)} would be admitted and crawled",
        f"{land.name(B)}/deep/page would be admitted and crawled",
    ]
    assert land.rows("select * from domains") == []
    assert land.running.log.entries() == []


def test_exit_codes(land: Land) -> None:
    assert land.crawl(land.name(A), "--max-pages", "2", "--exit-code", code=4).code == 4
    assert land.crawl(land.name(A), "--exit-code", code=0).code == 0
    assert land.crawl(land.name(A), "--exit-code", code=3).code == 3
    assert land.crawl_due("--exit-code", code=3).code == 3


def test_interrupted_with_requests_that_never_end(land_of: MakeLand) -> None:
    """Whatever a server does, Ctrl-C is over within five seconds."""
    web = Web.generate(2, hosts=[A], pages_per_host=5)
    web[A].behave_everywhere(held(lambda: False))
    land = land_of(web)
    with land.start(land.name(A)) as started:
        deadline = time.monotonic() + 20
        while not land.running.log.open_requests():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        asked = time.monotonic()
        started.interrupt()
        assert started.wait(seconds=10).code == 130
        assert time.monotonic() - asked < 5
    assert land.value("select worker is null from crawl_queue")
    assert land.value("select count(*) from workers") == 0


def test_sigterm_ends_a_crawl_with_130(land: Land) -> None:
    with land.start("--daemon", "--resolve", land.running.resolve) as started:
        land.wait_for("select count(*) = 1 from workers")
        started.process.terminate()
        assert started.wait(seconds=10).code == 130


def test_a_parent_that_is_killed_takes_its_engine_along(land: Land) -> None:
    with land.start("--daemon", "--resolve", land.running.resolve) as started:
        engine = started.engine()
        land.wait_for("select count(*) = 1 from workers")
        started.process.kill()
        started.process.wait(10)
        engine.wait(10)
    assert land.value("select count(*) from workers") == 0


def test_quiet_and_unreachable(land: Land) -> None:
    """Nothing answers there: told once, with the way to try again."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets it, and nothing answers
        port = taken.getsockname()[1]
        where = ("--resolve", f"*:{port}:127.0.0.1")
        ran = land.run(
            "-q",
            "crawl",
            f"nobody.test:{port}",
            "--delay",
            "0",
            "--no-parse",
            *where,
            BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS="0.05",
        )
    assert "unreachable" in ran.out
    assert "domain reset" in ran.out
    assert ran.err == ""
