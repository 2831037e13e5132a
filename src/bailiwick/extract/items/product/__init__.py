"""The product that a page sells: what its markup says first, what a person would read off it second."""

from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.product.evidence import Evidence
from bailiwick.extract.items.product.looks import read_looks
from bailiwick.extract.items.product.markup import read_markup, read_meta
from bailiwick.extract.items.product.parts import note_parts
from bailiwick.extract.items.product.sight import look_at
from bailiwick.extract.items.source import Source
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("product", 1)


def products_of(source: Source) -> Gathered:
    """The one product of a shop's page; none for a page that lists many, or sells nothing."""
    evidence = Evidence()
    read_markup(source, evidence)
    read_meta(source, evidence)
    if not evidence.is_product and next(source.tree.iter("h1"), None) is None:
        return Gathered()
    sight = look_at(source.tree)
    read_looks(sight, source, evidence)
    if not evidence.is_product:
        return Gathered()
    note_parts(sight, source, evidence)
    return checked(ItemKind.PRODUCT, evidence.values | {"url": source.url}, evidence.sure, MAKER)
