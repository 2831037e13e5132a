"""Site parsers as users write them, and pages for them."""

from pathlib import Path

PAGE = """<!doctype html><html lang=en><head><title>{name}</title></head><body>
<div id=dp><span id=productTitle>{name}</span><span class=whole>{whole}</span><span class=fraction>{fraction}</span>
<p>It is a very good {name}, made of wood and made to last, and we have sold it for many years now.</p></div></body>
</html>"""
URL = "https://shop.example/dp/{n}"

GOOD = """
from web_poet import field, handle_urls
from zyte_common_items import Brand, ProductPage


@handle_urls("shop.example/dp/")
class ShelfPage(ProductPage):
    parser_version = 3

    @field
    def name(self):
        return self.css("#productTitle::text").get()

    @field
    def price(self):
        whole, fraction = self.css(".whole::text").get(), self.css(".fraction::text").get()
        return f"{whole}.{fraction}" if whole else None

    @field
    def currency(self):
        return "EUR"

    @field
    def brand(self):
        return Brand(name="Joiner")
"""

BROKEN = """
import os
import re
import time

from web_poet import WebPage, handle_urls

@handle_urls("{pattern}")
class Page(WebPage):
    parser_kind = "product"

    def to_item(self):
        {body}
"""


def page(name: str = "Stool", whole: str = "49", fraction: str = "90") -> bytes:
    return PAGE.format(name=name, whole=whole, fraction=fraction).encode()


def write(folder: Path, **files: str) -> Path:
    """A parsers folder with these files."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def returning(body: str, pattern: str = "shop.example") -> str:
    """A parser whose `to_item` does this."""
    return BROKEN.format(pattern=pattern, body=body.replace("\n", "\n        "))
