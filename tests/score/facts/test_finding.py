"""The finder as a whole: what it remembers and for how long, how often it asks, and what it does not ask."""

import asyncio
import ssl
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from typing import Any

import pytest
import trustme
from aiohttp import web
from sqlalchemy import Connection, text

from bailiwick.base.review_sections import ScoreSettings
from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.net.guard import Guard
from bailiwick.score.facts import finding
from bailiwick.score.facts.finding import FactFinder
from bailiwick.score.facts.kept import Kept, begin, keep, kept, sweep
from bailiwick.score.facts.known import Certificate
from tests.net.inside import Names
from tests.registry.tools import shift_clock
from tests.score.facts.registries import RdapServer, WhoisServer, finder_of, listening, rdap_body, run

LATER = datetime(2040, 5, 6, tzinfo=UTC)


@asynccontextmanager
async def registries(*names: str) -> AsyncIterator[tuple[RdapServer, WhoisServer]]:
    """RDAP knows these names, WHOIS none."""
    async with RdapServer().running() as rdap, WhoisServer().running() as whois:
        rdap.list_servers("test")
        for name in names:
            rdap.about(name, rdap_body(name))
        yield rdap, whois


def rows(database: Database) -> dict[tuple[str, str], tuple[str, float, bool]]:
    """Of the table, without the list of servers: source, seconds until it expires, whether there are facts."""
    query = """select kind, subject, source, extract(epoch from expires_at - seen_at), facts is not null
               from domain_facts where kind <> 'rdap_servers'"""
    with database.read() as conn:
        return {(row[0], row[1]): (row[2], float(row[3]), row[4]) for row in conn.execute(text(query))}


def expire(database: Database, kind: str, subject: str) -> None:
    with database.begin() as conn:
        asked = text("update domain_facts set expires_at = bailiwick_now() where kind = :kind and subject = :subject")
        assert conn.execute(asked, {"kind": kind, "subject": subject}).rowcount == 1


def test_facts_are_remembered_for_all_processes_and_sub_domains(database: Database) -> None:
    async def story() -> None:
        async with registries("good.test") as (rdap, whois):
            async with finder_of(database, rdap.port, whois.port, registration_days=10, failure_hours=2) as one:
                first = await one.facts(DomainName("blog.good.test"))
                await one.facts(DomainName("bad.test"))
            async with finder_of(database, rdap.port, whois.port) as another:
                assert (await another.facts(DomainName("shop.good.test"))).registration == first.registration
                assert (await another.facts(DomainName("bad.test"))).registration is None
                assert rdap.names() == ["good.test", "bad.test"]
                assert rows(database) == {
                    ("registration", "good.test"): ("rdap", 10 * 86_400, True),
                    ("registration", "bad.test"): ("none", 2 * 3_600, False),
                    ("certificate", "blog.good.test:443"): ("none", 2 * 3_600, False),
                    ("certificate", "shop.good.test:443"): ("none", 6 * 3_600, False),
                    ("certificate", "bad.test:443"): ("none", 2 * 3_600, False),
                }

                expire(database, "registration", "good.test")
                expire(database, "registration", "bad.test")
                rdap.about("bad.test", rdap_body("bad.test"))
                await another.facts(DomainName("good.test"))
                assert (await another.facts(DomainName("bad.test"))).registration is not None
                assert rdap.names() == ["good.test", "bad.test"] * 2

    run(story)


def test_what_many_ask_at_once_is_asked_once(database: Database) -> None:
    async def story() -> None:
        async with registries() as (rdap, whois):
            is_asked, may_answer = asyncio.Event(), asyncio.Event()

            async def late(_: web.Request) -> web.Response:
                is_asked.set()
                await may_answer.wait()
                return web.json_response(rdap_body("good.test"))

            rdap.about("good.test", late)
            async with finder_of(database, rdap.port, whois.port) as finder:
                tasks = [asyncio.create_task(finder.facts(DomainName(f"h{n % 5}.good.test"))) for n in range(40)]
                await is_asked.wait()
                tasks[0].cancel()  # whoever gives up does not end it for the others
                may_answer.set()
                found = await asyncio.gather(*tasks, return_exceptions=True)
            assert isinstance(found[0], asyncio.CancelledError)
            assert {getattr(facts, "registration", None) is not None for facts in found[1:]} == {True}
            assert rdap.names() == ["good.test"]

    run(story)


def test_of_processes_that_do_not_know_a_name_one_asks(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def looked(conn: Connection, kind: str, subject: str) -> Kept | None:
        looks.append(kind)
        return kept(conn, kind, subject)

    monkeypatch.setattr(finding, "kept", looked)
    monkeypatch.setattr(finding, "_LOOK_SECONDS", 0.05)

    async def story() -> None:
        async with registries() as (rdap, whois):
            is_asked, may_answer = asyncio.Event(), asyncio.Event()

            async def late(_: web.Request) -> web.Response:
                is_asked.set()
                await may_answer.wait()
                return web.json_response(rdap_body("good.test"))

            rdap.about("good.test", late)
            async with (
                finder_of(database, rdap.port, whois.port) as one,
                finder_of(database, rdap.port, whois.port) as other,
                finder_of(database, rdap.port, whois.port) as third,
            ):
                first = asyncio.create_task(one.facts(DomainName("good.test")))
                await is_asked.wait()
                others = [asyncio.create_task(finder.facts(DomainName("good.test"))) for finder in (other, third)]
                while looks.count("registration") < 9:  # each of them has looked, more than once
                    await asyncio.sleep(0.01)
                assert rdap.names() == ["good.test"]
                may_answer.set()
                found = await asyncio.gather(first, *others)
            assert {facts.registration is not None for facts in found} == {True}
            assert rdap.names() == ["good.test"]

    run(story)


def test_whoever_is_ended_while_asking_leaves_it_to_the_next(database: Database) -> None:
    async def story() -> None:
        async with registries() as (rdap, whois):
            is_asked = asyncio.Event()

            async def never(_: web.Request) -> web.Response:
                is_asked.set()
                await asyncio.Event().wait()
                raise AssertionError

            rdap.about("good.test", never)
            async with finder_of(database, rdap.port, whois.port) as one:
                task = asyncio.create_task(one.facts(DomainName("good.test")))
                await is_asked.wait()
            task.cancel()
            rdap.about("good.test", rdap_body("good.test"))
            async with finder_of(database, rdap.port, whois.port) as other:
                assert (await other.facts(DomainName("good.test"))).registration is not None

    run(story)


def test_whoever_is_ended_while_a_thread_begins_leaves_it_to_the_next(database: Database) -> None:
    """The thread cannot be cancelled: it began in the name of a task that was gone, and nobody asked for minutes."""

    async def story() -> None:
        async with registries("good.test") as (rdap, whois):
            async with finder_of(database, rdap.port, whois.port) as one:
                is_begun, look = threading.Event(), one._known_or_begun

                def slowly(kind: str, subject: str) -> Kept | None:
                    known = look(kind, subject)
                    is_begun.set()
                    time.sleep(0.2)
                    return known

                one._known_or_begun = slowly  # type: ignore[method-assign]
                task = asyncio.create_task(one.facts(DomainName("good.test")))
                await asyncio.to_thread(is_begun.wait)
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(20), finder_of(database, rdap.port, whois.port) as other:
                assert (await other.facts(DomainName("good.test"))).registration is not None

    run(story)


def test_what_a_process_died_over_is_asked_again_after_its_time(database: Database) -> None:
    with database.begin() as conn:
        assert begin(conn, "registration", "good.test", seconds=60)
        assert not begin(conn, "registration", "good.test", seconds=60)
    expire(database, "registration", "good.test")

    async def story() -> None:
        async with registries("good.test") as (rdap, whois), finder_of(database, rdap.port, whois.port) as finder:
            assert (await finder.facts(DomainName("good.test"))).registration is not None

    run(story)


def test_facts_that_nobody_believes_any_more_go(database: Database) -> None:
    for n in range(5):
        with database.begin() as conn:
            keep(conn, "registration", f"old{n}.test", Kept(None, "no", 3600), source="none")
    with database.begin() as conn:
        keep(conn, "certificate", "new.test:443", Kept(None, "no", 7 * 86_400), source="none")
        keep(conn, "rdap_servers", "http://list.test", Kept({}, None, 3600), source="x")
    shift_clock(database, "1 day")
    with database.begin() as conn:
        assert [sweep(conn, limit=3), sweep(conn, limit=3), sweep(conn, limit=3)] == [3, 2, 0]
        left = conn.execute(text("select subject from domain_facts order by subject")).scalars().all()
    assert left == ["http://list.test", "new.test:443"]


def test_two_processes_keep_one_pace(database: Database) -> None:
    delay = 0.5  # far above what a busy machine makes of a moment
    names = [f"n{n}.test" for n in range(5)]

    async def story() -> None:
        async with registries(*names) as (rdap, whois):
            how: dict[str, Any] = {"registry_delay_seconds": delay}
            async with (
                finder_of(database, rdap.port, whois.port, **how) as one,
                finder_of(database, rdap.port, whois.port, **how) as other,
            ):
                await one.facts(DomainName(names[0]))
                pairs = zip(names[1:], (one, other, one, other), strict=True)
                await asyncio.gather(*(finder.facts(DomainName(name)) for name, finder in pairs))
            stamps = [moment for moment, host, _ in rdap.asked if host == "rdap.test"]
            assert len(stamps) == 5
            # A request is written a little after its turn. Each with a pace of its own would be done in two delays.
            assert stamps[-1] - stamps[0] > 3 * delay

    run(story)


def test_closing_ends_what_is_under_way(database: Database) -> None:
    async def story() -> None:
        async with registries() as (rdap, whois):
            is_asked = asyncio.Event()

            async def never(_: web.Request) -> web.Response:
                is_asked.set()
                await asyncio.sleep(20)
                return web.Response()

            rdap.about("good.test", never)
            async with finder_of(database, rdap.port, whois.port) as finder:
                task = asyncio.create_task(finder.facts(DomainName("good.test")))
                await is_asked.wait()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(story)


# What is not asked


class NoNetwork(Names):
    """Nothing may be looked up."""

    async def resolve(self, host: str, port: int = 0, family: Any = None) -> Any:
        raise AssertionError(f"{host} was looked up")


def test_names_that_nobody_registers(database: Database) -> None:
    names = {
        "192.0.2.7": "IP addresses have no registration",
        "[2001:db8::1]:8443": "IP addresses have no registration",
        "localhost:8080": "a name of one word has no registration",
        "co.uk": "co.uk is a public suffix: names are registered under it",
        "shop.test": "nobody can register names under .test",
        "box.local": "nobody can register names under .local",
    }

    async def story() -> None:
        finder = FactFinder(database, Guard(), ScoreSettings(), dns=NoNetwork())
        for name, why in names.items():
            facts = await finder.facts(DomainName(name), "http://x.test:8080/")
            assert (facts.registration, facts.registration_why) == (None, why)
            assert (facts.certificate, facts.certificate_why) == (None, "the site is served over http, at port 8080")
        await finder.close()

    run(story)


@pytest.mark.parametrize("library", ["whodap", "asyncwhois"])
def test_without_the_extra_only_registries_are_not_asked(
    database: Database, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    async def story() -> None:
        async with (
            registries("good.test") as (rdap, whois),
            finder_of(database, rdap.port, whois.port) as finder,
        ):
            facts = await finder.facts(DomainName("good.test"))
            assert facts.registration is None
            assert 'pip install "bailiwick[score]"' in facts.registration_why
            assert facts.certificate_why == "good.test:443 is not known: there is no such name"
            monkeypatch.undo()
            assert (await finder.facts(DomainName("good.test"))).registration is not None, "it was installed"

    run(story)


# Certificates


async def ignoring(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


def test_a_certificate_is_looked_at_where_the_site_is(database: Database) -> None:
    authority = trustme.CA(organization_name="Honest Signatures")
    context, trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("www.good.test", "good.test", not_after=LATER).configure_cert(context)
    authority.configure_trust(trust)
    good = Certificate(True, "Honest Signatures", LATER)

    async def story() -> None:
        async with registries("good.test") as (rdap, whois), listening(ignoring, ssl=context) as port:
            how: dict[str, Any] = {"trust": trust, "certificate_days": 3}
            async with finder_of(database, rdap.port, whois.port, port, **how) as finder:
                name = DomainName("good.test")
                facts = await finder.facts(name, f"https://www.good.test:{port}/start")
                assert (facts.certificate, facts.certificate_why) == (good, "")
                assert facts.registration is not None
                assert facts.registration.registered_on == date(2014, 3, 2)
                assert (await finder.facts(DomainName(f"good.test:{port}"))).certificate == good
                assert (await finder.facts(name, "http://good.test/")).certificate is None
                kept = rows(database)
                assert kept["certificate", f"www.good.test:{port}"] == ("tls", 3 * 86_400, True)
                assert kept["certificate", "good.test:443"] == ("none", 6 * 3_600, False)
        # The server is gone: what was seen is believed.
        async with finder_of(database, rdap.port, whois.port, port, **how) as finder:
            assert (await finder.facts(name, f"https://www.good.test:{port}/")).certificate == good

    run(story)
