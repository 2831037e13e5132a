"""What the sample shop sells: twelve things, each page marked up as some shop does it. All of it is made up.

Six pages have markup of the shop's own, with the price in two pieces and the number in an attribute: of those the
built-in extractor learns less than a parser written for them (`bailiwick/demo/parsers`). Three have JSON-LD, three
microdata.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.pictures import Colour, picture

SHELF = "/shelf"
_SHOP = "Copper Kettle Tea and Tools"
_COPPER, _STEEL, _GREEN, _WOOD, _RED = (184, 115, 51), (120, 130, 140), (70, 120, 70), (150, 105, 60), (160, 60, 50)


@dataclass(frozen=True, slots=True)
class Good:
    """One thing that is sold."""

    code: str
    name: str
    brand: str
    category: str
    price: str
    about: str
    colour: Colour
    left: int = 12
    rating: str = "4.5"
    reviews: int = 40

    @property
    def picture(self) -> str:
        return f"/pictures/{self.code.lower()}.png"

    @property
    def price_parts(self) -> tuple[str, str]:
        whole, _, cents = self.price.partition(".")
        return whole, cents

    @property
    def stock(self) -> str:
        if not self.left:
            return "Currently not to be had. We do not know when it is back."
        return f"Only {self.left} left - order soon." if self.left < 5 else "Ready to be sent."


OWN_MARKUP = (
    Good("CK0KETTLE2", "Two-litre copper kettle", "Copper Kettle", "Kettles", "89.90",
         "Hammered by hand, tinned inside, with a whistle that the neighbours know.", _COPPER, 7, "4.7", 212),
    Good("CK0KETTLE1", "One-litre travel kettle", "Copper Kettle", "Kettles", "54.50",
         "Fits a rucksack and boils on a camping stove in four minutes.", _COPPER, 3, "4.2", 61),
    Good("CK0KNIFE21", "Bread knife, 21 cm", "Millstone", "Knives", "38.00",
         "A serrated blade of carbon steel and a handle of pear wood.", _STEEL, 24, "4.8", 96),
    Good("CK0KNIFE09", "Paring knife, 9 cm", "Millstone", "Knives", "17.25",
         "Small enough for garlic, sharp enough for tomatoes.", _STEEL, 0, "4.6", 148),
    Good("CK0PANCAST", "Cast iron pan, 26 cm", "Old Forge", "Pans", "64.00",
         "Seasoned with flax oil, ready for the first pancake.", (60, 60, 66), 9, "4.9", 305),
    Good("CK0BOARDOK", "Oak board with a groove", "Old Forge", "Boards", "42.75",
         "One piece of oak, oiled, with a groove for the juice.", _WOOD, 2, "4.4", 37),
)  # fmt: skip
JSON_LD = (
    Good("tea-smoked", "Smoked black tea, 100 g", "Copper Kettle", "Tea", "8.40",
         "Dried over pine fires; it smells of railway stations.", (80, 50, 40)),
    Good("tea-mountain", "Mountain green tea, 100 g", "Copper Kettle", "Tea", "11.20",
         "Picked in April, steamed the same day.", _GREEN),
    Good("tea-peppermint", "Peppermint leaves, 50 g", "Copper Kettle", "Tea", "4.95",
         "From the garden behind the shop.", (90, 160, 110), 0),
)  # fmt: skip
MICRODATA = (
    Good("towel-linen", "Linen towel, red stripe", "Weavers' Row", "Textiles", "14.00",
         "Softer with every wash, for thirty years.", _RED),
    Good("spoon-honey", "Honey spoon of olive wood", "Weavers' Row", "Spoons", "6.80",
         "Turned from one branch, so that no two are alike.", _WOOD),
    Good("strainer-tea", "Tea strainer, fine", "Millstone", "Strainers", "9.60",
         "Steel mesh that keeps even rooibos out of the cup.", _STEEL, 0),
)  # fmt: skip


def goods_pages() -> Iterator[Page]:
    """The shelf, a page for each thing, and its picture."""
    paths: list[tuple[str, Good]] = []
    for goods, folder, render in ((OWN_MARKUP, "dp", _own), (JSON_LD, "tea", _json_ld), (MICRODATA, "kitchen", _micro)):
        for good in goods:
            paths.append((f"/{folder}/{good.code}", good))
            yield Page(paths[-1][0], render(good))
            yield Page(good.picture, _picture(good), content_type="image/png")
    listed = "".join(
        f'<li><a href="{path}"><img src="{good.picture}" alt="{good.name}" width="160" height="120"> {good.name}</a>'
        "</li>"
        for path, good in paths
    )
    yield Page(SHELF, _document("The shelf", f"<h1>The shelf</h1><p>All that we sell just now.</p><ul>{listed}</ul>"))


@cache
def _picture(good: Good) -> bytes:
    return picture(good.colour, shape=sum(good.code.encode()))


def _document(title: str, body: str, head: str = "") -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} - {_SHOP}</title>{head}</head>\n'
        f'<body><header><nav><a href="/">Home</a> <a href="{SHELF}">The shelf</a></nav></header>\n<main>{body}</main>\n'
        f"<footer><p>{_SHOP}, written for this demonstration.</p></footer></body></html>\n"
    )


def _own(good: Good) -> str:
    whole, cents = good.price_parts
    body = f"""
<div id="crumbs"><a href="/">{_SHOP}</a> &rsaquo; <a href="{SHELF}">{good.category}</a></div>
<div id="detail" data-item="{good.code}">
  <img id="front" src="{good.picture}" alt="{good.name}, seen from the front" width="320" height="240">
  <h1><span id="item-title">{good.name}</span></h1>
  <a id="maker" href="{SHELF}">Visit the {good.brand} room</a>
  <span class="stars" title="{good.rating} out of 5 stars">{good.rating}</span>
  <span class="counted">{good.reviews:,} ratings</span>
  <div class="tag"><span class="sign">&euro;</span><span class="tag-whole">{whole}</span><sup>{cents}</sup></div>
  <div id="stock">{good.stock}</div>
  <div id="words"><p>{good.about}</p><p>We send it in a box of cardboard, without a gram of plastic.</p></div>
</div>"""
    return _document(good.name, body)


def _json_ld(good: Good) -> str:
    offer = {
        "@type": "Offer", "price": good.price, "priceCurrency": "EUR",
        "availability": f"https://schema.org/{'InStock' if good.left else 'OutOfStock'}",
    }  # fmt: skip
    data = {
        "@context": "https://schema.org", "@type": "Product", "name": good.name, "sku": good.code,
        "brand": {"@type": "Brand", "name": good.brand}, "category": good.category, "description": good.about,
        "image": good.picture, "offers": offer,
    }  # fmt: skip
    body = (
        f'<h1>{good.name}</h1><img src="{good.picture}" alt="A tin of {good.name.lower()}" width="320" height="240">'
        f"<p>{good.about}</p><p>{good.price} euro</p>"
    )
    return _document(good.name, body, f'<script type="application/ld+json">{json.dumps(data)}</script>')


def _micro(good: Good) -> str:
    state = "InStock" if good.left else "OutOfStock"
    body = f"""
<div itemscope itemtype="https://schema.org/Product">
  <h1 itemprop="name">{good.name}</h1>
  <img itemprop="image" src="{good.picture}" alt="{good.name} on the kitchen table" width="320" height="240">
  <p itemprop="description">{good.about}</p>
  <p>Made by <span itemprop="brand" itemscope itemtype="https://schema.org/Brand">
  <b itemprop="name">{good.brand}</b></span>, our number <span itemprop="sku">{good.code}</span></p>
  <p itemprop="offers" itemscope itemtype="https://schema.org/Offer"><span itemprop="price">{good.price}</span>
  <span itemprop="priceCurrency">EUR</span> <link itemprop="availability" href="https://schema.org/{state}"></p>
</div>"""
    return _document(good.name, body)
