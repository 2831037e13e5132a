"""The sample web of `make demo`: nine small sites that know each other, each with a habit of its own."""

from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.behaviours import (
    JSON,
    PDF,
    encoded,
    for_first,
    linking,
    mentioning,
    noindex_meta,
    redirect,
    status,
    too_many_requests,
    validators,
)
from bailiwick.demo.web.goods import SHELF, goods_pages
from bailiwick.demo.web.offers import CONTACT, PROGRAMMES, SERVICES, foundation_pages, library_pages
from bailiwick.demo.web.prose import TOWN, Theme
from bailiwick.demo.web.sites import Site, Web
from bailiwick.demo.web.themes import BLOG, CLUB, FOOD_BANK, FOUNDATION, LIBRARY, MUSEUM, NEWS, SHOP
from bailiwick.demo.web.trees import Shape, Tree

_SEED = 7
# (host, theme, pages, children a page): only the museum is deeper than the three links that a crawl follows by default.
_SITES: tuple[tuple[str, Theme, int, int], ...] = (
    ("foodbank.example", FOOD_BANK, 60, 5),
    ("library.example", LIBRARY, 90, 5),
    ("museum.example", MUSEUM, 150, 3),
    ("shop.example", SHOP, 110, 5),
    ("news.example", NEWS, 130, 5),
    ("blog.example", BLOG, 40, 5),
    ("town.example", TOWN, 25, 5),
    ("foundation.example", FOUNDATION, 25, 5),
    ("members.example", CLUB, 20, 5),
)


# Where the others tell of the foundation, so that whoever crawls them can find it: (host, page, text with a link).
_THANKS = (
    (
        "library.example",
        SERVICES,
        "A grant pays for it. Clubs may {apply for funding of the Lantern Hill Foundation} until 31 March 2027.",
    ),
    (
        "foodbank.example",
        "/",
        "Thanks to the {community grants of the Lantern Hill Foundation}, whose call for proposals is open.",
    ),
)


def sample_web() -> Web:
    """A new one at each call, always with the same pages."""
    names = tuple(name for name, *_ in _SITES)
    trees = (
        Tree(
            name,
            Shape(pages, links=10, page_bytes=3_000, children=children),
            seed=_SEED,
            theme=theme,
            neighbours=names,
        )
        for name, theme, pages, children in _SITES
    )
    web = Web(Site(tree.host, tree) for tree in trees)
    _give_habits(web)
    _give_offers(web)
    return web


def _give_habits(web: Web) -> None:
    foodbank, library, shop, news = (web[f"{name}.example"] for name in ("foodbank", "library", "shop", "news"))
    foodbank.behave_everywhere(validators())
    foodbank.behave("/", linking("/annual-report.pdf", "/donate"))
    foodbank.behave("/annual-report.pdf", PDF)
    foodbank.behave("/donate", redirect("/", host="shop.example", status=302))
    library.robots = "User-agent: *\nDisallow: /staff/\n"
    library.add(Page("/staff/rota", "<!doctype html><title>Rota</title><p>Not for crawlers.</p>\n"))
    library.behave("/", linking("/staff/rota", "/moved-last-year", SERVICES, CONTACT))
    library.behave("/moved-last-year", status(410))
    shop.behave_everywhere(encoded("gzip"))
    shop.behave("/", linking("/basket", "/stock.json", "/catalogue", SHELF))
    shop.add(Page("/basket", "<!doctype html><html><head><title>Basket</title></head><p>It is empty.</p></html>\n"))
    shop.behave("/basket", noindex_meta())
    shop.behave("/stock.json", JSON)
    shop.behave("/catalogue", redirect("/"))
    news.behave_everywhere(validators(), encoded("br"))
    news.behave("/", linking("/live"))
    news.add(Page("/live", "<!doctype html><title>Live</title><main><p>Nothing happens just now.</p></main>\n"))
    news.behave("/live", for_first(1, too_many_requests("1")))
    web["blog.example"].www = True
    web["members.example"].behave_everywhere(status(403))


def _give_offers(web: Web) -> None:
    """Pages that describe one thing each: goods, services, programmes."""
    library, foundation = web["library.example"], web["foundation.example"]
    web["shop.example"].add(*goods_pages())
    library.add(*library_pages(library.host))
    foundation.add(*foundation_pages(foundation.host))
    foundation.behave("/", linking(PROGRAMMES, CONTACT))
    for host, path, text in _THANKS:
        web[host].behave(path, mentioning(text, host=foundation.host, path=PROGRAMMES))
