"""The live stream of a real server: it ends within seconds when its session does, or its member's role."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bailiwick.accounts import service, sessions
from bailiwick.accounts.members import local_admin
from bailiwick.base.sections import DatabaseSettings
from bailiwick.base.settings import Settings
from bailiwick.db.engine import Database
from bailiwick.ledger.events import Actor
from bailiwick.model.states import Role
from tests.cli.serving import Serving, serving
from tests.ledger.tools import make_member
from tests.registry.tools import admit
from tests.servers import TestServers


@dataclass
class Stage:
    """A server and its database."""

    server: Serving
    database: Database

    def client(self, member: Actor) -> httpx.Client:
        with self.database.begin() as conn:
            words = sessions.open_session(conn, member, device=None, user_agent=None, address=None)
        return httpx.Client(base_url=self.server.address, cookies={"bailiwick": words.token}, timeout=30)

    def member(self, name: str, role: Role = Role.VIEWER) -> Actor:
        with self.database.begin() as conn:
            return make_member(conn, name, role)


@pytest.fixture(scope="module")
def stage(servers: TestServers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home: Path = tmp_path_factory.mktemp("live")
    with servers.cloned("pg18") as url, Database(home, Settings(database=DatabaseSettings(url=url))) as database:
        with database.begin() as conn:
            local_admin(conn)
            admit(conn, "live.example")
        with serving(home, "--no-worker", BAILIWICK_DATABASE_URL=url) as started:
            yield Stage(started.ready(), database)


DEEDS = {
    "disable": lambda conn, name, me: service.disable(conn, name, me, reason="x"),
    "reset": service.reset_password,
    "role": lambda conn, name, me: service.set_role(conn, name, Role.SUBMITTER, me),
    "log out": lambda conn, name, me: sessions.end_all(conn, service.get(conn, name).id),
}


def test_a_stream_ends_within_seconds_when_its_member_may_no_longer_see_it(stage: Stage) -> None:
    ended: dict[str, list[str]] = {}
    opened = threading.Barrier(len(DEEDS) + 2)

    def watch(deed: str) -> None:
        with stage.client(members[deed]) as client, client.stream("GET", "/live?topic=tiles") as stream:
            lines = stream.iter_lines()
            seen = [next(line for line in lines if line == "event: tiles")]
            opened.wait(30)
            ended[deed] = seen + list(lines) if deed != "nothing" else [*seen, next(lines)]

    members = {deed: stage.member(f"watches-{deed.replace(' ', '-')}") for deed in (*DEEDS, "nothing")}
    watching = [threading.Thread(target=watch, args=(deed,)) for deed in members]
    for one in watching:
        one.start()
    opened.wait(30)
    with stage.database.begin() as conn:
        for deed, do in DEEDS.items():
            do(conn, members[deed].name, local_admin(conn))
    for one in watching:
        one.join(20)
    assert set(ended) == set(members)
    for deed in DEEDS:
        assert "event: over" in ended[deed], deed


def test_a_stream_has_its_domain_from_the_start_and_nothing_of_others(stage: Stage) -> None:
    with stage.client(stage.member("follows")) as client:
        with client.stream("GET", "/live?topic=domain:live.example") as stream:
            events = [
                line for _, line in zip(range(12), stream.iter_lines(), strict=False) if line.startswith("event:")
            ]
            assert set(events) == {"event: domain:live.example"}
        assert client.get("/live", params=[("topic", "tiles")] * 5).status_code == 400
        assert client.get("/live?topic=domain:nothing.example").status_code == 404


def test_one_session_has_only_so_many_streams(stage: Stage) -> None:
    with stage.client(stage.member("greedy")) as client, ExitStack() as stack:
        streams = [stack.enter_context(client.stream("GET", "/live?topic=tiles")).iter_lines() for _ in range(25)]
        assert [next(lines) for lines in streams] == ["retry: 3000"] * 25
        with client.stream("GET", "/live?topic=tiles") as one_more:
            assert one_more.status_code == 503
