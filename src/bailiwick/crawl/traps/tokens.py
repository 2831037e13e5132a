"""Session tokens in URLs, by their name or by their looks."""

import re
from dataclasses import dataclass

from bailiwick.crawl.traps.memory import Kind, key_of

_SESSION_NAMES = (
    "sid|s|sess|sessid|session|sessionid|session_id|session_key|sess_id|usersession|phpsessid|jsessionid|oscsid|osadminid|"
    "xtcsid|zenid|cfid|cftoken|aspsessionid[a-z]*"
)
_SESSION_PARAMETER = re.compile(rf"(?:^|&)({_SESSION_NAMES})=([0-9A-Za-z_.!~,-]+)(?=&|$)", re.I)
_PATH_PARAMETER = re.compile(r";(jsessionid|phpsessid|sid|sessionid|session)=[^/;]*", re.I)
_COOKIELESS = re.compile(r"/\((?:[A-Za-z]\([0-9A-Za-z]*\))+\)")  # ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/page.aspx
_RANDOM = re.compile(
    r"(?<=[/=])(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9A-Za-z]{23,128})(?=[/&.;]|$)", re.I
)


@dataclass(frozen=True, slots=True)
class Token:
    """A path with what looks like a session's token in it."""

    key: int
    """Where the token is: under which parameter name, or after which folder."""
    rest: str
    """The path without it."""
    is_named: bool
    """Known for a session's by its name, not by its looks only."""


def token_of(head: str, query: str) -> Token | None:
    """The first token of a path; all of them are taken out of the rest."""
    name = ""
    if ";" in head and (found := _PATH_PARAMETER.search(head)):
        name, head = found[1], _PATH_PARAMETER.sub("", head)
    if "/(" in head and _COOKIELESS.search(head):
        name, head = "()", _COOKIELESS.sub("", head) or "/"
    if query and (given := [found for found in _SESSION_PARAMETER.finditer(query) if _is_session(found[1], found[2])]):
        name = given[0][1]
        taken = {found[0].lstrip("&") for found in given}
        query = "&".join(part for part in query.split("&") if part not in taken)
    rest = f"{head}?{query}" if query else head
    if name:
        return Token(key_of(Kind.TOKEN, f";{name.lower()}"), rest, is_named=True)
    return _random_token(rest)


def _is_session(name: str, value: str) -> bool:
    """`sid` may be the number of a story: a token is long, and letters and digits are mixed in it."""
    return name.lower() in ("cfid", "cftoken") or len(value) >= 12 and _is_mixed(value)


def _is_mixed(value: str) -> bool:
    digits = sum(char.isdigit() for char in value)
    return 2 <= digits and any(char.isalpha() for char in value)


def _random_token(path: str) -> Token | None:
    found = next((found for found in _RANDOM.finditer(path) if _is_mixed(found[0])), None)
    if found is None:
        return None
    rest = _RANDOM.sub(lambda each: "*" if _is_mixed(each[0]) else each[0], path)
    before = path[: found.start()]
    name = re.split("[?&]", before)[-1] if before[-1] == "=" else before.translate(_NO_DIGITS)
    return Token(key_of(Kind.TOKEN, name), rest, is_named=False)
