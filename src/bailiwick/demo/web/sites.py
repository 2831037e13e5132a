"""Sites and webs: which page is where, how it behaves, and what a crawler can reach. No I/O.

A site's pages come from its tree and from pages put in by hand. Behaviours change the answer of one path, or of all
pages (`/robots.txt` and `/favicon.ico` are no pages: give those a behaviour of their own). A test may change a site
while it is served: every change is one assignment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from bailiwick.demo.web.answers import (
    DEFAULT_PORTS,
    EPOCH,
    HTML,
    NOT_PAGES,
    Answer,
    Behaviour,
    Origins,
    Page,
    Request,
    short_answer,
)
from bailiwick.demo.web.prose import TOWN
from bailiwick.demo.web.reach import Depths, depths_of
from bailiwick.demo.web.trees import Edition, Shape, Tree
from bailiwick.model.urls import DEFAULT_RULES

BOTH_SCHEMES = frozenset({"http", "https"})


class Site:
    """One host name with its pages.

    `www` says whether `www.` + host answers, too; `schemes` which of http and https do; `robots` is the text of
    robots.txt, None for a 404.
    """

    def __init__(
        self,
        host: str,
        tree: Tree | None = None,
        *,
        www: bool = False,
        schemes: frozenset[str] = BOTH_SCHEMES,
        robots: str | None = None,
    ) -> None:
        self.host = host
        self.tree = tree
        self.www = www
        self.schemes = schemes
        self.robots = robots
        self._added: dict[str, Page] = {}
        self._behaviours: dict[str, tuple[Behaviour, ...]] = {}
        self.everywhere: tuple[Behaviour, ...] = ()
        """See `behave_everywhere`."""
        self._editions: dict[str, Edition] = {}
        self._depths: Depths | None = None

    def add(self, *pages: Page) -> None:
        """Put pages in by hand; one at a path that the tree has takes its place."""
        for page in pages:
            self._added[page.path] = page
        self._depths = None

    def behave(self, path: str, *behaviours: Behaviour) -> None:
        """What becomes of the answer at this path, in this order, in place of what was said before; none: as it is."""
        self._behaviours[path] = behaviours
        self._depths = None

    def behave_everywhere(self, *behaviours: Behaviour) -> None:
        """What becomes of every page's answer, after the page's own behaviours; none: switched off."""
        self.everywhere = behaviours
        self._depths = None

    def change(self, path: str, *, visible: bool = True) -> None:
        """The page has other content from now on; if not `visible`, other bytes with the same text."""
        now = self._editions.get(path, Edition())
        self._editions[path] = replace(now, version=now.version + 1) if visible else replace(now, nonce=now.nonce + 1)

    def page(self, path: str, *, origins: Origins = DEFAULT_PORTS, scheme: str = "http") -> Page | None:
        """The page at this path and query, made now. Absolute links in it lead to these origins."""
        edition = self._editions.get(path)
        if path in self._added:
            page = self._added[path]
            return page if edition is None else _edited(page, edition)
        index = None if self.tree is None else self.tree.find(path)
        if self.tree is None or index is None:
            return None
        body = self.tree.render(index, edition or Edition(), origins=origins, scheme=scheme)
        return Page(path, body, modified=EPOCH if edition is None else _modified(edition))

    def answer(self, request: Request) -> Answer:
        """What this site answers. Tracking parameters choose no other page, as on real sites."""
        path = request.path
        answer = self._plain_answer(request, path)
        if answer is None and "?" in path:
            path = _without_tracking(path)
            answer = self._plain_answer(request, path)
        answer = answer or short_answer(404, "There is nothing here.")
        for behaviour in self._behaviours.get(path, ()):
            answer = behaviour(request, answer)
        if path not in NOT_PAGES:
            for behaviour in self.everywhere:
                answer = behaviour(request, answer)
        return answer

    def reachable(self, max_depth: int | None = None) -> set[str]:
        """The paths that are answered with a whole 200 and reached from `/` by links and redirects of this site.

        Whatever robots.txt says, and with all patience: what answers well after some requests counts.
        """
        return {path for path, depth in self._reached().items() if max_depth is None or depth <= max_depth}

    def depth_of(self, path: str) -> int | None:
        """How many links from `/` the page is away (a redirect is no link); None if it is not reachable."""
        return self._reached().get(path)

    def plain_targets(self, path: str) -> list[str] | None:
        """The pages of this site that a page links to; None if its answer has to be looked at to know."""
        if self.everywhere or self._behaviours.get(path) or path in self._added or self.tree is None:
            return None
        index = self.tree.find(path)
        return None if index is None else [self.tree.path(target) for target in self.tree.targets(index)]

    def plain_depths(self) -> Depths | None:
        """The depth of every page, by construction; None if anything may have changed it."""
        tree = self.tree
        if tree is None or self._added or self.everywhere or any(self._behaviours.values()):
            return None
        return {tree.path(index): tree.depth(index) for index in range(tree.shape.pages)}

    def _plain_answer(self, request: Request, path: str) -> Answer | None:
        page = self.page(path, origins=request.origins, scheme=request.scheme)
        if page is not None:
            return Answer.of(page)
        if path == "/robots.txt" and self.robots is not None:
            return Answer(200, self.robots, "text/plain; charset=utf-8")
        return None

    def _reached(self) -> Depths:
        if self._depths is None:
            self._depths = self.plain_depths() or depths_of(self)
        return self._depths


class Web:
    """Sites by host name."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self.sites = {site.host: site for site in sites}

    @classmethod
    def generate(
        cls,
        seed: int,
        *,
        hosts: int | Sequence[str] = 1,
        pages_per_host: int = 50,
        links_per_page: int = 8,
        page_bytes: int = 1_500,
        noise: bool = True,
    ) -> Self:
        """Sites of one shape: the same arguments give the same bytes. A number of hosts stands for made-up names."""
        shape = Shape(pages_per_host, links_per_page, page_bytes, noise)
        names = tuple(made_up_names(hosts) if isinstance(hosts, int) else hosts)
        return cls(Site(name, Tree(name, shape, seed=seed, neighbours=names)) for name in names)

    @property
    def hosts(self) -> list[str]:
        return list(self.sites)

    def site_at(self, host: str) -> Site | None:
        """The site that answers to this host name, without a port."""
        site = self.sites.get(host)
        if site is None and host.startswith("www."):
            site = self.sites.get(host[4:])
            return site if site is not None and site.www else None
        return site

    def __getitem__(self, host: str) -> Site:
        return self.sites[host]


def made_up_names(count: int) -> list[str]:
    """So many host names, each a site of its own by the public suffix list."""
    words = TOWN.sections
    return [f"{words[n % len(words)]}{n + 1}.test" for n in range(count)]


def _modified(edition: Edition) -> datetime:
    return EPOCH + timedelta(days=edition.version, hours=edition.nonce)


def _edited(page: Page, edition: Edition) -> Page:
    if isinstance(page.body, bytes) or page.content_type != HTML:
        raise ValueError(f"only HTML pages can be changed, and {page.path} is {page.content_type}")
    revised = f"<p>This page was revised {edition.version} times.</p>" if edition.version else ""
    body = f"{page.body}{revised}<script>window.visit = 'n{edition.nonce}';</script>\n"
    return replace(page, body=body, modified=_modified(edition))


def _without_tracking(path: str) -> str:
    path, _, query = path.partition("?")
    kept = "&".join(parameter for parameter in query.split("&") if not DEFAULT_RULES.tracks(parameter))
    return f"{path}?{kept}" if kept else path
