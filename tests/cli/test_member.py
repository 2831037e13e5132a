"""`bailiwick member`: inviting, listing, disabling, helping."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tools import Ran, bailiwick
from tests.servers import TestServers


class Command:
    """The program on a database of its own."""

    def __init__(self, home: Path, url: str) -> None:
        self._home, self._url = home, url

    def __call__(self, *arguments: str, code: int = 0) -> Ran:
        ran = bailiwick(*arguments, cwd=self._home, BAILIWICK_DATABASE_URL=self._url)
        assert ran.code == code, ran
        return ran


@pytest.fixture(scope="module")
def run(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Command]:
    with servers.cloned("pg18") as url:
        yield Command(tmp_path_factory.mktemp("member"), url)


def test_a_member_is_added_with_a_link_on_stdout_alone(run: Command) -> None:
    added = run("member", "add", "Ann", "--role", "viewer", "--url", "https://crawl.example/")
    assert re.fullmatch(r"https://crawl\.example/welcome/[A-Za-z0-9_-]{43}\n", added.out)
    assert "/welcome/" not in added.err
    assert "there is a member ann already" in run("member", "add", "ann", code=1).err
    assert "no member name" in run("member", "add", "a/b", code=2).err
    run("member", "add", "x", "--role", "system", code=2)
    [row] = [row for row in run("member", "list", "--json").rows if row["name"] == "ann"]
    assert (row["role"], row["state"], row["can_log_in"]) == ("viewer", "active", False)


def test_members_are_listed_a_page_at_a_time(run: Command) -> None:
    for name in ("list-a", "list-b", "list-c"):
        run("member", "add", name)
    page = run("member", "list", "--json", "--limit", "2", "--after", "list-")
    assert [row["name"] for row in page.rows] == ["list-a", "list-b"]
    assert "--after list-b" in page.err
    assert "system" not in run("member", "list").out


def test_a_member_is_disabled_with_a_reason_enabled_and_given_a_role(run: Command) -> None:
    run("member", "add", "bob")
    run("member", "disable", "bob", code=2)
    assert run("member", "disable", "bob", "--reason", "left").out == "bob is disabled\n"
    assert (
        "is disabled"
        in run("--as", "bob", "member", "list", "--json", code=0).err
        + run("--as", "bob", "domain", "submit", "x.example", code=2).err
    )
    assert run("member", "enable", "bob").out == "bob is active\n"
    assert run("member", "role", "bob", "admin").out == "bob is admin\n"
    assert run("member", "role", "bob", "viewer").out == "bob is viewer\n"
    run("member", "role", "bob", "system", code=2)
    assert "may not" in run("--as", "bob", "member", "add", "eve", code=2).err
    assert "no member" in run("member", "disable", "nobody", "--reason", "x", code=1).err


def test_the_operator_cannot_be_removed_as_the_last_admin(run: Command) -> None:
    run("member", "add", "dora")  # the operator's own member is made by their first act
    [me] = [row["name"] for row in run("member", "list", "--json").rows if row["role"] == "admin"]
    assert "the only admin" in run("member", "disable", me, "--reason", "x", code=1).err
    assert "the only admin" in run("member", "role", me, "viewer", code=1).err


def test_a_lost_password_is_replaced_by_a_link(run: Command) -> None:
    run("member", "add", "cid")
    first, second = run("member", "reset-password", "cid").out, run("member", "reset-password", "cid").out
    assert first != second
    assert second.startswith("http://127.0.0.1:8300/welcome/")
    run("member", "reset-password", "system", code=2)
    run("member", "reset-password", "nobody", code=1)
