"""Items of a page: for each kind that its profile wants an extractor, a pure function of the page.

schema.org first, then rules by the looks of a page. Libraries that an extractor needs are those of the extra `items`;
without them there are articles only.
"""

from collections.abc import Callable, Collection, Mapping

from bailiwick.extract.extras import has_items
from bailiwick.extract.items.article import article_of
from bailiwick.extract.items.business import businesses_of
from bailiwick.extract.items.contact import contacts_of
from bailiwick.extract.items.funding import funding_of
from bailiwick.extract.items.opportunity import opportunities_of
from bailiwick.extract.items.product import products_of
from bailiwick.extract.items.service import services_of
from bailiwick.extract.items.source import Source
from bailiwick.model.items import Gathered, ItemKind, Reject

Extractor = Callable[[Source], Gathered]
SiteParser = Callable[[ItemKind], Gathered | None]
"""What a parser of the user's own makes of the page; None where there is none for it."""


def _articles(source: Source) -> Gathered:
    article = article_of(source.content, source.markdown, source.url)
    return Gathered([article] if article is not None else [])


EXTRACTORS: Mapping[ItemKind, Extractor] = {
    ItemKind.ARTICLE: _articles,
    ItemKind.BUSINESS: businesses_of,
    ItemKind.CONTACT: contacts_of,
    ItemKind.FUNDING_PROGRAMME: funding_of,
    ItemKind.OPPORTUNITY: opportunities_of,
    ItemKind.PRODUCT: products_of,
    ItemKind.SERVICE: services_of,
}
_WITHOUT_EXTRA = frozenset({ItemKind.ARTICLE})
_WHY_CHARS = 300


def gather_items(
    source: Source, wanted: Collection[ItemKind], site_parser: SiteParser = lambda _kind: None
) -> Gathered:
    """All items of these kinds that a page gives. A site's own parser comes first; where it fails, ours steps in."""
    found = Gathered()
    for kind in ItemKind:
        if kind not in wanted:
            continue
        parsed = site_parser(kind)
        if parsed is not None:
            found.add(parsed)
        if kind in EXTRACTORS and (kind in _WITHOUT_EXTRA or has_items()) and not (parsed and parsed.items):
            found.add(_guarded(kind, source))
    return found


def _guarded(kind: ItemKind, source: Source) -> Gathered:
    """One kind that cannot be read costs neither the others nor the page; it is told with what was refused."""
    try:
        return EXTRACTORS[kind](source)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - pages are hostile, and so are fifteen libraries in a row
        why = f"unexpected {type(error).__name__}: {error}"[:_WHY_CHARS]
        return Gathered(rejects=[Reject(kind, 0, None, "", why, f"{kind}", 0)])
