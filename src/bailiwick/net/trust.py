"""What certificates of servers are checked against."""

import ssl
from functools import cache

from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import NetSettings


def trust(settings: NetSettings) -> ssl.SSLContext:
    """The system's authorities, and the operator's own of `net.extra_ca_file`. SettingsError if it is none."""
    if settings.extra_ca_file is None:
        return _systems_own()
    context = _made()
    try:
        context.load_verify_locations(settings.extra_ca_file)
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(
            f"net.extra_ca_file {settings.extra_ca_file}: {error}", hint="it has to be a PEM file with certificates"
        ) from error
    return context


@cache
def _systems_own() -> ssl.SSLContext:
    """Once a process: reading all the authorities takes a while."""
    return _made()


def _made() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
