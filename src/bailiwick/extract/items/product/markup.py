"""A product by markup: schema.org in any syntax, then OpenGraph and other meta elements."""

import re
from collections.abc import Iterable

from pydantic import JsonValue

from bailiwick.extract.addresses import absolute
from bailiwick.extract.clean import clean_line
from bailiwick.extract.items.product.evidence import Evidence
from bailiwick.extract.items.product.prices import Price, read_price
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Syntax, Thing, everything_in
from bailiwick.extract.structured.things import short
from bailiwick.model.currencies import currency_of

PRODUCT_TYPES = frozenset(
    {"Product", "IndividualProduct", "ProductModel", "ProductGroup", "SomeProducts", "Vehicle", "Car"}
)
_IN_STOCK = frozenset(
    {
        "instock",
        "limitedavailability",
        "instoreonly",
        "onlineonly",
        "presale",
        "preorder",
        "backorder",
        "madetoorder",
        "available",
        "true",
        "yes",
    }
)
_OUT_OF_STOCK = frozenset({"outofstock", "soldout", "discontinued", "oos", "unavailable", "false", "no"})
_SURE = {Syntax.JSON_LD: 0.95, Syntax.MICRODATA: 0.9, Syntax.RDFA: 0.88}
_META_SURE = 0.8
_META_PRICES = ("product:sale_price:amount", "product:price:amount", "og:price:amount", "og:price", "product:price")
_GTINS = {
    "gtin8": "gtin8",
    "gtin12": "gtin12",
    "gtin13": "gtin13",
    "gtin14": "gtin14",
    "gtin": "",
    "isbn": "",
    "ean": "gtin13",
}
_DESCRIPTION_CHARS = 50_000


def read_markup(source: Source, evidence: Evidence) -> None:
    """Note what schema.org says of the page's product."""
    for syntax in Syntax:
        products = [t for t in source.things if t.syntax is syntax and t.is_a(PRODUCT_TYPES)] or [
            t for t in everything_in(t for t in source.things if t.syntax is syntax) if t.is_a(PRODUCT_TYPES)
        ]
        product = _main(products, source)
        if product is not None:
            evidence.is_product = True
            _note(product, source, evidence, _SURE[syntax])
    _note_breadcrumbs(source, evidence)


def _main(products: list[Thing], source: Source) -> Thing | None:
    """The one that the page is about: a page that lists many is about none of them."""
    if len(products) <= 1:
        return products[0] if products else None
    title = _key(" ".join((source.meta.get("og:title", ""), source.content.title or "", _headline(source))))
    named = [p for p in products if (key := _key(p.text("name") or "")) and key in title]
    if named:
        return max(named, key=lambda p: (len(p.values), len(p.text("name") or "")))
    own = [p for p in products if any(_same_page(url, source) for url in p.texts("url"))]
    if len(own) == 1:
        return own[0]
    offered = [p for p in products if p.all("offers")]
    return offered[0] if len(offered) == 1 else None


def _headline(source: Source) -> str:
    headings = source.tree.xpath("//h1")
    return " ".join(str(h.text_content())[:300] for h in headings[:3])


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def _same_page(url: str, source: Source) -> bool:
    given = absolute(url, source.base_url)
    return given is not None and given.partition("#")[0].rstrip("/") == source.url.partition("#")[0].rstrip("/")


def _note(product: Thing, source: Source, evidence: Evidence, sure: float) -> None:
    evidence.note("name", clean_line(product.text("name"), 500), sure)
    evidence.note("description", (product.text("description") or "")[:_DESCRIPTION_CHARS], sure)
    brand = clean_line(product.text("brand", "manufacturer"), 200)
    evidence.note("brand", {"name": brand} if brand else None, sure)
    sku = _code(product.text("sku"))
    evidence.note("sku", sku, sure if sku and " " not in sku else 0.4)
    evidence.note("mpn", _code(product.text("mpn")), sure)
    evidence.note("productId", _code(product.text("productID", "productId")), sure)
    evidence.note("gtin", _gtins(product), sure)
    evidence.note("color", clean_line(product.text("color"), 200), sure)
    evidence.note("size", clean_line(product.text("size"), 200), sure)
    category = clean_line(product.text("category"), 300)
    evidence.note("category", re.split(r"\s*[>/]\s*", category)[-1] if category else None, sure)
    images = _images(product.texts("image"), source)
    if images:
        evidence.note("mainImage", images[0], sure)
        evidence.note("images", list(images), sure)
    _note_rating(product, evidence, sure)
    _note_offers(product, source, evidence, sure)
    pairs: list[JsonValue] = [
        {"name": name, "value": value}
        for thing in product.things("additionalProperty")[:200]
        if (name := clean_line(thing.text("name"), 200)) and (value := clean_line(thing.text("value"), 1000))
    ]
    evidence.note("additionalProperties", pairs, sure)


def _note_rating(product: Thing, evidence: Evidence, sure: float) -> None:
    for rating in product.things("aggregateRating"):
        value, best = _float(rating.text("ratingValue")), _float(rating.text("bestRating")) or 5.0
        count = _float(rating.text("reviewCount", "ratingCount"))
        if value is not None and best > 5:
            value, best = round(value * 5 / best, 2), 5.0
        told: dict[str, JsonValue] = {}
        if value is not None and count != 0:  # no reviews: the 0 of an empty scale is no opinion
            told = {"ratingValue": value, "bestRating": best}
        if count is not None and count >= 0:
            told["reviewCount"] = int(count)
        evidence.note("aggregateRating", told, sure)


def _note_offers(product: Thing, source: Source, evidence: Evidence, sure: float) -> None:
    offers = list(_offers(product))
    prices = [price for offer in offers if (price := _price_of(offer)) is not None]
    if prices:
        price = prices[0]
        evidence.note("price", price.amount, sure)
        evidence.note("currencyRaw", price.sign, sure)
        evidence.note("currency", currency_of(price.sign, source.host), sure)
    stocks = [stock for offer in offers for text in offer.texts("availability") if (stock := stock_of(text))]
    if stocks:
        evidence.note("availability", "InStock" if "InStock" in stocks else "OutOfStock", sure)
    for offer in offers[:1]:
        evidence.note("sku", _code(offer.text("sku")), sure - 0.1)


def _offers(product: Thing) -> Iterable[Thing]:
    for offer in product.things("offers"):
        yield offer
        yield from offer.things("offers")
    for variant in product.things("hasVariant", "model")[:50]:
        yield from variant.things("offers")


def _price_of(offer: Thing) -> Price | None:
    sign = offer.text("priceCurrency", "currency")
    amount = offer.text("price", "lowPrice")
    if amount is None:
        for specification in offer.things("priceSpecification"):
            amount, sign = specification.text("price", "minPrice"), specification.text("priceCurrency") or sign
            if amount is not None:
                break
    price = read_price(amount or "", sign, is_plain=True)
    return price if price is not None and float(price.amount) > 0 else None


def stock_of(text: str) -> str | None:
    """What a schema.org availability, or a word for one, says."""
    word = re.sub(r"[\s_-]+", "", short(text.strip()).lower())
    return "InStock" if word in _IN_STOCK else "OutOfStock" if word in _OUT_OF_STOCK else None


def _gtins(product: Thing) -> list[JsonValue]:
    found: list[JsonValue] = []
    for name, kind in _GTINS.items():
        for text in product.texts(name):
            digits = re.sub(r"[\s-]", "", text.removeprefix("isbn:"))
            by_length = {8: "gtin8", 12: "gtin12", 13: "gtin13", 14: "gtin14"}.get(len(digits))
            if digits.isdigit() and (told := by_length or kind):
                found.append({"type": told, "value": digits})
    return found[:10]


def _images(texts: Iterable[str], source: Source) -> list[JsonValue]:
    found = [absolute(text, source.base_url) for text in texts]
    images: list[JsonValue] = [{"url": url} for url in dict.fromkeys(found) if url]
    return images[:50]


def _code(text: str | None) -> str | None:
    text = clean_line(text, 100)
    return None if text is None or text.lower() in ("null", "none", "undefined", "n/a", "-") else text


def _float(text: str | None) -> float | None:
    found = re.search(r"\d{1,15}(?:[.,]\d{1,9})?", (text or "")[:100])
    return float(found[0].replace(",", ".")) if found else None


def _note_breadcrumbs(source: Source, evidence: Evidence) -> None:
    for trail in everything_in(source.things):
        if trail.is_a({"BreadcrumbList", "Breadcrumb"}):
            steps = sorted(trail.things("itemListElement"), key=lambda step: _float(step.text("position")) or 0.0)
            links: list[JsonValue] = []
            for step in steps[:30]:
                item = next(iter(step.all("item")), None)
                name = clean_line(step.text("name") or (item.text("name") if isinstance(item, Thing) else None), 300)
                address = item.id or item.text("url") if isinstance(item, Thing) else item
                url = absolute(address or step.text("url") or "", source.base_url)
                if name:
                    links.append({"name": name, "url": url} if url else {"name": name})
            evidence.note("breadcrumbs", links, _SURE[trail.syntax])


def read_meta(source: Source, evidence: Evidence) -> None:
    """OpenGraph's product, Twitter's labels."""
    meta = source.meta
    kind = meta.get("og:type", "").lower().rpartition(":")[2].rpartition(".")[2]
    amount = next((meta[name] for name in _META_PRICES if name in meta), None)
    evidence.is_product = evidence.is_product or kind in ("product", "item") or amount is not None
    if not evidence.is_product:
        return
    evidence.note("name", clean_line(meta.get("og:title"), 500), _META_SURE - 0.1)
    evidence.note("description", meta.get("og:description") or meta.get("description"), _META_SURE - 0.2)
    sign = (
        meta.get("product:price:currency") or meta.get("og:price:currency") or meta.get("product:sale_price:currency")
    )
    price = read_price(amount or "", sign, is_plain=True)
    if price is not None and float(price.amount) > 0:
        evidence.note("price", price.amount, _META_SURE)
        evidence.note("currencyRaw", price.sign, _META_SURE)
        evidence.note("currency", currency_of(price.sign, source.host), _META_SURE)
    stock = stock_of(meta.get("product:availability") or meta.get("og:availability") or "")
    evidence.note("availability", stock, _META_SURE)
    brand = clean_line(meta.get("product:brand") or meta.get("og:brand"), 200)
    evidence.note("brand", {"name": brand} if brand else None, _META_SURE)
    evidence.note("sku", _code(meta.get("product:retailer_item_id") or meta.get("product:sku")), _META_SURE)
    images = _images([meta.get("og:image", "")], source)
    evidence.note("mainImage", images[0] if images else None, _META_SURE)
    evidence.note("canonicalUrl", source.content.canonical, _META_SURE)
