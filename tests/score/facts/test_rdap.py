"""Registrations by RDAP: good servers, and every way in which a server can be bad."""

import asyncio
from datetime import date
from typing import Any

import pytest
from aiohttp import web
from sqlalchemy import text

from bailiwick.db.engine import Database
from bailiwick.model.names import DomainName
from bailiwick.score.facts.known import DomainFacts, Registration, Untold
from bailiwick.score.facts.rdap_reading import RdapAnswer, read_rdap
from bailiwick.score.facts.rdap_servers import read_servers
from bailiwick.score.facts.web import MAX_BODY_BYTES
from tests.score.facts.registries import RdapServer, WhoisServer, as_json, finder_of, person, rdap_body, run

GOOD = Registration(date(2014, 3, 2), date(2031, 3, 2), "Good Names Inc.", False, "rdap", {}, "rdap.test")
NO_SERVERS = Untold("it names no servers")
BOTH = ("https://a/", "http://b/")


def status(code: int, **headers: str) -> Any:
    async def respond(_: web.Request) -> web.Response:
        return web.Response(status=code, headers={key.replace("_", "-"): value for key, value in headers.items()})

    return respond


def saying(body: bytes) -> Any:
    async def respond(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/rdap+json")

    return respond


async def never(_: web.Request) -> web.Response:
    await asyncio.sleep(20)
    return web.Response()


def asked_of(database: Database, server: RdapServer, *names: str, **changes: Any) -> dict[str, DomainFacts]:
    """The facts of these names, asked for at once; WHOIS knows none of them."""
    found: dict[str, DomainFacts] = {}

    async def story() -> None:
        async with server.running(), WhoisServer().running() as whois:
            server.list_servers("test", "busy")
            async with finder_of(database, server.port, whois.port, **changes) as finder:
                facts = await asyncio.gather(*(finder.facts(DomainName(name)) for name in names))
                found.update(zip(names, facts, strict=True))

    run(story)
    return found


def test_a_registry_tells_all(database: Database) -> None:
    server = RdapServer()
    server.about("good.test", rdap_body("good.test"))
    facts = asked_of(database, server, "shop.good.test")["shop.good.test"]
    assert facts.registration == GOOD
    assert facts.registration_why == ""
    assert server.names() == ["good.test"], "the registry is asked about what is registered"


def bad_server() -> tuple[RdapServer, dict[str, str]]:
    """A server that is bad in many ways, and what is to be said about each."""
    server = RdapServer()
    cases: dict[str, tuple[object, str]] = {
        "missing.test": (status(404), "rdap.test knows no such domain (404)"),
        "failing.test": (status(500), "rdap.test answered 500"),
        "odd.test": (status(204), "rdap.test answered 204"),
        "malformed.test": (saying(b'{"ldhName": "malf'), "rdap.test: the answer is no JSON"),
        "binary.test": (saying(bytes(range(256))), "rdap.test: the answer is no JSON"),
        "deep.test": (saying(b"[" * 200_000), "rdap.test: the answer is no JSON"),
        "list.test": ([], "rdap.test: the answer is no RDAP"),
        "nothing.test": ({}, "rdap.test: the answer says nothing about the domain"),
        "other.test": (rdap_body("evil.test"), "rdap.test: the answer is about EVIL.TEST"),
        "huge.test": (saying(b" " * (MAX_BODY_BYTES + 1)), "is cut off or longer than 1,000,000 bytes"),
        "inside.test": (status(302, Location="http://127.0.0.1/domain/inside.test"), "127.0.0.1 is refused"),
        "metadata.test": (status(302, Location="http://169.254.169.254/latest"), "169.254.169.254 is refused"),
        "port.test": (status(302, Location="http://127.0.0.1:22/"), "redirects to an address that is not followed"),
        "scheme.test": (status(302, Location="file:///etc/passwd"), "redirects to an address that is not followed"),
        "noplace.test": (status(302), "rdap.test redirects in a circle"),
        "circle.test": (status(301, Location="/domain/elcric.test"), "rdap.test redirects in a circle"),
        "elcric.test": (status(301, Location="/domain/circle.test"), "rdap.test redirects in a circle"),
        "far.test": (status(307, Location="/1"), "more than 3 redirects"),
    }
    for name, (answer, _) in cases.items():
        server.about(name, answer)
    server.paths.update({f"/{n}": status(307, Location=f"/{n + 1}") for n in range(1, 5)})
    return server, {name: why for name, (_, why) in cases.items()}


def test_whatever_a_registry_does_is_a_reason(database: Database) -> None:
    server, expected = bad_server()
    found = asked_of(database, server, *expected)
    for name, why in expected.items():
        assert found[name].registration is None
        assert why in found[name].registration_why, name
        assert "WHOIS: whois.iana.test:" in found[name].registration_why, "WHOIS was asked, too"
    assert "/4" not in [path for _, _, path in server.asked]


def test_a_silent_registry_is_given_up(database: Database) -> None:
    server = RdapServer()
    server.about("silent.test", never)
    found = asked_of(database, server, "silent.test", registry_timeout_seconds=0.5)["silent.test"]
    assert found.registration_why.startswith("RDAP: rdap.test did not answer in 0.5 s; WHOIS: ")


def test_redirects_are_followed_within_reason(database: Database) -> None:
    server = RdapServer()
    server.about("moved.test", status(301, Location="/there"))
    server.paths["/there"] = status(302, Location="/domain/good.test?a=b")
    server.about("good.test", rdap_body("moved.test"))
    assert asked_of(database, server, "moved.test")["moved.test"].registration == GOOD


def test_who_asks_for_a_pause_gets_it(database: Database) -> None:
    server = RdapServer()
    server.about("limited.busy", status(429, Retry_After="120"))
    found = asked_of(database, server, "limited.busy")
    assert "rdap.busy asks us to wait (429)" in found["limited.busy"].registration_why
    with database.read() as conn:
        query = text("select extract(epoch from next_at - bailiwick_now()) from host_gates where host = :host")
        assert 100 < float(conn.execute(query, {"host": "registry:rdap.busy"}).scalar_one()) <= 120

    found = asked_of(database, server, "next.busy")
    assert "RDAP: rdap.busy is asked too much at the moment" in found["next.busy"].registration_why
    assert server.names() == ["limited.busy"]
    with database.read() as conn:
        rows = conn.execute(text("select subject from domain_facts where kind = 'registration'")).scalars()
        assert list(rows) == ["limited.busy"], "what passes in a moment is not remembered"


def test_registrars_tell_of_registrants_where_registries_do_not(database: Database) -> None:
    """As with .com: the registry has dates and registrar, its registrar has the registrant."""
    server = RdapServer()

    def thin(name: str, href: str) -> dict[str, Any]:
        link = {"rel": "related", "type": "application/rdap+json", "href": href}
        return rdap_body(name, entities=[person("registrar", fn="Thick Names")], links=[{"rel": "self"}, link])

    async def linked(request: web.Request) -> web.Response:
        name = request.path.rpartition("/")[2]
        return web.json_response(thin(name, f"http://registrar.test:{server.port}/r/domain/{name}"))

    server.about("thin.test", linked)
    server.about("lost.test", linked)
    server.about("trap.test", thin("trap.test", "http://10.0.0.1/domain/trap.test"))
    old = [{"eventAction": "registration", "eventDate": "1999-01-01T00:00:00Z"}]
    hidden = person("registrant", fn="REDACTED FOR PRIVACY", org="Privacy service provided by Withheld for Privacy ehf")
    server.paths["/r/domain/thin.test"] = rdap_body("thin.test", entities=[hidden], events=old)
    found = asked_of(database, server, "thin.test", "lost.test", "trap.test")

    told = found["thin.test"].registration
    assert told is not None
    assert (told.is_private, told.registrar, told.why_not, told.is_partial) == (True, "Thick Names", {}, False)
    assert told.registered_on == date(2014, 3, 2), "dates are the registry's"
    for name, why in {"lost.test": "registrar.test knows no such domain", "trap.test": "10.0.0.1 is refused"}.items():
        told = found[name].registration
        assert told is not None
        assert (told.registered_on, told.is_private, told.is_partial) == (date(2014, 3, 2), None, True)
        assert why in told.why_not["is_private"]


# The list of servers


def test_the_list_is_read_once_and_kept(database: Database) -> None:
    async def story() -> None:
        async with RdapServer().running() as server, WhoisServer().running() as whois:
            server.list_servers("test")
            async with finder_of(database, server.port, whois.port) as finder:
                await asyncio.gather(*(finder.facts(DomainName(name)) for name in ("a.test", "b.test", "c.test")))
            async with finder_of(database, server.port, whois.port) as another:
                await another.facts(DomainName("d.test"))
            assert sorted(server.names()) == ["a.test", "b.test", "c.test", "d.test"]
            assert [path for _, _, path in server.asked].count("/dns.json") == 1

    run(story)


def test_an_old_list_is_better_than_none(database: Database) -> None:
    async def story() -> None:
        async with RdapServer().running() as server, WhoisServer().running() as whois:
            server.list_servers("test")
            server.about("good.test", rdap_body("good.test"))
            async with finder_of(database, server.port, whois.port) as finder:
                await finder.facts(DomainName("one.test"))
            with database.begin() as conn:
                conn.execute(text("update domain_facts set expires_at = bailiwick_now() where kind = 'rdap_servers'"))
            server.paths["/dns.json"] = status(503)
            async with finder_of(database, server.port, whois.port) as finder:
                facts = await finder.facts(DomainName("good.test"))
                assert facts.registration == GOOD
            assert [path for _, _, path in server.asked].count("/dns.json") == 2

    run(story)


def test_without_a_list_whois_is_asked(database: Database) -> None:
    server = RdapServer()
    found = asked_of(database, server, "some.museum")["some.museum"]
    assert found.registration_why.startswith("RDAP: no RDAP server is known for .museum; WHOIS: whois.iana.test:")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<html>", Untold("it is no JSON")),
        (b"[" * 100_000, Untold("it is no JSON")),
        (b"[]", NO_SERVERS),
        (as_json({"services": [["com"], 7, [["net"], ["ftp://x/"]], [[7], ["https://x/"]]]}), NO_SERVERS),
        (as_json({"services": [[["com", "Net"], ["http://b/", "https://a/"]]]}), {"com": BOTH, "net": BOTH}),
    ],
)
def test_the_list_may_be_anything(body: bytes, expected: object) -> None:
    assert read_servers(body) == expected


# Answers


def read(**changes: Any) -> RdapAnswer:
    answer = read_rdap(as_json(rdap_body("good.test", **changes)), "good.test")
    assert isinstance(answer, RdapAnswer)
    return answer


def dated(*days: object) -> list[dict[str, object]]:
    return [{"eventAction": "registration", "eventDate": day} for day in days]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (["2014-03-02"], date(2014, 3, 2)),
        (["2014-03-02T00:00:00"], date(2014, 3, 2)),
        (["2014-03-02T23:59:59+14:00"], date(2014, 3, 2)),
        (["2020-01-01T00:00:00Z", "2014-03-02T00:00:00Z", "2016-01-01T00:00:00Z"], date(2014, 3, 2)),
        (["soon", 7, None, {}, "2014-03-02T00:00:00.000Z"], date(2014, 3, 2)),
        (["0000-00-00T00:00:00Z", "9" * 5000], None),
        ([], None),
    ],
)
def test_of_several_dates_the_earliest_that_is_one_counts(days: list[object], expected: date | None) -> None:
    assert read(events=dated(*days)).registered_on == expected


@pytest.mark.parametrize(
    "events", [7, "x", {}, [7], [None], [{"eventDate": "2014-01-01"}], [{"eventAction": 7, "eventDate": "2014-01-01"}]]
)
def test_events_may_be_anything(events: object) -> None:
    assert read(events=events).registered_on is None


@pytest.mark.parametrize(
    "entities",
    [7, "x", {}, [7], [None], [{"roles": 7}], [{"roles": [7]}], [{"roles": ["registrar"], "vcardArray": 7}],
     [{"roles": ["registrar"], "vcardArray": ["vcard", [["fn", {}, "text", 7], ["tel", {"type": 7}, "uri", "x"]]]}]],
)  # fmt: skip
def test_entities_may_be_anything(entities: object) -> None:
    answer = read(entities=entities)
    assert (answer.registrar, answer.is_private) == (None, None)
    assert answer.registered_on == date(2014, 3, 2)


def test_names_are_one_short_line() -> None:
    answer = read(entities=[person("registrar", fn=" Good\0Names\n\u202egnp.exe \ud800" + "x" * 5000)])
    assert answer.registrar is not None
    assert answer.registrar.startswith("Good Names gnp.exe ?xxx")
    assert len(answer.registrar) == 200
    answer.registrar.encode()


def redaction(method: str = "removal") -> list[dict[str, Any]]:
    return [{"name": {"type": "Registrant Name"}, "method": method, "postPath": "$.entities[0].vcardArray[1][1][3]"}]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"entities": [person("registrant", fn="Ada Lovelace")]}, False),
        ({"entities": [person("registrant", fn="REDACTED FOR PRIVACY", org="Engines Private Limited")]}, False),
        ({"entities": [person("registrant", fn="Domains By Proxy, LLC")]}, True),
        ({"entities": [person("registrant", fn="")], "redacted": redaction()}, True),
        ({"entities": [{**person("registrant"), "remarks": [{"title": "REDACTED FOR PRIVACY"}]}]}, True),
        ({"entities": [person("registrant", fn="")]}, None),
        ({"entities": [person("technical", fn="Ada Lovelace")]}, None),
    ],
)  # fmt: skip
def test_whether_the_registrant_is_hidden(changes: dict[str, Any], expected: bool | None) -> None:
    assert read(**changes).is_private is expected


def test_a_name_in_other_letters_is_the_same_name() -> None:
    body = as_json(rdap_body("MÜNCHEN.de"))
    assert isinstance(read_rdap(body, "xn--mnchen-3ya.de"), RdapAnswer)
    assert isinstance(read_rdap(body, "munchen.de"), Untold)
