"""A look at the certificate that a server shows. TLS is spoken to it, and no request is sent."""

import asyncio
import ssl
from pathlib import Path

from bailiwick.base.errors import SettingsError
from bailiwick.score.facts.connecting import Connector, failure_words
from bailiwick.score.facts.der import read_certificate
from bailiwick.score.facts.known import Certificate, Untold, plain

_EXPIRED, _NOT_YET, _SELF_SIGNED, _WRONG_NAME, _UNKNOWN = (10,), (9,), (18, 19), (62, 63, 64), (2, 20, 21)
_WHY = {
    **dict.fromkeys(_EXPIRED, "it has expired"),
    **dict.fromkeys(_NOT_YET, "it is not valid yet"),
    **dict.fromkeys(_SELF_SIGNED, "it is signed by itself or by an authority that nobody knows"),
    **dict.fromkeys(_WRONG_NAME, "it is for another name"),
    **dict.fromkeys(_UNKNOWN, "it is not signed by an authority that is trusted"),
}
"""By OpenSSL's codes (X509_V_ERR_…)."""


def trusted(extra_ca_file: Path | None = None) -> ssl.SSLContext:
    """What certificates are checked against: the system's authorities, and the operator's."""
    context = ssl.create_default_context()
    try:
        if extra_ca_file is not None:
            context.load_verify_locations(extra_ca_file)
    except OSError as error:
        raise SettingsError(
            f"net.extra_ca_file {extra_ca_file}: {error}", hint="it has to be a PEM file with certificates"
        ) from error
    return context


async def look_at_certificate(
    connector: Connector, host: str, port: int, *, trust: ssl.SSLContext, seconds: float
) -> Certificate | Untold:
    """The certificate, valid or not. One that is not is asked for again without a check, to see whose it is."""
    try:
        read = read_certificate(await _shown(connector, host, port, trust=trust, seconds=seconds))
        return Certificate(True, read.issuer, read.not_after)
    except ssl.SSLCertVerificationError as error:
        why = _WHY.get(error.verify_code) or plain(error.verify_message) or "it cannot be verified"
    except (OSError, ValueError) as error:
        return Untold(failure_words(error, f"{host}:{port}", seconds))
    try:
        read = read_certificate(await _shown(connector, host, port, trust=_unchecked(), seconds=seconds))
    except (OSError, ValueError):
        return Certificate(False, None, None, why)
    return Certificate(False, read.issuer, read.not_after, why)


async def _shown(connector: Connector, host: str, port: int, *, trust: ssl.SSLContext, seconds: float) -> bytes:
    async with asyncio.timeout(seconds):
        _, writer = await connector.open(host, port, tls=trust)
    try:
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return der if isinstance(der, bytes) else b""
    finally:
        writer.transport.abort()


def _unchecked() -> ssl.SSLContext:
    """Only to read a certificate that was found to be bad; nothing is sent over such a connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
