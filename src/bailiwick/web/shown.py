"""How values look on a page: times, sizes, states, small charts. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup, escape

_WIDTH, _HEIGHT = 240, 48
NOTHING = "\N{EN DASH}"
_DID = {
    "admit": "admitted", "approve": "approved", "blacklist": "blacklisted", "block": "blocked",
    "change_role": "changed the role of", "configure": "configured", "create": "created", "delete": "deleted",
    "disable": "disabled", "discover": "found", "distrust": "no longer trusts", "enable": "enabled",
    "exhaust": "finished", "finish": "finished", "import": "imported", "join": "added", "lift": "lifted the ban on",
    "log_in": "logged in", "log_out": "logged out", "mark_no_funds": "found no funds at",
    "make_first_link": "got the first link for", "make_invitation_link": "made an invitation for",
    "make_reset_link": "made a new password link for", "merge": "merged", "note": "added a note to",
    "parser_degraded": "saw a parser fail on", "parser_recovered": "saw a parser work again on",
    "pause": "paused", "purge": "purged", "recrawl": "asked for a re-crawl of", "refresh": "asked for a re-crawl of",
    "reject": "rejected", "rename": "renamed", "reset": "reset", "resubmit": "submitted again", "resume": "resumed",
    "set_password": "set the password of", "start": "started", "submit": "submitted", "suggest": "suggested",
    "suspend": "suspended", "trust": "trusted",
}  # fmt: skip


def when(moment: datetime | None) -> Markup:
    """A time to the minute, with all of it for machines."""
    if moment is None:
        return escape(NOTHING)
    return _time(moment, "%Y-%m-%d %H:%M")


def exactly(moment: datetime | None) -> Markup:
    """A time to the second."""
    if moment is None:
        return escape(NOTHING)
    return _time(moment, "%Y-%m-%d %H:%M:%S")


def _time(moment: datetime, look: str) -> Markup:
    utc = moment.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(f"{utc:%Y-%m-%dT%H:%M:%SZ}", utc.strftime(look))


def number(value: float | None) -> str:
    """A count with separators; a ratio with one place."""
    if value is None:
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def sentence(message: str, hint: str | None = None) -> str:
    """An error's own words, as a page says them."""
    return f"{message[:1].upper()}{message[1:]}: {hint}." if hint else f"{message[:1].upper()}{message[1:]}."


def words(name: object) -> str:
    """A name out of the tables, in words."""
    return NOTHING if name is None else str(name).replace("_", " ")


def did(verb: str) -> str:
    """A verb of the trail as it reads after a name: what somebody did."""
    return _DID.get(verb, words(verb))


def worker(name: str) -> str:
    """A worker's name, short: machine and process."""
    parts = name.split("/")
    return f"{parts[0].split('-')[0]} · {parts[2]}" if len(parts) == 4 else name


def value(given: object) -> str:
    """What an event says was before or after."""
    if isinstance(given, dict):
        return ", ".join(f"{words(key)} {value(part)}" for key, part in given.items())
    if given is True or given is False:
        return "yes" if given else "no"
    return words(given)


def sparkline(samples: Sequence[float], label: str) -> Markup:
    """A line of the last samples, the newest at the right."""
    if len(samples) < 2:
        return Markup("")
    top = max(*samples, 0.001)
    step = _WIDTH / (len(samples) - 1)
    points = [f"{n * step:.1f},{_HEIGHT - 2 - sample / top * (_HEIGHT - 4):.1f}" for n, sample in enumerate(samples)]
    line = " ".join(points)
    return Markup(
        '<svg class="spark" viewBox="0 0 {w} {h}" preserveAspectRatio="none" role="img" aria-label="{label}">'
        '<polygon class="spark-area" points="0,{h} {line} {w},{h}"/>'
        '<polyline class="spark-line" points="{line}"/></svg>'
    ).format(w=_WIDTH, h=_HEIGHT, label=escape(label), line=line)
