"""Which links of a page are worth a request: those that answer a flag, and those to check for being broken."""

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest

from bailiwick.model.layers import FLAGS
from bailiwick.model.material import PageLink, PageMaterial
from bailiwick.score.rules.actions import does_something
from bailiwick.score.rules.addresses import Address, address_of, same_domain, some_links
from bailiwick.score.rules.authors import is_author_page
from bailiwick.score.rules.flags import read_link
from bailiwick.score.rules.phrasebook import PhraseBook, codes_for, phrase_book


def likely_pages(page: PageMaterial, languages: Sequence[str] = (), *, most: int = 6) -> tuple[str, ...]:
    """Links within the domain that are likely to answer a flag: the best one for each, the surest first."""
    own = address_of(page.url)
    if own is None:
        return ()
    book = phrase_book(codes_for(languages, page.language))
    best: dict[str, tuple[int, int, int, str]] = {}
    for number, link in enumerate(dict.fromkeys(some_links(page.links))):
        address = _requestable(link)
        if address is None or address.url == own.url or not same_domain(address, own):
            continue
        for flag, strength in _answers(book, link, own, address):
            rank = (-strength, len(address.folders), number, address.url)
            best[flag] = min(rank, best.get(flag, rank))
    ranked = sorted((rank[:3], FLAGS.index(flag), rank[3]) for flag, rank in best.items())
    return tuple(dict.fromkeys(url for _, _, url in ranked))[: max(0, most)]


def links_to_check(page: PageMaterial, *, most: int = 20) -> tuple[str, ...]:
    """Distinct links, its own and others' in turn, taken from all over the page, no host's all at once.

    Never one that does something when it is asked for, or that belongs to a visitor's session.
    """
    own = address_of(page.url)
    addresses = {one.url: one for one in map(_requestable, some_links(page.links)) if one is not None}
    if own is not None:
        addresses.pop(own.url, None)
    inside = [one for one in addresses.values() if own is not None and same_domain(one, own)]
    outside = [one for one in addresses.values() if own is None or not same_domain(one, own)]
    room = max(0, most)
    own_room = min(len(inside), max(room // 2, room - len(outside)))
    picked = chain.from_iterable(zip_longest(_spread(inside, own_room), _in_turns(outside, room - own_room)))
    return tuple(one.url for one in picked if one is not None)


def _answers(book: PhraseBook, link: PageLink, own: Address, address: Address) -> Iterable[tuple[str, int]]:
    for finding in read_link(book, link, own):
        yield finding.flag, finding.strength
    if "author" in link.rel.lower().split():
        yield "author_bio", 4
    elif is_author_page(book, address):
        yield "author_bio", 3


def _requestable(link: PageLink) -> Address | None:
    address = address_of(link.url.partition("#")[0])
    return None if address is None or does_something(address) else address


def _spread(addresses: Sequence[Address], most: int) -> list[Address]:
    """So many of them, from the first to the last at even steps."""
    if len(addresses) <= most:
        return list(addresses)
    return [addresses[at * len(addresses) // most] for at in range(most)]


def _in_turns(addresses: Iterable[Address], most: int) -> list[Address]:
    """The first link of each host, then the second of each: a page full of one network's links has others too."""
    by_host: dict[str, list[Address]] = {}
    for one in addresses:
        by_host.setdefault(one.host, []).append(one)
    picked: list[Address] = []
    for turn in zip_longest(*by_host.values()):
        if len(picked) < most:
            picked += _spread([one for one in turn if one is not None], most - len(picked))
    return picked
