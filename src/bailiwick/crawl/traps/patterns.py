"""Include and exclude patterns: which paths of a domain somebody wants, and which not.

A pattern is compared with path and query as they are stored: percent-encoded, beginning with `/`.

    /docs/           all below /docs/
    /docs            the page /docs, with any query, and all below it
    /blog/*/draft    `*` is any run of characters but `/`
    /a/**/b          `**` is any run of characters at all; `/**/` is also just `/`
    /v?/             `?` is any one character but `/` (so it also stands for the one before a query)
    print=           without a leading slash: anywhere in the path or the query
    re:^/20\\d\\d/     a regular expression, searched for

A glob takes no longer than the square of the path's length: what it has matched it never matches in another way
(atomic groups). A regular expression could take for ever. So no repetition in it may hold another one or an
alternative, there are at most three open ones, it has no back-references and not too many alternatives, and it sees
the first 200 characters of a path: a second at the very worst.
"""

import re
import warnings
from collections.abc import Iterable
from urllib.parse import quote

from bailiwick.base.errors import UsageError
from bailiwick.crawl.traps.rules import Refusal

MAX_PATTERN_CHARS = 300
MAX_PATTERNS = 200
MAX_MATCHED_CHARS = 200
"""Of a path, by a regular expression."""
_MOST_CHOICES = (1_000, 1_000, 200, 16)
"""Of a regular expression, by its open repetitions: the ways to match multiply."""
_GAP = re.compile(r"(/\*\*+/|\*\*+)")
_NOT_IN_A_PATH = re.compile(r"[^\x21-\x7e]+")
_HINT = "write a glob such as /blog/*/draft or **/print, or re: and a regular expression"


class LinkRules:
    """What is excluded is excluded; where anything is included, all else is not. Raises UsageError for bad patterns."""

    __slots__ = ("_exclude", "_include", "exclude", "include")

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self.include, self.exclude = tuple(include), tuple(exclude)
        if len(self.include) + len(self.exclude) > MAX_PATTERNS:
            raise UsageError(f"more than {MAX_PATTERNS} patterns", hint="put several into one: /{a,b} as re:^/(a|b)/")
        self._include = [_compiled(pattern) for pattern in self.include]
        self._exclude = [_compiled(pattern) for pattern in self.exclude]

    def refuses(self, path: str) -> Refusal | None:
        """The rule that keeps this path from becoming a page; None: it may."""
        if self._exclude and any(pattern.matches(path) for pattern in self._exclude):
            return Refusal.EXCLUDED
        if self._include and not any(pattern.matches(path) for pattern in self._include):
            return Refusal.NOT_INCLUDED
        return None


class _Pattern:
    __slots__ = ("_find", "_sees")

    def __init__(self, regex: re.Pattern[str], *, anchored: bool, sees: int | None) -> None:
        self._find = regex.match if anchored else regex.search
        self._sees = sees

    def matches(self, path: str) -> bool:
        return self._find(path if self._sees is None else path[: self._sees]) is not None


def _compiled(pattern: str) -> _Pattern:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise _bad(f"{pattern[:40]}…", f"is longer than {MAX_PATTERN_CHARS} characters")
    if not pattern.removeprefix("re:").strip():
        raise _bad(pattern, "is empty")
    if pattern.startswith("re:"):
        return _Pattern(_regex(pattern, pattern[3:]), anchored=False, sees=MAX_MATCHED_CHARS)
    return _Pattern(re.compile(_glob(pattern), re.DOTALL), anchored=pattern.startswith("/"), sees=None)


def _bad(pattern: str, why: str, hint: str = _HINT) -> UsageError:
    return UsageError(f"the pattern '{pattern}' {why}", hint=hint)


# Globs


def _glob(pattern: str) -> str:
    """As a regular expression. Between gaps (`**`) the first match is as good as any: a gap bridges the difference."""
    encoded = _NOT_IN_A_PATH.sub(lambda found: quote(found[0]), pattern)
    first, *rest = _GAP.split(encoded)
    groups = [_group(first)]
    for gap, group in zip(rest[::2], rest[1::2], strict=True):
        groups.append(f"{'/(?:.*?/)??' if gap.startswith('/') else '.*?'}{_group(group)}")
    *before, last = groups
    return "".join(f"(?>{group})" for group in before) + last + _end(encoded)


def _end(pattern: str) -> str:
    """What may follow: anything below a folder; after a name, its query and what is below it."""
    return r"(?=[/?]|\Z)" if pattern.startswith("/") and not pattern.endswith(("/", "**")) else ""


def _group(text: str) -> str:
    first, *rest = (re.escape(part).replace(r"\?", "[^/]") for part in text.split("*"))
    if not rest:
        return first
    *between, last = rest
    return first + "".join(f"(?>[^/]*?{part})" for part in between) + f"[^/]*?{last}"


# Regular expressions


def _regex(pattern: str, regex: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # [[a] means something else in some later Python
            compiled = re.compile(regex)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise _bad(pattern, f"is no regular expression: {error}") from None
    if (why := _slowness(regex)) is not None:
        raise _bad(pattern, why, "make it simpler, or make several of it")
    return compiled


_TOKEN = re.compile(
    r"""\\(?P<escaped>.)
    | (?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<open>\((?:\?(?:P=|P?<\w+>|<[=!]|[A-Za-z-]+|[^()<])?)?)
    | (?P<close>\))
    | (?P<repeat>[*+?]|\{\d*,?\d*\})[?+]?
    | (?P<or>\|)
    | .""",
    re.VERBOSE | re.DOTALL,
)
_COMMENTED = re.compile(r"\(\?(?:#|[A-Za-z]*x)")


def _slowness(regex: str) -> str | None:
    """Why it might take long; None if it cannot. It is a regular expression: that was tried before."""
    tokens = list(_TOKEN.finditer(regex))
    repeats = [token["repeat"] for token in tokens if token["repeat"]]
    if any(token["open"] == "(?P=" or (token["escaped"] or "0") in "123456789" for token in tokens):
        return "refers back to one of its groups"
    if any(_COMMENTED.match(token["open"] or "") for token in tokens):
        return "has comments"  # which may stand between a group and its repetition
    if _is_nested(tokens):
        return "repeats something with a repetition or a choice in it"
    open_ended = sum(repeat in "*+" or "," in repeat for repeat in repeats)
    if open_ended >= len(_MOST_CHOICES):
        return f"has more than {len(_MOST_CHOICES) - 1} open repetitions"
    return "has too many choices" if _choices(tokens) > _MOST_CHOICES[open_ended] else None


def _is_nested(tokens: list[re.Match[str]]) -> bool:
    is_simple = [True]
    """Of each group that is open: nothing in it is repeated, and there is no choice."""
    last_is_simple = True
    for token in tokens:
        if token["repeat"] not in (None, "?") and not last_is_simple:
            return True
        if token["repeat"] or token["or"]:
            is_simple[-1] = False
        last_is_simple = True
        if token["open"]:
            is_simple.append(True)
        elif token["close"] and len(is_simple) > 1:
            last_is_simple = is_simple.pop()
            is_simple[-1] = is_simple[-1] and last_is_simple
    return False


def _choices(tokens: list[re.Match[str]]) -> int:
    """In how many ways its alternatives and options can be taken, at most."""
    ways, alternatives = 1, [1]
    for token in tokens:
        if token["open"]:
            alternatives.append(1)
        elif token["or"]:
            alternatives[-1] += 1
        elif token["close"] and len(alternatives) > 1:
            ways *= alternatives.pop()
        elif (token["repeat"] or "").startswith("?"):
            ways *= 2
    return ways * alternatives[0]
