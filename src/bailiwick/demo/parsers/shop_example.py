"""Products of shop.example: pages under /dp/ have markup of the shop's own.

The example of docs/guides/site-parsers.md. `bailiwick demo` puts it into the `parsers/` folder of the tour.
"""

import re

from web_poet import field, handle_urls
from zyte_common_items import AggregateRating, Brand, Breadcrumb, Image, ProductPage


@handle_urls("shop.example/dp/")
class ShelfPage(ProductPage):
    parser_version = 1

    @field
    def name(self) -> str | None:
        return self.css("#item-title::text").get()

    @field
    def sku(self) -> str | None:
        return self.css("#detail::attr(data-item)").get()

    @field
    def price(self) -> str | None:
        """It stands in two pieces: <span>89</span><sup>90</sup>."""
        whole, cents = self.css(".tag-whole::text").get(), self.css(".tag sup::text").get()
        return f"{whole}.{cents}" if whole and cents else None

    @field
    def currency(self) -> str | None:
        return {"€": "EUR", "£": "GBP"}.get(self.css(".tag .sign::text").get(""))

    @field
    def availability(self) -> str:
        """Words, and none of those that shops usually say."""
        return "OutOfStock" if "not to be had" in self.css("#stock::text").get("") else "InStock"

    @field
    def brand(self) -> Brand | None:
        found = re.search(r"Visit the (.+) room", self.css("#maker::text").get(""))
        return Brand(name=found[1]) if found else None

    @field
    def aggregateRating(self) -> AggregateRating | None:
        stars = re.match(r"([\d.]+) out of (\d)", self.css(".stars::attr(title)").get(""))
        count = self.css(".counted::text").get("").split(" ")[0].replace(",", "")
        if not stars:
            return None
        return AggregateRating(
            ratingValue=float(stars[1]), bestRating=float(stars[2]), reviewCount=int(count) if count.isdigit() else None
        )

    @field
    def description(self) -> str | None:
        return " ".join(self.css("#words p::text").getall()) or None

    @field
    def mainImage(self) -> Image | None:
        address = self.css("#front::attr(src)").get()
        return Image(url=self.response.urljoin(address)) if address else None

    @field
    def breadcrumbs(self) -> list[Breadcrumb]:
        steps = self.css("#crumbs a")
        return [
            Breadcrumb(name=step.css("::text").get(), url=self.response.urljoin(step.attrib["href"])) for step in steps
        ]
