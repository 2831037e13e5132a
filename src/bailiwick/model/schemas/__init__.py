"""The schema of each kind of item. Field names are those of zyte-common-items where it has such an item."""

from bailiwick.model.items import ItemKind
from bailiwick.model.schemas.article import Article
from bailiwick.model.schemas.offers import FundingProgramme, Opportunity, Service
from bailiwick.model.schemas.parts import Schema
from bailiwick.model.schemas.places import Business, Contact
from bailiwick.model.schemas.product import Product

SCHEMAS: dict[ItemKind, type[Schema]] = {
    ItemKind.ARTICLE: Article,
    ItemKind.BUSINESS: Business,
    ItemKind.CONTACT: Contact,
    ItemKind.FUNDING_PROGRAMME: FundingProgramme,
    ItemKind.OPPORTUNITY: Opportunity,
    ItemKind.PRODUCT: Product,
    ItemKind.SERVICE: Service,
}

__all__ = [
    "SCHEMAS",
    "Article",
    "Business",
    "Contact",
    "FundingProgramme",
    "Opportunity",
    "Product",
    "Schema",
    "Service",
]
