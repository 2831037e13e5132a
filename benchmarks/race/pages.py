"""The pages of the race: a site of known shape in the markup of an ordinary one, rendered before anything is measured.

Paths and links are those of the local web's generator, so every page is reached from `/`. Links are written in several
ways, but none that only some crawlers take for another page (no tracking parameters). The host is filled in when a page
is asked for: a thousand hosts share one set of pages.
"""

from dataclasses import dataclass
from html import escape

from bailiwick.demo.web.prose import TOWN, mixed, paragraphs, step
from bailiwick.demo.web.trees import Shape, Tree

HOST = "@@host@@"
"""Stands for host and port until a page is asked for."""
_NAV, _IN_TEXT = 8, 20
_OUTSIDE = ("almanac", "chronicle", "harbourmaster", "museum", "observatory", "railway", "theatre", "weather")
_HEAD = """<!doctype html>
<html lang="en" class="no-js"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title} - {site}</title>
<meta name="description" content="{tagline}"><meta property="og:title" content="{title}">
<meta property="og:type" content="article"><meta property="og:site_name" content="{site}">
<link rel="stylesheet" href="/static/site.css?v=41"><link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<script type="application/ld+json">{{"@context":"https://schema.org","@type":"Article","headline":"{title}",
"datePublished":"2026-01-{day:02}T08:00:00Z","author":{{"@type":"Person","name":"The editors"}}}}</script>
<script>document.documentElement.className="js";window.page={{"number":{number},"host":"{host}"}};</script></head>
"""
_COMMENT = (
    '<li class="comment" id="c{n}"><div class="who"><img src="/static/face-{face}.png" alt="" width="32" height="32">'
    '<span class="name">Reader {n}</span> <time datetime="2026-02-{day:02}">February {day}</time></div>\n{text}</li>\n'
)
_FOOT = '<script src="/static/site.js?v=41" defer></script></body></html>\n'


@dataclass(frozen=True, slots=True)
class Size:
    """How large the site is."""

    pages: int = 5_000
    links: int = 60
    page_bytes: int = 40_000


def render(size: Size) -> dict[str, str]:
    """Every page by its path. `HOST` in it is to be replaced."""
    tree = Tree("race.test", Shape(size.pages, size.links - 6, size.page_bytes, noise=False))
    return {tree.path(index): _page(tree, index, size.page_bytes) for index in range(size.pages)}


def _page(tree: Tree, index: int, page_bytes: int) -> str:
    links = _links(tree, index)
    texts = paragraphs(TOWN, 0)
    at = mixed(index, 7) >> 40
    head = _HEAD.format(
        title=f"{TOWN.title(index)} ({index})", site=TOWN.name, tagline=TOWN.tagline, day=1 + index % 28, number=index,
        host=HOST,
    )  # fmt: skip
    top = _list("nav", links[:_NAV])
    aside = "".join(_card(link, texts[(at + n) % len(texts)]) for n, link in enumerate(links[_IN_TEXT:]))
    article = [f'<article class="story"><h1>{TOWN.title(index)}</h1><p class="lead">Page {index} of {HOST}.</p>\n']
    for n, link in enumerate(links[_NAV:_IN_TEXT]):
        article.append(f'<section class="part" id="part-{n}"><h2>{TOWN.aspects[n % len(TOWN.aspects)]}</h2>\n')
        article.append(f'{texts[(at + 3 * n) % len(texts)]}<p class="more">See {link}.</p></section>\n')
    start = f"{head}<body><header>{top}</header><main>{''.join(article)}</article>\n<aside>{aside}</aside>\n"
    end = f"</main>\n<footer>{_list('elsewhere', _outside(index))}</footer>{_FOOT}"
    return start + _comments(texts, at, page_bytes - len(start) - len(end)) + end


def _comments(texts: tuple[str, ...], at: int, rest: int) -> str:
    """As many as fill the page up."""
    parts = ['<ol class="comments">']
    while rest > 0:
        n = len(parts)
        part = _COMMENT.format(n=n, face=n % 9, day=1 + n % 28, text=texts[(at + 5 * n) % len(texts)])
        parts.append(part)
        rest -= len(part)
    return "".join([*parts, "</ol>"])


def _links(tree: Tree, index: int) -> list[str]:
    up = "../" * (tree.path(index).partition("?")[0].count("/") - 1)
    state, links = mixed(index, 11), []
    for target in tree.targets(index):
        state = step(state)
        href = escape(_written(tree.path(target), (state >> 40) % 10, up))
        links.append(f'<a class="link" href="{href}">{TOWN.title(target)}</a>')
    return links


def _written(path: str, way: int, up: str) -> str:
    if way < 6:
        return path
    if way < 8:
        return f"http://{HOST}{path}"
    return f"{path}#part-{way}" if way == 8 else f"{up}{path[1:]}" or "./"


def _outside(index: int) -> list[str]:
    """Links to other hosts: some are on every page, some are new."""
    names = [f"{_OUTSIDE[(index + n) % len(_OUTSIDE)]}{index % (50 * (n + 1))}.example" for n in range(6)]
    return [f'<a rel="external" href="https://www.{name}/{n}/">{name}</a>' for n, name in enumerate(names)]


def _card(link: str, text: str) -> str:
    words = text[3:90].rsplit(" ", 1)[0]
    return f'<div class="card"><img src="/static/thumb.jpg" alt=""><h3>{link}</h3><p>{words}</p></div>\n'


def _list(name: str, links: list[str]) -> str:
    return f'<nav class="{name}"><ul><li>' + "</li>\n<li>".join(links) + "</li></ul></nav>\n"
