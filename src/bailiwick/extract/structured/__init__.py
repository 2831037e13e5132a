"""What the markup of a page describes, in one form whatever its syntax: JSON-LD, microdata, RDFa."""

from typing import TYPE_CHECKING

from bailiwick.extract.structured.json_ld import read_json_ld
from bailiwick.extract.structured.microdata import read_microdata
from bailiwick.extract.structured.rdfa import read_rdfa
from bailiwick.extract.structured.things import Syntax, Thing, Value, everything_in

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["Syntax", "Thing", "Value", "everything_in", "read_things"]


def read_things(tree: "HtmlElement", html: str, base_url: str) -> list[Thing]:
    """The outermost things, in this order of trust. The page's text tells which syntaxes are worth a look."""
    found = read_json_ld(tree) if "ld+json" in html else []
    if "itemscope" in html:
        found += read_microdata(tree, base_url)
    if any(f"{space}typeof=" in html for space in " \n\t"):  # scripts have the word alone
        found += read_rdfa(tree, base_url)
    return found
