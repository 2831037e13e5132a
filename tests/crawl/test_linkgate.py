"""The gate for links: what it counts, what it keeps, and when it hands over what the rules have learned."""

import json
from datetime import date

from bailiwick.crawl.linkgate import MOST_KEPT, LinkGate, link_rules, patterns_mark
from bailiwick.crawl.traps.guard import TrapGuard
from bailiwick.crawl.traps.patterns import LinkRules
from bailiwick.crawl.traps.rules import SAYS, Refusal
from bailiwick.model.urls import hash_of

TODAY = date(2026, 11, 1)
LONG = "/" + "x" * 1_500


def gate(*, kept: int = 0, exclude: tuple[str, ...] = ()) -> LinkGate:
    return LinkGate(LinkRules(exclude=exclude), TrapGuard(TODAY), kept=kept)


def test_a_refused_link_is_counted_once_and_kept_with_its_rule() -> None:
    one = gate()
    for found_on in ("/a", "/b", "/a"):
        assert one.refuses(LONG, 2, found_on) is Refusal.TOO_LONG
    assert one.refuses("/fine", 2, "/a") is None
    assert one.has_news
    account = one.account()
    assert account.counts == {"too_long": 1}
    [link] = account.links
    assert (link.path, link.rule, link.from_hash) == (LONG, "too_long", hash_of("/a"))
    assert not one.has_news
    assert one.account().counts == {}


def test_a_link_from_a_sitemap_has_no_page() -> None:
    one = gate()
    one.refuses(LONG, 1, "")
    assert one.account().links[0].from_hash is None


def test_all_are_counted_but_only_so_many_are_kept() -> None:
    one = gate(kept=MOST_KEPT - 3)
    for n in range(10):
        one.refuses(f"{LONG}{n}", 2, "/")
    account = one.account()
    assert account.counts == {"too_long": 10}
    assert len(account.links) == 3


def test_patterns_are_not_asked_about_links() -> None:
    one = gate(exclude=("/blog/",))
    assert one.refuses("/blog/1", 2, "/") is None
    assert one.excludes("/blog/1") is Refusal.EXCLUDED
    assert one.excludes("/docs/1") is None


def test_what_was_learned_is_handed_over_at_the_end_and_now_and_then() -> None:
    one = gate()
    one.learned("/a", 1, is_new_content=True)
    assert one.account().traps is None
    one.save(pages_known=10)
    assert one.account().traps is None  # so small a domain
    one.save(pages_known=1_000)
    assert one.has_news
    state = one.account().traps
    assert state is not None
    assert TrapGuard.from_json(json.loads(state), TODAY).to_json() == json.loads(state)
    one.save(pages_known=1_000)
    assert one.account().traps is None  # nothing was learned since
    for n in range(600):
        one.learned(f"/{n}", n, is_new_content=True)
    assert one.account().traps is not None


def test_the_mark_of_patterns() -> None:
    assert patterns_mark(("/a", "/b"), ()) == patterns_mark(("/b", "/a"), ())
    assert patterns_mark(("/a",), ()) != patterns_mark((), ("/a",))
    assert link_rules(("/a",), ()) is link_rules(("/a",), ())


def test_every_rule_has_its_words() -> None:
    assert SAYS.keys() == set(Refusal)
