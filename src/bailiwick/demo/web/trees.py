"""The pages of one generated site: a tree of known depth, rendered on demand, nothing kept.

Pages are numbered breadth first, so a page's parent, children and depth are arithmetic. Cross links lead at most one
level down: no page can be reached earlier than through its parent, and the depth in the tree is the depth of a
breadth-first crawl.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from bailiwick.demo.web.answers import Origins
from bailiwick.demo.web.prose import TOWN, Theme, mixed, paragraphs, seed_of, step

MAX_DEPTH = 5
_NUMBER = re.compile(r"(\d{1,9})\D*$")
_SLUG = re.compile(r"[^a-z]+")
_CAMPAIGNS = ("newsletter", "autumn", "friends")


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a generated site is, and how its pages look."""

    pages: int = 50
    links: int = 8
    """Links a page, about; each page links to all its children, however many those are."""
    page_bytes: int = 1_500
    """About; a page with many links can be no smaller than these."""
    noise: bool = True
    """Links with tracking parameters, to other hosts, mailto: and javascript: ones too."""
    children: int = 3
    """The fewest children a page has; more, if these would make the tree deeper than MAX_DEPTH."""

    @property
    def branching(self) -> int:
        """Children a page: as many as keep the deepest page at MAX_DEPTH."""
        width = self.children
        while sum(width**depth for depth in range(MAX_DEPTH + 1)) < self.pages:
            width += 1
        return width


@dataclass(frozen=True, slots=True)
class Edition:
    """Which state of a page is rendered: `version` changes its text, `nonce` only a script."""

    version: int = 0
    nonce: int = 0


class Tree:
    """One site's pages by number. Pure: the same arguments give the same bytes for ever."""

    def __init__(
        self,
        host: str,
        shape: Shape,
        *,
        seed: int = 0,
        theme: Theme = TOWN,
        neighbours: tuple[str, ...] = (),
    ) -> None:
        self.host = host
        self.shape = shape
        self._seed = seed_of(seed, host)
        self._theme = theme
        self._slugs = tuple(_SLUG.sub("-", subject.lower()).strip("-") for subject in theme.subjects)
        self._neighbours = tuple(name for name in neighbours if name != host) if len(neighbours) < 20 else neighbours
        self._paragraphs = paragraphs(theme, seed)
        self._branching = shape.branching
        self._level_ends = _level_ends(shape.pages, self._branching)

    def path(self, index: int) -> str:
        """Path and query, in canonical form."""
        if index == 0:
            return "/"
        section = self._theme.sections[index % len(self._theme.sections)]
        if index % 11 == 5:
            return f"/{section}/list?view=full&item={index}"
        if index % 13 == 7:
            return f"/{section}/caf%C3%A9-{index}"
        slug = self._slugs[index % len(self._slugs)]
        return f"/{section}/{slug}-{index}/" if index % 5 == 3 else f"/{section}/{slug}-{index}.html"

    def find(self, path: str) -> int | None:
        """The number of the page with this path."""
        if path == "/":
            return 0
        found = _NUMBER.search(path)
        index = int(found[1]) if found else 0
        return index if 0 < index < self.shape.pages and self.path(index) == path else None

    def depth(self, index: int) -> int:
        return bisect_right(self._level_ends, index)

    def targets(self, index: int) -> list[int]:
        """The pages of this site that the page links to: home, parent, all children, others; some of them twice."""
        first = index * self._branching + 1
        targets = [0, max(0, index - 1) // self._branching]
        targets.extend(range(first, min(first + self._branching, self.shape.pages)))
        within = self._level_ends[min(self.depth(index) + 1, len(self._level_ends) - 1)]
        wanted = self.shape.links - (4 if self.shape.noise else 0)
        state = mixed(self._seed, index)
        for _ in range(wanted - len(targets)):
            state = step(state)
            targets.append((state >> 33) % within)
        return targets

    def render(self, index: int, edition: Edition, *, origins: Origins, scheme: str) -> str:
        """The whole document."""
        theme, title = self._theme, self._theme.title(index)
        number = f" ({index})" if index else ""
        revised = f" This page was revised {edition.version} times." if edition.version else ""
        links = self._links(index, origins.url(self.host, "", scheme=scheme), origins)
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}{number} - {theme.name}'
            f"</title>\n<script>window.visit = 'n{edition.nonce}';</script></head>\n<body><header><nav>{links[0]} "
            f"{links[1]}</nav></header>\n<main><h1>{title}</h1>\n<p>{theme.tagline} Page {index} of {self.host}."
            f"{revised}</p>\n{self._main(index, links[2:])}</main>\n"
            f"<footer><p>{theme.name}, written for this demonstration.</p></footer></body></html>\n"
        )

    def _main(self, index: int, links: list[str]) -> str:
        """Paragraphs up to the wanted size, with the links in lists between them."""
        pool = self._paragraphs
        rest = self.shape.page_bytes - 550 - sum(map(len, links))
        count = max(1, round(rest / 320))
        at = mixed(self._seed, ~index) >> 40
        texts = [pool[(at + n) % len(pool)] for n in range(count)]
        lists = [f"<ul><li>{'</li><li>'.join(links[n : n + 6])}</li></ul>\n" for n in range(0, len(links), 6)]
        share = -(-count // max(1, len(lists)))
        parts: list[str] = []
        for n, items in enumerate(lists):
            parts += texts[n * share : (n + 1) * share]
            parts.append(items)
        return "".join(parts if lists else texts)

    def _links(self, index: int, origin: str, origins: Origins) -> list[str]:
        """The marked-up links, each written in one of the many ways in which pages write them."""
        up = "../" * (self.path(index).partition("?")[0].count("/") - 1)
        state, noise, links = mixed(self._seed, index ^ 0x5EED), self.shape.noise, []
        for target in self.targets(index):
            state = step(state)
            href = _written(self.path(target), (state >> 40) & 15, up=up, origin=origin, noise=noise)
            links.append(f'<a href="{href}">{self._theme.title(target)}</a>')
        return links + self._noise(state, links, origins) if noise else links

    def _noise(self, state: int, links: list[str], origins: Origins) -> list[str]:
        noise = [
            links[-1].replace("</a>", ", again</a>"),
            f'<a href="mailto:desk@{self.host}">Write to us</a>',
            '<a href="javascript:window.print()">Print</a>',
        ]
        if self._neighbours:
            other = self._neighbours[(state >> 24) % len(self._neighbours)]
            if other != self.host:
                noise.append(f'<a href="{origins.url(other)}" rel="external">Our friends at {other}</a>')
        return noise


def _level_ends(pages: int, branching: int) -> list[int]:
    """For each depth, the number of the first page that is deeper."""
    ends, width = [1], 1
    while ends[-1] < pages:
        width *= branching
        ends.append(min(pages, ends[-1] + width))
    return ends


def _written(path: str, style: int, *, up: str, origin: str, noise: bool) -> str:
    if "&" in path:
        path = path.replace("&", "&amp;")
    if style < 6:
        return path
    if style < 10:
        return f"{up}{path[1:]}" or "./"
    if style < 12:
        return f"{origin}{path}"
    if style == 12:
        return origin[origin.index("//") :] + path
    if style < 15 or not noise:
        return f"{path}#part-{style}"
    mark = "&amp;" if "?" in path else "?"
    return f"{path}{mark}utm_source={_CAMPAIGNS[len(path) % 3]}"
