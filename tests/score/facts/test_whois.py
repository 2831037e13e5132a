"""Registrations by WHOIS: from server to server, and servers that are bad in every way."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from typing import Any

from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.score.facts.finding import FactFinder
from bailiwick.score.facts.known import DomainFacts, Registration
from bailiwick.score.facts.whois import MAX_ANSWER_BYTES
from tests.net.inside import Names, canary
from tests.score.facts import whois_texts as texts
from tests.score.facts.registries import RdapServer, WhoisServer, finder_of, run


@asynccontextmanager
async def asking(database: Database, *servers: WhoisServer, **changes: Any) -> AsyncIterator[FactFinder]:
    """A finder that RDAP tells nothing; the first server is the root."""
    async with RdapServer().running() as rdap:
        rdap.list_servers("nowhere")
        others = [server.port for server in servers[1:]]
        async with finder_of(database, rdap.port, servers[0].port, *others, **changes) as finder:
            yield finder


def root_of(server: str, *names: str) -> dict[str, bytes]:
    return {name: texts.referring(texts.IANA, server) for name in names}


def test_servers_are_asked_one_after_the_other(database: Database) -> None:
    async def story() -> None:
        root, registry, agent = WhoisServer(), WhoisServer(), WhoisServer()
        async with root.running(), registry.running(), agent.running():
            root.answers = root_of(f"whois.registry.test:{registry.port}", "rowing.com", "other.com")
            registry.answers["rowing.com"] = texts.referring(texts.VERISIGN, f"whois.agent.test:{agent.port}")
            agent.answers["rowing.com"] = texts.MARKMONITOR
            async with asking(database, root, registry, agent) as finder:
                facts = await finder.facts(DomainName("rowing.com"))
                teller = f"whois.registry.test:{registry.port}"
                assert facts.registration == Registration(
                    date(1998, 8, 14), date(2031, 8, 13), "MarkMonitor Inc.", False, "whois", {}, teller
                ), "the registry's word counts before its registrar's"
                assert root.names() == registry.names() == agent.names() == ["rowing.com"]

                facts = await finder.facts(DomainName("other.com"))
                assert facts.registration is None
                assert f"WHOIS: {teller}: it knows no such domain" in facts.registration_why
                assert root.names() == ["rowing.com"], "where .com is known is remembered"

    run(story)


def test_a_referral_inside_is_refused(database: Database) -> None:
    """By address, by name, and to a port where somebody listens."""

    async def story() -> None:
        with canary() as trap:
            async with WhoisServer().running() as root:
                places = {
                    "a.com": ("127.0.0.1", "127.0.0.1:43 is refused: its address is not a public one"),
                    "b.net": ("10.1.2.3", "10.1.2.3:43 is refused"),
                    "c.org": ("whois.inside.test", "whois.inside.test:43 is refused"),
                    "d.biz": (f"127.0.0.1:{trap.port}", "is no WHOIS server that is asked"),
                    "e.info": (f"whois.inside.test:{trap.port}", "is no WHOIS server that is asked"),
                    "f.name": ("whois.registry.test:25", "is no WHOIS server that is asked"),
                    "g.pro": ("-/etc/passwd", "- is no WHOIS server that is asked"),
                    "h.mobi": ("whois.nowhere.test", "there is no such name"),
                }
                root.answers = {name: texts.referring(texts.IANA, server) for name, (server, _) in places.items()}
                names = Names({"whois.inside.test": [["169.254.169.254"]], "whois.registry.test": [["93.184.215.14"]]})
                async with asking(database, root, dns=names) as finder:
                    found = await asyncio.gather(*(finder.facts(DomainName(name)) for name in places))
                for facts, (_, why) in zip(found, places.values(), strict=True):
                    assert facts.registration is None
                    assert why in facts.registration_why
            assert trap.hits() == 0

    run(story)


def test_referrals_end(database: Database) -> None:
    async def story() -> None:
        async with WhoisServer().running() as root, WhoisServer().running() as other:
            # In a circle, and to ever new names of one server.
            root.answers = root_of(f"whois.other.test:{other.port}", "circle.com")
            root.answers["far.net"] = f"refer: w1.test:{other.port}\n".encode()
            other.answers["circle.com"] = f"Whois Server: whois.iana.test:{root.port}\n".encode()

            async def farther(writer: asyncio.StreamWriter) -> None:
                writer.write(f"refer: w{len(other.asked) + 10}.test:{other.port}\n".encode())

            other.answers["far.net"] = farther
            async with asking(database, root, other) as finder:
                facts = await finder.facts(DomainName("circle.com"))
                assert "the answer holds no registration" in facts.registration_why
                assert (root.names(), other.names()) == (["circle.com"], ["circle.com"])
                await finder.facts(DomainName("far.net"))
                assert other.names().count("far.net") == 3

    run(story)


async def hanging(_: asyncio.StreamWriter) -> None:
    await asyncio.sleep(20)


async def dribbling(writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"Domain Name: slow.com\n")
        await asyncio.sleep(0.05)


async def flooding(writer: asyncio.StreamWriter) -> None:
    for _ in range(160):
        writer.write(b"Domain Name: flood.com\nCreation Date: 2001-01-01\n" * 1400)
        await writer.drain()
    raise AssertionError("somebody read it all")


async def resetting(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def test_whatever_a_server_does_is_a_reason(database: Database) -> None:
    answers: dict[str, Any] = {
        "flood.com": (flooding, f"is longer than {MAX_ANSWER_BYTES:,} bytes"),
        "reset.com": (resetting, "whois.iana.test"),
        "empty.com": (b"", "the answer is empty"),
        "binary.com": (bytes(range(256)) * 900, "the answer holds no registration"),
        "garbage.com": (b"\xff\xfe\x00garbage.com\x00\n" * 50, "the answer holds no registration"),
        "lying.com": (texts.NOMINET, "the answer holds no registration"),
        "sorry.com": (b"Domain sorry.com not found.\n", "it knows no such domain"),
    }

    found = told_by({name: answer for name, (answer, _) in answers.items()}, database)
    for name, facts in found.items():
        assert facts.registration is None, name
        assert answers[name][1] in facts.registration_why, name


def test_slow_servers_are_given_up(database: Database) -> None:
    found = told_by({"hanging.com": hanging, "slow.com": dribbling}, database, registry_timeout_seconds=0.5)
    assert all("did not answer in 0.5 s" in facts.registration_why for facts in found.values())


def told_by(answers: dict[str, Any], database: Database, **changes: Any) -> dict[str, DomainFacts]:
    """The facts of these names, asked for at once."""
    found: dict[str, DomainFacts] = {}

    async def story() -> None:
        root = WhoisServer(answers)
        async with root.running(), asking(database, root, **changes) as finder:
            facts = await asyncio.gather(*(finder.facts(DomainName(name)) for name in answers))
            found.update(zip(answers, facts, strict=True))

    run(story)
    return found


def test_what_one_server_told_stays_if_the_next_does_not_answer(database: Database) -> None:
    async def story() -> None:
        async with WhoisServer().running() as root:
            root.answers["rowing.com"] = texts.referring(texts.VERISIGN, "10.0.0.1")
            async with asking(database, root) as finder:
                told = (await finder.facts(DomainName("rowing.com"))).registration
            assert told is not None
            assert (told.registered_on, told.is_private, told.is_partial) == (date(1998, 8, 14), None, True)
            assert "10.0.0.1:43 is refused" in told.why_not["is_private"]
        with database.read() as conn:
            left = text("select extract(epoch from expires_at - seen_at) from domain_facts where kind = 'registration'")
            assert float(conn.execute(left).scalar_one()) == 6 * 3600, "it is asked again soon"

    run(story)


def test_who_says_that_we_ask_too_much_is_left_alone(database: Database) -> None:
    async def story() -> None:
        root = WhoisServer({"a.com": b"WHOIS LIMIT EXCEEDED\n"})
        async with root.running(), asking(database, root) as finder:
            facts = await finder.facts(DomainName("a.com"))
        assert "it says that we ask too much" in facts.registration_why
        with database.read() as conn:
            held = text("select next_at > bailiwick_now() + interval '30 s' from host_gates where host = :gate")
            assert conn.execute(held, {"gate": "registry:whois.iana.test"}).scalar_one()

    run(story)


def test_rdap_without_a_date_is_completed_by_whois(database: Database) -> None:
    async def story() -> None:
        async with RdapServer().running() as rdap, WhoisServer({"rowing.com": texts.VERISIGN}).running() as whois:
            rdap.list_servers("com")
            rdap.about("rowing.com", {"objectClassName": "domain", "ldhName": "rowing.com"})
            rdap.about("undated.com", {"objectClassName": "domain", "ldhName": "undated.com"})
            async with finder_of(database, rdap.port, whois.port) as finder:
                told = (await finder.facts(DomainName("rowing.com"))).registration
                assert told is not None
                assert (told.source, told.registered_on) == ("whois", date(1998, 8, 14))
                told = (await finder.facts(DomainName("undated.com"))).registration
                assert told is not None
                assert (told.source, told.registered_on, told.why_not["registered_on"]) == (
                    "rdap", None, "the registry tells no date of registration",
                )  # fmt: skip

    run(story)
