"""One walk through a page's elements: everything that layer 3 counts in the markup."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from bailiwick.score.sophistication import places

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Attributes: TypeAlias = "dict[str, str | None]"

_LANDMARKS = frozenset({"header", "nav", "main", "article", "section", "aside", "footer", "figure"})
_ROLES = {"banner": "header", "navigation": "nav", "main": "main", "article": "article", "region": "section",
          "complementary": "aside", "contentinfo": "footer"}  # fmt: skip
_OUTDATED = frozenset({"font", "center", "marquee", "blink", "big", "strike", "frame", "frameset", "basefont", "tt"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LOADED_LATER = ("data-src", "data-lazy", "data-original", "data-lazy-src", "data-srcset", "srcset", "data-defer-src")
_NOWHERE = frozenset(
    {"", "#", "javascript:", "javascript:;", "javascript:void(0)", "javascript:void(0);", "about:blank"}
)
_SIGNED = re.compile(r"(?<![a-z])authors?(?![a-z])|author[-_]?name|by-?line|articleauthor|postauthor|entryauthor")
_MAY_SIGN = re.compile(r"[Aa]uthor|[Bb]y-?[Ll]ine|[Bb]io")
_PROFILE = re.compile(r"author[-_]*(?:bio|box|info|desc|profile|card|about)|(?<![a-z])bio(?![a-z])|about[-_]author")
_PROFILE_PATH = re.compile(r"/(?:authors?|profiles?|people|staff|contributors?|reporters?|by|autor|auteur)/[^/?#]")
_AUTHOR_META = frozenset(
    {"author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author", "byl",
     "sailthru.author", "cxenseparse:author", "article.author"}
)  # fmt: skip
_DATE_META = frozenset(
    {"article:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "citation_publication_date",
     "pubdate", "publishdate", "parsely-pub-date", "dcterms.created"}
)  # fmt: skip
_KEPT_UP_META = frozenset(
    {"article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified"}
)
_OF_OTHERS = re.compile(r"review|comment|rating|testimonial", re.IGNORECASE)
_NO_NAME = re.compile(r"://|\.txt$|\.html?$")
_CLIMB = 8
_NAMED_CHARS = 120
_LONG_STYLE = 100
_MOST_SIGNED = 8
_MOST_LINKS = 5_000
_MOST_NODES = 60_000
_IN_TEXT = "p a[href], li a[href], td a[href], dd a[href], blockquote a[href], article a[href], main a[href]"
_AROUND = "nav a[href], header a[href], footer a[href], aside a[href]"


@dataclass(slots=True)
class Markup:
    """What the walk has found. Grows while it walks; nobody keeps it."""

    count: Counter[str] = field(default_factory=Counter)
    """How often something was seen, by its name."""
    landmarks: set[str] = field(default_factory=set)
    levels: list[int] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    """Metadata that is there, by its name in METADATA and a few more."""
    scripts: list[str] = field(default_factory=list)
    """JSON-LD."""
    types: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    """Address and words."""
    cited: set[str] = field(default_factory=set)
    author: str = ""
    elements: int = 0


def read_markup(tree: "LexborHTMLParser", own_site: str) -> Markup:
    found = Markup()
    walk = _Walk(found)
    for position, node in enumerate(tree.root.traverse() if tree.root is not None else ()):
        if position >= _MOST_NODES:
            break
        walk.see(node)
        found.elements += 1
    found.count["menu links"] = len(tree.css("nav a[href], [role=navigation] a[href], header ul a[href]"))
    found.count["tables in tables"] = len(tree.css("table table"))
    found.cited = _cited(tree, own_site)
    return found


def _cited(tree: "LexborHTMLParser", own_site: str) -> set[str]:
    """Sites of others to which links in the text lead, not those around it."""
    around = {node.mem_id for node in tree.css(_AROUND)[:_MOST_LINKS]}
    sites: set[str] = set()
    for node in tree.css(_IN_TEXT)[:_MOST_LINKS]:
        href = node.attributes.get("href") or ""
        if "//" not in href[:8] or node.mem_id in around:
            continue
        site = places.site_of(href)
        if site and places.is_source(site, own_site) and "sponsored" not in (node.attributes.get("rel") or ""):
            sites.add(site)
    return sites


class _Walk:
    """Sees one element after the other, in the order of the page."""

    def __init__(self, found: Markup) -> None:
        self.found, self.count = found, found.count
        self._by_tag = {
            "a": self._link, "img": self._image, "meta": self._meta, "link": self._related, "style": self._style,
            "script": self._script, "html": self._root, "title": self._title, "time": self._time, "table": self._table,
        }  # fmt: skip

    def see(self, node: "LexborNode") -> None:
        tag, given = node.tag or "", node.attributes
        if (handler := self._by_tag.get(tag)) is not None:
            handler(node, given)
        elif tag in _HEADINGS:
            self.found.levels.append(_HEADINGS[tag])
        elif tag in _LANDMARKS:
            self.found.landmarks.add(tag)
        elif tag in _OUTDATED:
            self.count["outdated"] += 1
        elif tag in ("address", "cite", "picture"):
            self.count[tag] += 1
        if given:
            self._attributes(node, given)

    def _attributes(self, node: "LexborNode", given: Attributes) -> None:
        if "style" in given:
            self.count["style attributes"] += 1
            self.count["style chars"] += len(given["style"] or "")
        if (role := given.get("role")) in _ROLES:
            self.found.landmarks.add(_ROLES[role])
        if "itemtype" in given and len(self.found.types) < 100:
            self.found.types += (given["itemtype"] or "").split()[:3]
        if "bgcolor" in given or "cellpadding" in given or "background" in given:
            self.count["outdated"] += 1
        for name in ("class", "itemprop", "rel"):
            if (said := given.get(name)) and _MAY_SIGN.search(said) and node.tag not in ("body", "html", "link"):
                self._signed(node, said.lower())

    def _signed(self, node: "LexborNode", said: str) -> None:
        self.count["profiles"] += _PROFILE.search(said) is not None
        if self.found.author or self.count["signed"] >= _MOST_SIGNED or _SIGNED.search(said) is None:
            return
        self.count["signed"] += 1
        name = " ".join((node.attributes.get("content") or node.text()).split())
        is_name = 2 < len(name) <= _NAMED_CHARS and _NO_NAME.search(name) is None and any(map(str.isalpha, name))
        if is_name and not _is_of_others(node):
            self.found.author = name

    def _link(self, node: "LexborNode", given: Attributes) -> None:
        self.count["links"] += 1
        if self.count["links"] > _MOST_LINKS:
            return
        href = (given.get("href") or "").strip()
        if href.lower() in _NOWHERE:
            # A name for a place in the page, or a button by script, is no link that broke.
            self.count["empty links"] += "href" in given and href in ("", "about:blank")
            return
        text = " ".join(node.text().split())
        self.found.links.append((href, text))
        if _PROFILE_PATH.search(href):
            self.count["profiles"] += 1

    def _image(self, _: "LexborNode", given: Attributes) -> None:
        self.count["images"] += 1
        is_later = any(given.get(name) for name in _LOADED_LATER)
        self.count["missing images"] += not ((given.get("src") or "").strip() or is_later)
        self.count["described images"] += "alt" in given
        self.count["sized images"] += "width" in given or "height" in given
        self.count["fitting images"] += bool(is_later or given.get("loading") or given.get("sizes"))

    def _meta(self, _: "LexborNode", given: Attributes) -> None:
        if "charset" in given or (given.get("http-equiv") or "").lower() == "content-type":
            self.found.said["encoding"] = "yes"
        name = (given.get("name") or given.get("property") or given.get("itemprop") or "").lower()
        content = (given.get("content") or "").strip()
        if not name or not content:
            return
        if name in _AUTHOR_META and "://" not in content:
            self.found.author = self.found.author or " ".join(content.split())[:_NAMED_CHARS]
        elif name in _DATE_META:
            self.found.said["published"] = content
        elif name in _KEPT_UP_META:
            self.found.said["modified"] = content
        elif (meant := _META.get(name)) is not None:
            self.found.said.setdefault(meant, content[:300])

    def _related(self, _: "LexborNode", given: Attributes) -> None:
        relations, href = (given.get("rel") or "").lower().split(), given.get("href") or ""
        if not href:
            return
        kind = (given.get("as") or "").lower()
        if "stylesheet" in relations or ("preload" in relations and kind == "style"):
            self.count["stylesheets"] += 1
            self.count["media rules"] += "(" in (given.get("media") or "")
        if kind == "font" or "fonts." in href or "typekit" in href:
            self.count["typefaces"] += 1
        if "icon" in relations or "apple-touch-icon" in relations or "manifest" in relations:
            self.count["icons"] += 1
        if "canonical" in relations:
            self.found.said["canonical address"] = href

    def _style(self, node: "LexborNode", _: Attributes) -> None:
        css = node.text()
        self.count["style chars"] += len(css)
        self.count["stylesheets"] += len(css) >= _LONG_STYLE
        self.count["media rules"] += "@media" in css
        self.count["typefaces"] += "font-family" in css or "@font-face" in css or "@import" in css

    def _script(self, node: "LexborNode", given: Attributes) -> None:
        if "ld+json" in (given.get("type") or "").lower():
            self.found.scripts.append(node.text())

    def _root(self, _: "LexborNode", given: Attributes) -> None:
        if language := (given.get("lang") or given.get("xml:lang") or "").strip():
            self.found.said["language"] = language

    def _title(self, node: "LexborNode", _: Attributes) -> None:
        if title := " ".join(node.text().split()):
            self.found.said.setdefault("title", title[:300])

    def _time(self, _: "LexborNode", given: Attributes) -> None:
        self.count["times"] += bool(given.get("datetime"))

    def _table(self, _: "LexborNode", given: Attributes) -> None:
        self.count["outdated"] += "width" in given or "border" in given


def _is_of_others(node: "LexborNode") -> bool:
    """Within a review or a comment."""
    inner: LexborNode | None = node
    for _ in range(_CLIMB):
        if inner is None or inner.tag in ("body", "main", "article"):
            return False
        given = inner.attributes
        if _OF_OTHERS.search(" ".join(given.get(name) or "" for name in ("class", "id", "itemtype", "itemprop"))):
            return True
        inner = inner.parent
    return False


_META = {
    "description": "description", "og:description": "description", "og:title": "sharing title",
    "twitter:title": "sharing title", "og:image": "sharing image", "twitter:image": "sharing image",
    "viewport": "viewport",
}  # fmt: skip
