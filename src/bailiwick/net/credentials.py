"""What the operator's file says about single domains: headers, cookies, basic auth. Never sent over plain http."""

import base64
from collections.abc import Mapping

from bailiwick.base.errors import SettingsError
from bailiwick.base.sections import DomainAccess, FromEnvironment
from bailiwick.model.names import DomainName


class Credentials:
    """The access that the file gives, by domain; secrets are read from the environment once."""

    def __init__(self, access: Mapping[str, DomainAccess] | None = None) -> None:
        self._headers = {
            DomainName.parse(name, allow_private=True): _headers(name, given) for name, given in (access or {}).items()
        }

    def headers_for(self, domain: DomainName, url: str) -> dict[str, str]:
        """The headers to send with this request; none over plain http."""
        return dict(self._headers.get(domain, {})) if url.startswith("https://") else {}


def _headers(name: str, given: DomainAccess) -> dict[str, str]:
    try:
        headers = {header: _value(value) for header, value in given.headers.items()}
        if given.cookies:
            headers["Cookie"] = "; ".join(f"{cookie}={value.read()}" for cookie, value in given.cookies.items())
        if given.basic_auth is not None:
            pair = f"{given.basic_auth.user}:{given.basic_auth.password.read()}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    except SettingsError as error:
        raise SettingsError(f'[domains."{name}"]: {error.message}', hint=error.hint) from error
    return headers


def _value(value: str | FromEnvironment) -> str:
    return value if isinstance(value, str) else value.read()
