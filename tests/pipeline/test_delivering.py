"""Messages that wait are sent: in rounds, by many, through faults and sudden ends, to real servers."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import psutil
import pytest
from sqlalchemy import text

from bailiwick.accounts.members import local_admin
from bailiwick.app import App
from bailiwick.ledger import deliveries
from bailiwick.ledger import settings as kept
from bailiwick.ledger.deliveries import Delivery
from bailiwick.pipeline import delivering
from bailiwick.pipeline.delivering import Counts, deliver_last, run_once
from tests.backends.message_servers import Mails, Says, mail_server, silent_server, webhook_server
from tests.registry.tools import shift_clock
from tests.servers import TestServers

T = TypeVar("T")
SENDER = """
import asyncio, sys
from pathlib import Path
from bailiwick.app import App
from bailiwick.pipeline.delivering import run_once
with App.at(Path(sys.argv[1])) as app:
    asyncio.run(run_once(app))
"""


@pytest.fixture
def mails() -> Iterator[Mails]:
    with mail_server(Mails()) as serving:
        yield serving


@pytest.fixture
def app(servers: TestServers, tmp_path: Path, mails: Mails, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A project on a database of its own, with a mail server."""
    with servers.cloned("pg18") as url:
        for name, value in {
            "DATABASE_URL": url,
            "NOTIFY_SMTP_HOST": "127.0.0.1",
            "NOTIFY_SMTP_PORT": str(mails.port),
            "NOTIFY_SMTP_SECURITY": "none",
            "NOTIFY_MAX_TRIES": "3",
            "NET_ALLOW_PRIVATE_NETWORKS": "true",
        }.items():
            monkeypatch.setenv(f"BAILIWICK_{name}", value)
        with App.at(tmp_path) as opened:
            yield opened


def tell(
    app: App, *titles: str, channel: str = "email", kind: str = "queue_threshold", to: str | None = "a@b.test"
) -> None:
    with app.database.begin() as conn:
        for title in titles:
            deliveries.enqueue(conn, channel, kind, title, f"body of {title}", recipient=to)  # type: ignore[arg-type]


def found(app: App) -> list[Delivery]:
    with app.database.read() as conn:
        return deliveries.listing(conn)[::-1]


def rounds(app: App, **given: float) -> Counts:
    return asyncio.run(run_once(app, **given))


def hook(app: App, url: str) -> None:
    with app.database.begin() as conn:
        kept.put(conn, app.bootstrap, "review.notifications.slack_webhook_url", url, local_admin(conn))


def test_a_round_sends_what_is_due_and_the_next_has_nothing_to_do(app: App, mails: Mails) -> None:
    tell(app, "one", "two")
    assert rounds(app) == Counts(sent=2)
    assert rounds(app) == Counts()
    assert sorted(str(mail["Subject"]) for mail in mails.received) == ["one", "two"]
    assert [row.state for row in found(app)] == ["sent", "sent"]


def test_a_server_that_is_down_delays_and_loses_nothing(app: App, mails: Mails) -> None:
    mails.answers = ["451 not now", "451 not now"]
    tell(app, "one")
    assert rounds(app) == Counts(failed=1)
    [row] = found(app)
    assert (row.state, row.tries) == ("waiting", 1)
    assert "451" in str(row.error)
    assert rounds(app) == Counts()  # not before its time
    for days in ("1 day", "2 days"):
        shift_clock(app.database, days)
        done = rounds(app)
    assert done == Counts(sent=1)
    assert [row.error for row in found(app)] == [None]
    assert len(mails.received) == 1


def test_what_always_fails_is_given_up_and_can_be_tried_anew(app: App, mails: Mails) -> None:
    mails.answers = ["550 no"] * 3
    tell(app, "one")
    done = Counts()
    for day in range(3):
        shift_clock(app.database, f"{day} days")
        done += rounds(app)
    assert done == Counts(failed=3, given_up=1)
    with app.database.begin() as conn:
        assert deliveries.counts(conn) == {"waiting": 0, "failed": 1}
        deliveries.retry(conn)
    assert rounds(app) == Counts(sent=1)


def test_decisions_for_one_person_are_one_mail(app: App, mails: Mails) -> None:
    tell(app, *(f"d{n:03} is approved" for n in range(120)), kind="decision")
    tell(app, "mine is rejected", kind="decision", to="c@b.test")
    assert rounds(app) == Counts(sent=121)
    many, one = sorted(mails.received, key=lambda mail: str(mail["To"]))
    assert many["Subject"] == "120 decisions on what you handed in"
    body = many.get_content()
    assert "d000 is approved" in body
    assert body.rstrip().endswith("And 70 more.")
    assert (one["Subject"], one.get_content().strip()) == ("mine is rejected", "body of mine is rejected")


def test_a_webhook_that_is_set_later_is_used_by_who_runs_already(app: App) -> None:
    assert app.settings.review.notifications.slack_webhook_url is None
    with webhook_server([Says(500), Says()]) as posts:
        hook(app, f"{posts.url}/services/T/B/hush")
        tell(app, "one", channel="slack", to=None)
        assert rounds(app) == Counts(failed=1)
        assert found(app)[0].error == "the webhook answered 500"
        shift_clock(app.database, "1 day")
        assert rounds(app) == Counts(sent=1)
    assert posts.texts == ["*one*\nbody of one"] * 2


def test_a_webhook_inside_is_refused_and_its_address_is_nowhere(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIWICK_NET_ALLOW_PRIVATE_NETWORKS", "false")
    with webhook_server() as posts:
        hook(app, f"{posts.url}/services/T/B/hush")
        tell(app, "one", channel="slack", to=None)
        assert rounds(app) == Counts(failed=1)
        assert posts.received == []
    assert "refused" in str(found(app)[0].error)
    with app.database.read() as conn:
        for table in ("events", "deliveries", "outbox"):
            assert "hush" not in str(conn.execute(text(f"select * from {table}")).all())


def test_all_others_are_told_each_for_itself(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(app, "nobody", channel="other", to=None)
    assert rounds(app) == Counts()
    assert found(app) == []  # nobody is set: nobody is told
    with webhook_server() as posts, webhook_server([Says(503)]) as faulty:
        monkeypatch.setenv("BAILIWICK_NOTIFY_URLS_ENV", "OTHERS")
        monkeypatch.setenv(
            "OTHERS", " ".join(server.url.replace("http", "json") + "/hush" for server in (posts, faulty))
        )
        with App.at(app.place.root) as other:
            tell(other, "one", channel="other", to=None)
            assert rounds(other) == Counts(sent=1, failed=1)
            first, second = found(other)
            assert (first.recipient, first.state) == ("json 1", "sent")
            assert (second.recipient, second.state) == ("json 2", "waiting")
            assert "503" in str(second.error)
            assert "hush" not in str(second.error)
            monkeypatch.delenv("OTHERS")
            tell(other, "two", channel="other", to=None)
            assert rounds(other) == Counts(failed=1)
            assert found(other)[-1].error == "the environment variable OTHERS is not set"
    assert len(posts.received) == len(faulty.received) == 1


def test_a_sender_that_is_killed_loses_nothing_and_leaves_no_process(
    app: App, mails: Mails, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(app, "one")
    with silent_server() as port:
        monkeypatch.setenv("BAILIWICK_NOTIFY_SMTP_PORT", str(port))
        monkeypatch.setenv("BAILIWICK_NOTIFY_TIMEOUT_SECONDS", "2")
        sender = subprocess.Popen([sys.executable, "-c", SENDER, str(app.place.root)])
        children = _until(lambda: psutil.Process(sender.pid).children() if found(app)[0].tries else [])
        sender.kill()
        assert sender.wait() == -signal.SIGKILL
    assert rounds(app) == Counts()  # it is still claimed
    shift_clock(app.database, "1 hour")
    assert rounds(app) == Counts(sent=1)
    assert len(mails.received) == 1
    assert found(app)[0].tries == 2
    _until(lambda: not any(child.is_running() for child in children))


def test_whoever_ends_while_a_server_hangs_gives_the_message_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(app, "one")
    with silent_server() as port:
        monkeypatch.setenv("BAILIWICK_NOTIFY_SMTP_PORT", str(port))
        monkeypatch.setattr(delivering, "_LAST_SECONDS", 1.0)
        with App.at(app.place.root) as hanging:
            start = time.monotonic()
            asyncio.run(deliver_last(hanging))
            assert time.monotonic() - start < 4
    assert [(row.state, row.tries) for row in found(app)] == [("waiting", 0)]
    assert rounds(app) == Counts(sent=1)


def test_many_rounds_at_once_send_each_message_once(app: App, mails: Mails) -> None:
    tell(app, *(f"m{n}" for n in range(12)))

    async def together() -> list[Counts]:
        return await asyncio.gather(*(run_once(app) for _ in range(3)))

    assert sum(asyncio.run(together()), Counts()) == Counts(sent=12)
    assert sorted(str(mail["Subject"]) for mail in mails.received) == sorted(f"m{n}" for n in range(12))


def test_a_worker_that_stays_sends_beside_its_work(app: App, mails: Mails, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivering, "_PAUSE_SECONDS", 0.05)

    async def stay() -> None:
        beside = asyncio.create_task(delivering.deliver_beside(app))
        tell(app, "one")
        async with asyncio.timeout(10):
            while not mails.received:
                await asyncio.sleep(0.02)
        beside.cancel()
        with pytest.raises(asyncio.CancelledError):
            await beside

    asyncio.run(stay())


def _until(what: Callable[[], T]) -> T:
    end = time.monotonic() + 15
    while not (now := what()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return now
