"""The web that the workers crawl while they are killed: hosts of all sizes, each with its own pace."""

from dataclasses import dataclass

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.running import Running
from bailiwick.demo.web.sites import Web

_HOSTS = 24
_SIZES = (0.3, 1.0, 1.2, 0.6, 0.9, 1.1, 0.8)
_DELAYS = (0.05, 0.08, 0.1, 0.12, 0.15)
_LATENCIES = (0.03, 0.05, 0.08)
_CRAWL_DELAY_SECONDS = 0.25
_SITEMAP_PAGES = 40
SITEMAP = "/sitemap.xml"


@dataclass(frozen=True)
class Ground:
    """The web, and what its judge has to know of it. `wishes` are crawl delays out of robots.txt."""

    web: Web
    delays: dict[str, float]
    wishes: dict[str, float]
    with_sitemap: tuple[str, ...]
    reachable: frozenset[tuple[str, str]]
    """(host, path and query) of every page that can be found."""

    @property
    def hosts(self) -> list[str]:
        return self.web.hosts


def make_ground(pages: int, *, seed: int, hosts: int = _HOSTS, noise: bool = True) -> Ground:
    """About so many pages in all. The same arguments give the same bytes.

    Without noise no link has tracking parameters: a crawler that knows nothing of these sees the same pages.
    """
    names = [f"ward{n}.test" for n in range(hosts)]
    delays = {name: _DELAYS[n % len(_DELAYS)] for n, name in enumerate(names)}
    wishes = {name: _CRAWL_DELAY_SECONDS for n, name in enumerate(names) if n % 6 == 1}
    # A host that may be asked more often has more pages: so no slow one is left over at the end.
    weights = {
        name: _SIZES[n % len(_SIZES)] / max(delays[name], wishes.get(name, 0.0), 0.1) for n, name in enumerate(names)
    }
    share = pages / sum(weights.values())
    sizes = {name: max(5, round(weight * share)) for name, weight in weights.items()}
    web = Web(
        Web.generate(seed, hosts=[name], pages_per_host=size, noise=noise and n % 2 == 0)[name]
        for n, (name, size) in enumerate(sizes.items())
    )
    # Asked before there are behaviours: latency changes nothing about what can be reached.
    reachable = frozenset((name, path) for name in names for path in web[name].reachable())
    for n, name in enumerate(names):
        web[name].behave_everywhere(b.delayed(_LATENCIES[n % len(_LATENCIES)]))
        web[name].behave("/robots.txt", b.delayed(_LATENCIES[0]))
    for name, delay in wishes.items():
        web[name].robots = f"User-agent: *\nCrawl-delay: {delay}\n"
    return Ground(web, delays, wishes, tuple(names[2::6]), reachable)


def give_sitemaps(ground: Ground, running: Running) -> None:
    """Sitemaps with the first pages of their sites, named in robots.txt. They need the port."""
    for host in ground.with_sitemap:
        paths = sorted(path for name, path in ground.reachable if name == host)[:_SITEMAP_PAGES]
        urls = "".join(f"<url><loc>{running.url(host, path).replace('&', '&amp;')}</loc></url>" for path in paths)
        ground.web[host].robots = f"User-agent: *\nDisallow:\nSitemap: {running.url(host, SITEMAP)}\n"
        ground.web[host].behave(SITEMAP, b.content("application/xml", f"<urlset>{urls}</urlset>".encode()))
