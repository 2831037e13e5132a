"""The schema of each kind of item. Field names are those of zyte-common-items where it has such an item."""

from bailiwick.model.items import ItemKind
from bailiwick.model.schemas.article import Article
from bailiwick.model.schemas.parts import Schema
from bailiwick.model.schemas.product import Product

SCHEMAS: dict[ItemKind, type[Schema]] = {
    ItemKind.ARTICLE: Article,
    ItemKind.PRODUCT: Product,
}

__all__ = ["SCHEMAS", "Article", "Product", "Schema"]
