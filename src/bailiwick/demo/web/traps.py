"""Sites without end: each has some real pages that must be found, and a trap around them.

`real_pages()` are those that must be found, `real_page(path)` tells which of them an answer at this path is (they may
have many addresses), and `EndlessSite.page` makes whatever page is asked for. There is nothing to enumerate.
"""

from datetime import date
from hashlib import blake2b
from itertools import pairwise

from bailiwick.demo.web.answers import DEFAULT_PORTS, Origins, Page
from bailiwick.demo.web.prose import TOWN, Theme, mixed, paragraphs
from bailiwick.demo.web.reach import Depths
from bailiwick.demo.web.sites import Site


class EndlessSite(Site):
    """A site whose pages are made from their address."""

    def __init__(self, host: str, *, seed: int = 0, theme: Theme = TOWN) -> None:
        super().__init__(host)
        self._seed, self._theme = seed, theme

    def real_pages(self) -> set[str]:
        """The pages that must be found, by their plainest path."""
        raise NotImplementedError

    def real_page(self, path: str) -> str | None:
        """The real page that is at this path; None if there is none."""
        return path if path in self.real_pages() else None

    def render(self, path: str) -> str | None:
        """The document at this path; None for a 404."""
        raise NotImplementedError

    def page(self, path: str, *, origins: Origins = DEFAULT_PORTS, scheme: str = "http") -> Page | None:
        body = self.render(path)
        return super().page(path, origins=origins, scheme=scheme) if body is None else Page(path, body)

    def _reached(self) -> Depths:
        raise ValueError(f"{self.host} has no end: ask for its real pages")

    def _document(self, title: str, index: int | None, links: list[str]) -> str:
        """A page with its own text, by its index, or with hardly any."""
        text = "" if index is None else self._text(index)
        items = "".join(f'<li><a href="{href.replace("&", "&amp;")}">{n}</a></li>' for n, href in enumerate(links))
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
            f"<body><nav><ul>{items}</ul></nav><main><h1>{title}</h1>\n{text}</main></body></html>\n"
        )

    def _text(self, index: int) -> str:
        pool = paragraphs(self._theme, self._seed)
        return f"<p>Number {index}.</p>{pool[(mixed(self._seed, index) >> 40) % len(pool)]}"


class CalendarSite(EndlessSite):
    """Months that lead to months and days, in both directions, up to the year 9999; 40 events near `today`.

    An event is linked from its month and from nowhere else.
    """

    def __init__(self, host: str, today: date, *, seed: int = 0) -> None:
        super().__init__(host, seed=seed)
        self._now = today.year * 12 + today.month - 1
        # Two a month, with a gap of half a year before the last ones.
        self._events = {f"/events/evening-{n}": self._now + n // 2 - 8 + (6 if n >= 34 else 0) for n in range(40)}

    def real_pages(self) -> set[str]:
        return {"/", "/about", *self._events}

    def render(self, path: str) -> str | None:
        if path == "/":
            return self._document("What is on", 1000, ["/about", "/calendar", self._month(self._now)])
        if path == "/about":
            return self._document("About", 1001, ["/"])
        if path == "/calendar":
            return self._month_page(self._now)
        if path in self._events:
            return self._document(
                path[8:], list(self._events).index(path), ["/", "/calendar", self._month(self._events[path])]
            )
        return self._dated(path)

    def _dated(self, path: str) -> str | None:
        kind, _, when = path.partition("=")
        year, month, *day = (int(part) if part.isdecimal() else 0 for part in f"{when}-".split("-")[:3])
        if kind == "/calendar?day" and day and day[0]:
            return self._document(f"{when}: nothing on", None, ["/", self._month(year * 12 + month - 1)])
        return self._month_page(year * 12 + month - 1) if kind == "/calendar?month" and year else None

    def _month_page(self, month: int) -> str:
        name = f"{month // 12:04}-{month % 12 + 1:02}"
        days = [f"/calendar?day={name}-{day:02}" for day in range(1, 29)]
        events = [path for path, at in self._events.items() if at == month]
        around = [self._month(month - 1), self._month(month + 1), self._month(month + 12)]
        return self._document(f"The month {name}", None, ["/", *around, *events, *days])

    def _month(self, month: int) -> str:
        return f"/calendar?month={month // 12:04}-{month % 12 + 1:02}"


_FILTERS = ("colour", "size", "brand", "price", "made")
_VALUES = 8


class FacetSite(EndlessSite):
    """A shop of 120 products with five filters of eight values each: any combination, in any order, is a page."""

    products = 120
    per_page = 20

    def real_pages(self) -> set[str]:
        return {"/", "/shop", *(f"/product/{n}" for n in range(self.products))}

    def render(self, path: str) -> str | None:
        head, _, query = path.partition("?")
        if path == "/":
            return self._document("The shop", 1000, ["/shop"])
        if head == "/shop":
            return self._list(query)
        number = path.removeprefix("/product/")
        if number.isdecimal() and int(number) < self.products:
            alike = [f"/product/{(int(number) * 7 + 1) % self.products}"]
            return self._document(f"Product {number}", int(number), ["/", *alike, *self._more_like(int(number))])
        return None

    def _more_like(self, product: int) -> list[str]:
        """Its own first two properties: a combination that is found on a page which is no list."""
        chosen = [f"{name}={self._value(product, at)}" for at, name in enumerate(_FILTERS)]
        return [f"/shop?{chosen[0]}", f"/shop?{chosen[1]}&{chosen[2]}"]

    def _value(self, product: int, at: int) -> int:
        return (mixed(self._seed + at, product) >> 40) % _VALUES

    def _list(self, query: str) -> str | None:
        chosen = dict(part.split("=", 1) for part in query.split("&") if "=" in part)
        page = int(chosen.pop("page", "1")) - 1
        shown = [n for n in range(self.products) if all(self._has(n, name, chosen[name]) for name in chosen)]
        at = page * self.per_page
        links = [f"/product/{n}" for n in shown[at : at + self.per_page]]
        kept = "&".join(f"{name}={value}" for name, value in chosen.items())
        if at + self.per_page < len(shown):
            links.append(f"/shop?{kept}{'&' if kept else ''}page={page + 2}")
        for name in _FILTERS:
            for value in range(_VALUES):
                if name not in chosen:  # the newest filter comes first on some pages and last on others
                    parts = [kept, f"{name}={value}"] if value % 2 else [f"{name}={value}", kept]
                    links.append(f"/shop?{'&'.join(part for part in parts if part)}")
        return self._document(f"{len(shown)} products: {kept}", None, links)

    def _has(self, product: int, name: str, value: str) -> bool:
        return name in _FILTERS and str(self._value(product, _FILTERS.index(name))) == value


class SessionSite(EndlessSite):
    """60 pages that all link to each other, with a token in each link that was never there before.

    `style`: query (`?sid=`), path (`;jsessionid=`) or segment (`/s/…/page/7`).
    """

    pages = 60

    def __init__(self, host: str, style: str = "query", *, seed: int = 0) -> None:
        super().__init__(host, seed=seed)
        self._style = style

    def real_pages(self) -> set[str]:
        return {"/", *(f"/page/{n}" for n in range(1, self.pages + 1))}

    def real_page(self, path: str) -> str | None:
        head = path.partition("?")[0].partition(";")[0]
        if head.startswith("/s/"):
            head = "/" + head.split("/", 3)[-1]
        return head if head in self.real_pages() else None

    def render(self, path: str) -> str | None:
        page = self.real_page(path)
        if page is None:
            return None
        index = int(page.rpartition("/")[2] or 0)
        ahead = [(index * 3 + step) % self.pages + 1 for step in range(12)]
        links = [self._with_token(f"/page/{n}", path, n) for n in ahead] + [self._with_token("/", path, 0)]
        return self._document(page, index, links)

    def _with_token(self, target: str, found_on: str, n: int) -> str:
        token = blake2b(f"{self._seed} {found_on} {n}".encode(), digest_size=16).hexdigest()
        if self._style == "query":
            return f"{target}?sid={token}"
        return f"{target};jsessionid={token.upper()}.node1" if self._style == "path" else f"/s/{token}{target}"


class MirrorSite(EndlessSite):
    """30 pages, and below each folder of `mirrors` all of them again, mirrors included."""

    pages = 30

    def __init__(self, host: str, mirrors: tuple[str, ...] = ("mirror",), *, seed: int = 0) -> None:
        super().__init__(host, seed=seed)
        self._mirrors = mirrors

    def real_pages(self) -> set[str]:
        return {"/", *(f"/notes/note-{n}.html" for n in range(1, self.pages))}

    def real_page(self, path: str) -> str | None:
        while (first := path[1:].partition("/")[0]) in self._mirrors and path != f"/{first}":
            path = path[1 + len(first) :]
        return path if path in self.real_pages() else None

    def render(self, path: str) -> str | None:
        page = self.real_page(path)
        if page is None:
            return None
        if page == "/":
            return self._document("Notes", 0, ["notes/note-1.html", *(f"{name}/" for name in self._mirrors)])
        index = int(page.rpartition("-")[2].removesuffix(".html"))
        ahead = [n for n in (index + 1, 2 * index, 2 * index + 1) if n < self.pages]
        return self._document(f"Note {index}", index, ["../", *(f"note-{n}.html" for n in ahead)])


class RepetitionSite(EndlessSite):
    """A guide of 36 pages whose links lack the leading slash, on a server that looks at the end of a path only."""

    folders = ("guide", "plants", "tools")

    def real_pages(self) -> set[str]:
        return {"/", *(f"/{a}/{b}/" for a, b in pairwise((*self.folders, self.folders[0]))), *self._leaves()}

    def _leaves(self) -> list[str]:
        return [f"/{folder}/leaf-{n}.html" for folder in self.folders for n in range(11)]

    def real_page(self, path: str) -> str | None:
        ends = [page for page in self.real_pages() if page != "/" and path.endswith(page)]
        return "/" if path == "/" else max(ends, key=len, default=None)

    def render(self, path: str) -> str | None:
        page = self.real_page(path)
        if page is None:
            return None
        pages = sorted(self.real_pages())
        index = pages.index(page)
        ahead = [pages[n % len(pages)][1:] for n in (index + 1, 2 * index + 1, 2 * index + 2)]
        if page == "/":
            ahead = [name[1:] for name in pages[1:]]
        return self._document(page, index, ["/", *ahead])
