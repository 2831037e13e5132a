"""What the markup of a page describes, in one form whatever its syntax: JSON-LD, microdata, RDFa."""

from typing import TYPE_CHECKING

from bailiwick.extract.structured.json_ld import read_json_ld
from bailiwick.extract.structured.microdata import read_microdata
from bailiwick.extract.structured.rdfa import read_rdfa
from bailiwick.extract.structured.things import Syntax, Thing, Value, everything_in

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["Syntax", "Thing", "Value", "everything_in", "read_things"]


def read_things(tree: "HtmlElement", base_url: str) -> list[Thing]:
    """The outermost things, in this order of trust."""
    return [*read_json_ld(tree), *read_microdata(tree, base_url), *read_rdfa(tree, base_url)]
