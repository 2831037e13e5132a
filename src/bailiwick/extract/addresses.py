"""URLs in a page's content: made absolute, and without what only follows the visitor or defeats a cache."""

import re
from collections.abc import Callable

from bailiwick.model.urls import DEFAULT_RULES

_MOST_CHARS = 2_000
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid|sessionid)=[^/?#]*", re.I)
_SESSION_NAMES = frozenset({"sid", "sessionid", "session_id", "session", "aspsessionid", "cfid", "cftoken", "s_id"})
# Names with which a copy of an image is told from an older one in a cache, or by which it is signed for an hour.
_CACHE_NAMES = frozenset(
    {"_", "v", "ver", "version", "t", "ts", "time", "timestamp", "cb", "cache", "cachebuster", "nocache", "rnd", "rand"}
    | {"random", "r", "rev", "bust", "mtime", "lastmod", "modified", "updated", "hash", "sig", "signature", "expires"}
    | {"expiry", "exp", "token", "hmac", "policy", "key-pair-id", "hdnts"}
)
_STAMP = re.compile(r"(?:[0-9a-f]{8,}|\d{1,14})", re.I)
_ADVERTISERS = frozenset(
    {"ad", "ads", "adserver", "adservice", "adserving", "advert", "adverts", "advertisement", "advertising", "adsystem"}
    | {"adnxs", "doubleclick", "googlesyndication", "googleads", "googleadservices", "taboola", "outbrain", "criteo"}
    | {"pixel", "beacon", "tracker", "tracking", "analytics", "counter", "impression"}
)
_BETWEEN_WORDS = str.maketrans("/._-?=&:", " " * 8)


def absolute(href: str | None, base: str) -> str | None:
    """As browsers join it; None unless http or https comes out, of ordinary length."""
    if not href or len(href) > _MOST_CHARS:
        return None
    import ada_url

    try:
        joined = ada_url.join_url(base, href.strip())
    except (ValueError, UnicodeError):
        return None
    return joined if joined.startswith(("http://", "https://")) and len(joined) <= _MOST_CHARS else None


def steady(url: str) -> str:
    """The address without sessions and trackers."""
    if ";" in url:
        url = _SESSION_IN_PATH.sub("", url)
    return _filtered(url, _is_session) if "?" in url else url


def steady_image(url: str) -> str | None:
    """The address of an image without what defeats caches; None for pixels, data, advertisements."""
    if not url or url[:5].lower() == "data:" or _is_advertisement(url):
        return None
    url = steady(url)
    return _filtered(url, _is_stamp) if "?" in url else url


def _is_advertisement(url: str) -> bool:
    return not _ADVERTISERS.isdisjoint(url.lower().translate(_BETWEEN_WORDS).split())


def _filtered(url: str, is_noise: Callable[[str], bool]) -> str:
    path, _, query = url.partition("?")
    kept = [parameter for parameter in query.partition("#")[0].split("&") if not is_noise(parameter)]
    return f"{path}?{'&'.join(kept)}" if kept else path


def _is_session(parameter: str) -> bool:
    return DEFAULT_RULES.tracks(parameter) or parameter.partition("=")[0].lower() in _SESSION_NAMES


def _is_stamp(parameter: str) -> bool:
    name, sign, _ = parameter.partition("=")
    name = name.lower()
    return name in _CACHE_NAMES or name.startswith("x-amz-") or (not sign and _STAMP.fullmatch(name) is not None)
