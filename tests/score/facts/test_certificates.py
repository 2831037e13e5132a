"""Certificates of local servers, good and bad; and reading them out of their bytes, against another reader of them."""

import asyncio
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.base.errors import SettingsError
from bailiwick.net.guard import Guard
from bailiwick.score.facts.certificates import look_at_certificate, trusted
from bailiwick.score.facts.connecting import Connector
from bailiwick.score.facts.der import Read, read_certificate
from bailiwick.score.facts.known import Certificate, Untold
from tests.net.inside import Names
from tests.score.facts.registries import Serve, here, listening

HOST = "good.test"
LATER = datetime(2040, 5, 6, 7, 8, 9, tzinfo=UTC)
Loop = Callable[[], asyncio.AbstractEventLoop]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="Honest Signatures")


def made(
    *, issuer: list[tuple[Any, str]], not_after: datetime, key: ec.EllipticCurvePrivateKey | None = None
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate signed by itself."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(oid, value) for oid, value in issuer])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(7).not_valid_before(datetime(1960, 1, 1, tzinfo=UTC)).not_valid_after(not_after)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    return builder.sign(key, hashes.SHA256()), key


def server_context(leaf: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    leaf.configure_cert(context)
    return context


async def closing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def reading(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    sent = await reader.read()
    assert sent == b"", "no request is sent"


async def speaking_http(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await writer.drain()


async def slow(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(20)


def look(
    authority: trustme.CA, serve: Serve, context: ssl.SSLContext | None = None, *, host: str = HOST,
    loop: Loop = uvloop.new_event_loop, seconds: float = 5,
) -> Certificate | Untold:  # fmt: skip
    trust = trusted()
    authority.configure_trust(trust)

    async def story() -> Certificate | Untold:
        async with listening(serve, ssl=context) as port:
            connector = Connector(here(port), Names())
            try:
                return await look_at_certificate(connector, host, port, trust=trust, seconds=seconds)
            finally:
                await connector.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(story())


@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_a_good_certificate(authority: trustme.CA, loop: Loop) -> None:
    context = server_context(authority.issue_cert(HOST, not_after=LATER))
    assert look(authority, reading, context, loop=loop) == Certificate(True, "Honest Signatures", LATER)


@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_an_expired_certificate(authority: trustme.CA, loop: Loop) -> None:
    ended = datetime(2020, 1, 2, tzinfo=UTC)
    leaf = authority.issue_cert(HOST, not_before=ended - timedelta(days=90), not_after=ended)
    expected = Certificate(False, "Honest Signatures", ended, "it has expired")
    assert look(authority, reading, server_context(leaf), loop=loop) == expected


def test_a_certificate_that_is_not_valid_yet(authority: trustme.CA) -> None:
    leaf = authority.issue_cert(HOST, not_before=LATER - timedelta(days=90), not_after=LATER)
    expected = Certificate(False, "Honest Signatures", LATER, "it is not valid yet")
    assert look(authority, reading, server_context(leaf)) == expected


def test_a_certificate_for_another_name(authority: trustme.CA) -> None:
    context = server_context(authority.issue_cert("other.test", not_after=LATER))
    expected = Certificate(False, "Honest Signatures", LATER, "it is for another name")
    assert look(authority, reading, context) == expected


def test_a_certificate_of_an_unknown_authority(authority: trustme.CA) -> None:
    unknown = trustme.CA(organization_name="Trust Me")
    found = look(authority, reading, server_context(unknown.issue_cert(HOST, not_after=LATER)))
    assert isinstance(found, Certificate)
    assert (found.is_valid, found.issuer, found.not_after) == (False, "Trust Me", LATER)
    assert "authority" in found.why


def test_a_certificate_signed_by_itself(authority: trustme.CA, tmp_path: Any) -> None:
    certificate, key = made(issuer=[(NameOID.COMMON_NAME, "my own box")], not_after=LATER)
    pem = tmp_path / "own.pem"
    no_password = serialization.NoEncryption()
    pem.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, no_password)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem)
    why = "it is signed by itself or by an authority that nobody knows"
    assert look(authority, reading, context) == Certificate(False, "my own box", LATER, why)


@pytest.mark.parametrize(
    ("serve", "why"),
    [(speaking_http, "speaks no TLS"), (closing, "closed the connection"), (slow, "did not answer in 0.3 s")],
)
@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_servers_without_a_certificate(authority: trustme.CA, serve: Serve, why: str, loop: Loop) -> None:
    found = look(authority, serve, loop=loop, seconds=0.3)
    assert isinstance(found, Untold)
    assert why in found.why
    assert not found.is_passing


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1", "127.0.0.1:443 is refused: its address is not a public one"),
        ("::1", "::1:443 is refused"),
        ("inside.test", "inside.test:443 is refused"),
        ("nowhere.test", "nowhere.test:443 is not known"),
        ("x" * 64 + ".test", "cannot be asked"),
    ],
)
def test_nobody_listens_where_we_may_not_go(host: str, why: str) -> None:
    async def story() -> Certificate | Untold:
        dns = None if len(host) > 64 else Names({"inside.test": [["192.168.0.1"]]})
        connector = Connector(Guard(), dns)
        return await look_at_certificate(connector, host, 443, trust=trusted(), seconds=5)

    found = asyncio.run(story())
    assert isinstance(found, Untold)
    assert why in found.why


def test_the_operators_authorities_have_to_be_some(tmp_path: Any) -> None:
    (tmp_path / "none.pem").write_text("hello")
    for file in ("none.pem", "missing.pem"):
        with pytest.raises(SettingsError, match=r"net\.extra_ca_file"):
            trusted(tmp_path / file)


# Their bytes

KEY = ec.generate_private_key(ec.SECP256R1())
WORDS = st.text("abcXYZ.-&'ÄéßЖ漢字🙂", min_size=1, max_size=60)
MOMENTS = st.datetimes(datetime(1961, 1, 1), datetime(2999, 1, 1)).map(lambda at: at.replace(microsecond=0, tzinfo=UTC))  # noqa: DTZ001 - it is set right after


@settings(max_examples=30)
@given(WORDS, WORDS, MOMENTS, st.booleans())
def test_what_is_written_is_read(organisation: str, common_name: str, not_after: datetime, has_both: bool) -> None:
    issuer: list[tuple[Any, str]] = [(NameOID.COUNTRY_NAME, "BE"), (NameOID.COMMON_NAME, common_name)]
    if has_both:
        issuer.append((NameOID.ORGANIZATION_NAME, organisation))
    certificate, _ = made(issuer=issuer, not_after=not_after, key=KEY)
    der = certificate.public_bytes(serialization.Encoding.DER)
    assert read_certificate(der) == Read(organisation if has_both else common_name, certificate.not_valid_after_utc)


DER = made(issuer=[(NameOID.COMMON_NAME, "x")], not_after=LATER, key=KEY)[0].public_bytes(serialization.Encoding.DER)


@settings(max_examples=60)
@given(st.data())
def test_broken_bytes_are_read_without_harm(data: st.DataObject) -> None:
    der = bytearray(DER)
    for _ in range(data.draw(st.integers(0, 6))):
        der[data.draw(st.integers(0, 150))] = data.draw(st.integers(0, 255))
    read_certificate(bytes(der[: data.draw(st.integers(0, len(der)))]))


@pytest.mark.parametrize("der", [b"", b"\x30", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", b"\x30\x00", b"0" * 5000])
def test_what_is_no_certificate(der: bytes) -> None:
    assert read_certificate(der) == Read(None, None)
