"""E-mail addresses, also hidden ones: (at) and [dot], entities, Cloudflare's cipher, reversed text, short scripts."""

import re
from urllib.parse import unquote

_LOCAL = r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PLAIN = re.compile(rf"(?<![\w.@/:+-])({_LOCAL})@({_HOST}(?:\.{_HOST}){{0,4}}\.[A-Za-z]{{2,24}})(?![\w@-])")
_AT = r"\s{0,2}[\[({<]\s{0,2}(?:at|ät|@|arobase|arroba|apenstaartje|chez)\s{0,2}[\])}>]\s{0,2}"
_DOT = r"(?:\.|\s{0,2}[\[({<]\s{0,2}(?:dot|punkt|point|punto|punt|\.)\s{0,2}[\])}>]\s{0,2})"
_BRACKETED = re.compile(
    rf"(?<![\w@])({_LOCAL}){_AT}({_HOST}(?:{_DOT}{_HOST}){{0,4}}{_DOT}[A-Za-z]{{2,24}})(?![\w@])", re.IGNORECASE
)
_SPELT = re.compile(
    rf"(?<![\w@])({_LOCAL})\s(?:at|ät)\s({_HOST}(?:\s(?:dot|punkt)\s{_HOST}){{0,3}}\s(?:dot|"
    rf"punkt)\s[a-z]{{2,24}})(?!\w)",
    re.IGNORECASE,
)
_HINT = re.compile(r"[\[({<]\s{0,2}(?:at|ät|@|aro|arr|ape|chez)|\s(?:dot|punkt)\s", re.IGNORECASE)
_DOTS = re.compile(rf"{_DOT}|\s(?:dot|punkt)\s", re.IGNORECASE)
_NO_TLD_TEXT = """
    png jpg jpeg gif svg webp avif ico css js json xml html htm php pdf local localhost invalid test example
"""
_NO_TLD = frozenset(_NO_TLD_TEXT.split())
_PLACEHOLDER_HOST = re.compile(
    r"(?:^|\.)(?:example(?:-\w+)?\.(?:com|org|net|de|fr|co\.uk)|domain\.(?:com|tld)|"
    r"yourdomain\.\w+|yoursite\.\w+|email\.(?:com|tld)|test\.com|sentry\.\w+)$|wixpress|sentry"
)
_PLACEHOLDER_NAME_TEXT = """
    you your.name yourname name email youremail user username someone jane.doe john.doe johndoe git noreply
    no-reply donotreply root
"""
_PLACEHOLDER_NAME = frozenset(_PLACEHOLDER_NAME_TEXT.split())
_HEXADECIMAL = re.compile(r"^[0-9a-f]{16,}$")
_SCRIPT_WRITE = re.compile(r"mailto:", re.IGNORECASE)
_STRING = re.compile(r"'([^'\\\n]{0,200})'|\"([^\"\\\n]{0,200})\"|([A-Za-z_]\w{0,30})|([+=;(),])")
_MOST_SCRIPT = 3_000
_COUNTRY_CHARS = 2
_COMMON_ENDINGS_TEXT = """
    com org net edu gov info biz int coop museum academy agency care charity community foundation health school scot
    wales london berlin wien dev app online
"""
_COMMON_ENDINGS = frozenset(_COMMON_ENDINGS_TEXT.split())
_MOST_TEXT = 20_000


def emails_in(text: str) -> list[str]:
    """Every address of a text in lower case, each once, in order; plain ones first."""
    return list(dict.fromkeys(email for email, _, _ in places_of_emails(text)))


def places_of_emails(text: str) -> list[tuple[str, int, int]]:
    """Addresses with where they begin and end, however they are written."""
    text = text[:_MOST_TEXT]
    found = [(f"{match[1]}@{match[2]}", *match.span()) for match in _PLAIN.finditer(text)] if "@" in text else []
    if _may_be_hidden(text) and _HINT.search(text):
        for pattern in (_BRACKETED, _SPELT):
            found += [(f"{match[1]}@{_DOTS.sub('.', match[2])}", *match.span()) for match in pattern.finditer(text)]
    kept = [(email, start, end) for address, start, end in found if (email := usable(address))]
    return [one for one in kept if "@" in text[one[1] : one[2]] or _is_common(one[0])]


def _may_be_hidden(text: str) -> bool:
    """Quicker than the hints themselves: most texts have neither brackets nor one of these words."""
    low = text.lower()
    return any(sign in low for sign in ("(", "[", "{", "<", "dot", "punkt"))


def _is_common(email: str) -> bool:
    """Of addresses that are spelt out in words only those count whose ending is one: "meet us at noon dot and"."""
    ending = email.rpartition(".")[2]
    return len(ending) == _COUNTRY_CHARS or ending in _COMMON_ENDINGS


def without_emails(text: str) -> str:
    """The text with a comma in the place of each address."""
    for pattern in (_PLAIN, *((_BRACKETED, _SPELT) if _HINT.search(text) else ())):
        text = pattern.sub(" , ", text)
    return text


def usable(address: str) -> str | None:
    """An address that may be somebody's, in lower case; None for placeholders, file names and robots."""
    local, _, host = address.strip().strip(".").lower().partition("@")
    local = local.strip("'.")
    if not local or host.rpartition(".")[2] in _NO_TLD or _PLACEHOLDER_HOST.search(host):
        return None
    if local in _PLACEHOLDER_NAME or _HEXADECIMAL.match(local) or not _PLAIN.fullmatch(f"{local}@{host}"):
        return None
    return f"{local}@{host}"


def email_of_link(href: str) -> str | None:
    """The first address of a mailto link, or of Cloudflare's stand-in for one."""
    if href[:7].lower() == "mailto:":
        return usable(unquote(href[7:].partition("?")[0].partition(",")[0])[:320])
    if "/cdn-cgi/l/email-protection#" in href:
        return deciphered(href.rpartition("#")[2])
    return None


def deciphered(code: str) -> str | None:
    """Cloudflare's `data-cfemail`: the first byte is the key of the others."""
    try:
        raw = bytes.fromhex(code[:800])
    except ValueError:
        return None
    text = bytes(byte ^ raw[0] for byte in raw[1:]).decode("utf-8", "replace") if raw else ""
    return usable(unquote(text).partition("?")[0])


def written_by_script(script: str) -> str | None:
    """The address that a short script puts together out of strings, if that is all it does with them."""
    if len(script) > _MOST_SCRIPT or not _SCRIPT_WRITE.search(script):
        return None
    known: dict[str, str] = {}
    for name, value in re.findall(
        r"(?:var|let|const)?\s?\b(\w{1,30})\s{0,2}=\s{0,2}[\"']([^\"'\\\n]{0,100})[\"']", script
    ):
        known.setdefault(name, value)
    joined = []
    start = script.lower().find("document.write")
    for match in _STRING.finditer(script, max(start, 0)):
        if match[1] is not None or match[2] is not None:
            joined.append(match[1] if match[1] is not None else match[2])
        elif match[3] in known:
            joined.append(known[match[3]])
    found = _PLAIN.search(re.sub(r"<[^>]{0,300}mailto:", " ", "".join(joined)))
    return usable(found[0]) if found else None
