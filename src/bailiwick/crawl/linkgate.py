"""The gate for links: which of those that a domain's pages hold become pages, and the account of those that do not."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from bailiwick.crawl.results import RefusedLink
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.crawl.traps.patterns import LinkRules
from bailiwick.crawl.traps.rules import Refusal
from bailiwick.model.urls import hash_of

MOST_KEPT = 1_000
"""Refused links of a domain that are kept with their rule, for whoever asks."""
_MOST_COUNTED = 20_000
_SMALL_DOMAIN_PAGES = 50
_SAVED_EVERY_PAGES = 500


@dataclass(frozen=True, slots=True)
class Account:
    """What was refused since the last account: how often by each rule, and some of the links."""

    counts: Mapping[str, int]
    links: list[RefusedLink]
    traps: str | None
    """What the rules have learned, as JSON; None: nothing that has to be kept now."""


@lru_cache(maxsize=256)
def link_rules(include: tuple[str, ...], exclude: tuple[str, ...]) -> LinkRules:
    """A job's patterns, compiled once for all of its domains."""
    return LinkRules(include, exclude)


def patterns_mark(include: tuple[str, ...], exclude: tuple[str, ...]) -> str:
    """A short mark of a job's patterns: pages that other patterns kept back are looked at again."""
    return blake2b(json.dumps([sorted(include), sorted(exclude)]).encode(), digest_size=8).hexdigest()


class LinkGate:
    """A job's patterns and the rules against traps, for one domain during one slice.

    Patterns are the job's: what they keep back is a page all the same, which another job may want. A trap is a site's.
    """

    def __init__(self, rules: LinkRules, traps: TrapGuard, *, kept: int = 0) -> None:
        self._rules, self._traps = rules, traps
        self._room = MOST_KEPT - kept
        self._counts: Counter[str] = Counter()
        self._counted: set[int] = set()
        self._links: list[RefusedLink] = []
        self._learned = 0
        self._saves = False

    def refuses(self, path: str, depth: int, found_on: str) -> Refusal | None:
        """The rule that keeps a link from becoming a page. Links of one page are asked about one after another."""
        rule = self._traps.refuses(path, depth, found_on)
        if rule is not None:
            self._note(path, rule, found_on)
        return rule

    def excludes(self, path: str) -> Refusal | None:
        """The rule, if any, by which a known page is not fetched for this job."""
        return self._rules.refuses(path)

    def count(self, rule: str) -> None:
        """A page that was known already is refused."""
        self._counts[rule] += 1

    def learned(self, path: str, text_hash: int | None, *, is_new_content: bool) -> None:
        """A page was fetched well: to be said before its links are asked about."""
        self._traps.learned(path, text_hash, is_new_content=is_new_content)
        self._learned += 1

    def save(self, pages_known: int) -> None:
        """The slice ends: what was learned goes into the next account. So small a domain has no trap worth a note."""
        self._saves = self._learned > 0 and pages_known > _SMALL_DOMAIN_PAGES

    @property
    def has_news(self) -> bool:
        return self._saves or bool(self._counts)

    def account(self) -> Account:
        saves = self._saves or self._learned >= _SAVED_EVERY_PAGES
        account = Account(dict(self._counts), self._links, json.dumps(self._traps.to_json()) if saves else None)
        self._counts.clear()
        self._links = []
        if saves:
            self._learned, self._saves = 0, False
        return account

    def _note(self, path: str, rule: Refusal, found_on: str) -> None:
        """Each link counts once, as long as it is remembered: a menu is on every page."""
        key = hash(path)
        if key in self._counted:
            return
        if len(self._counted) >= _MOST_COUNTED:
            self._counted.clear()
        self._counted.add(key)
        self.count(rule)
        if self._room > 0:
            self._room -= 1
            self._links.append(RefusedLink(hash_of(path), path, rule, hash_of(found_on) if found_on else None))
