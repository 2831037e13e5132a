"""Session tokens in URLs, known by their name or by their looks."""

import re
from typing import NamedTuple

from bailiwick.crawl.traps.memory import Kind, key_of

LOOKS_AT_LEAST = 23
"""Letters and digits of what looks like a token: MongoDB's ids have 24, UUIDs 36 with hyphens, MD5 32."""
_NAMES = frozenset(
    """
    sid s sess sessid session sessionid session_id session_key sess_id usersession phpsessid jsessionid oscsid osadminid
    xtcsid zenid cfid cftoken
    """.split()  # noqa: SIM905 (twenty lines of quotes otherwise)
)
_NUMBERED = frozenset({"cfid", "cftoken"})
_LONG_VALUE = re.compile(r"=[0-9A-Za-z_.!~,-]{12}")
_PATH_PARAMETER = re.compile(r";(jsessionid|phpsessid|sid|sessionid|session)=[^/;]*", re.I)
_COOKIELESS = re.compile(r"/\((?:[A-Za-z]\([0-9A-Za-z]*\))+\)")  # ASP.NET: /(S(lit3py55t21z5v55vlm25s55))/page.aspx
_LONG_RUN = re.compile(rf"[0-9A-Za-z]{{{LOOKS_AT_LEAST}}}|-[0-9A-Fa-f]{{12}}")
_LOOKS = re.compile(
    rf"(?<=[/=])(?:[0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}|[0-9a-z]{{{LOOKS_AT_LEAST},128}})(?=[/&.;]|$)",
    re.I,
)
_NO_DIGITS = str.maketrans("", "", "0123456789")


class Token(NamedTuple):
    """What looks like a session's token in a path."""

    key: int
    """Where it is: under which parameter name, or after which folder."""
    rest: str
    """The path without it."""
    is_named: bool
    """Known for a session's by its name, not by its looks only."""


def token_of(head: str, query: str) -> Token | None:
    """The first token of a path. The rest is without any."""
    name = ""
    if ";" in head and (found := _PATH_PARAMETER.search(head)):
        name, head = found[1], _PATH_PARAMETER.sub("", head)
    if "/(" in head and _COOKIELESS.search(head):
        name, head = "()", _COOKIELESS.sub("", head) or "/"
    if _LONG_VALUE.search(query) or "cftoken=" in query.lower():
        parts = query.split("&")
        kept = [part for part in parts if not _is_session(part)]
        if len(kept) < len(parts):
            name = next(part for part in parts if part not in kept).partition("=")[0]
            query = "&".join(kept)
    rest = f"{head}?{query}" if query else head
    if name:
        return Token(key_of(Kind.TOKEN, f";{name.lower()}"), rest, is_named=True)
    return _by_looks(rest) if _LONG_RUN.search(rest) else None


def _is_session(parameter: str) -> bool:
    """`sid` may be the number of a story: a token is long, and letters and digits are mixed in it."""
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name not in _NAMES and not name.startswith("aspsessionid"):
        return False
    return name in _NUMBERED or (len(value) >= 12 and _is_mixed(value))


def _is_mixed(value: str) -> bool:
    return sum(char.isdigit() for char in value) >= 2 and any(char.isalpha() for char in value)


def _by_looks(path: str) -> Token | None:
    found = next((found for found in _LOOKS.finditer(path) if _is_mixed(found[0])), None)
    if found is None:
        return None
    rest = _LOOKS.sub(lambda each: "*" if _is_mixed(each[0]) else each[0], path)
    before = path[: found.start()]
    place = re.split("[?&]", before)[-1] if before.endswith("=") else before.translate(_NO_DIGITS)
    return Token(key_of(Kind.TOKEN, place), rest, is_named=False)
