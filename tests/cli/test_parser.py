"""`bailiwick parser` as people use it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bailiwick.db.engine import Database
from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.running import Running, serve
from bailiwick.demo.web.sites import Site, Web
from tests.cli.tools import bailiwick
from tests.extract.parser_files import GOOD, page, returning, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bailiwick.toml").touch()
    write(tmp_path / "parsers", shop=GOOD)
    (tmp_path / "page.html").write_bytes(page())
    return tmp_path


def test_the_list_needs_no_database(project: Path) -> None:
    [row] = bailiwick("parser", "list", "--json", cwd=project).rows
    assert row == {
        "name": "shop.ShelfPage", "pattern": "shop.example/dp/", "kind": "product", "version": 3,
        "from": "parsers/shop.py", "success": None, "tried": 0, "succeeded": 0, "refused": None,
    }  # fmt: skip
    ran = bailiwick("parser", "list", cwd=project)
    assert (ran.code, "shop.ShelfPage" in ran.out) == (0, True)
    assert not (project / ".bailiwick").exists()
    assert bailiwick("parser", "list", "--domains", cwd=project).code == 1


def test_without_parsers(tmp_path: Path) -> None:
    ran = bailiwick("parser", "list", cwd=tmp_path)
    assert (ran.code, ran.out) == (0, "")
    assert "no site parsers" in ran.err


def test_what_is_wrong_is_told_with_its_line(project: Path) -> None:
    write(project / "parsers", bad="x = 1\nraise ValueError('no')\n", net=returning("pass").replace("product", "thing"))
    ran = bailiwick("parser", "list", cwd=project)
    assert (ran.code, "shop.ShelfPage" in ran.out) == (1, True)
    assert f"error: {project}/parsers/bad.py:2: ValueError: no\n" in ran.err
    assert "error: net.Page is not used: parser_kind is one of" in ran.err


def test_a_file_is_tried_without_a_database(project: Path) -> None:
    ran = bailiwick("parser", "test", "page.html", "--url", "https://shop.example/dp/1", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "shop.ShelfPage version 3 for product: succeeded\n"
        "product, confidence 0.95\n"
        "  url: https://shop.example/dp/1\n  name: Stool\n"
        '  brand: {"name": "Joiner"}\n  price: 49.90\n  currency: EUR\n'
    )
    assert not (project / ".bailiwick").exists()
    assert bailiwick("parser", "test", "page.html", cwd=project).code == 2


def test_no_parser_is_for_it(project: Path) -> None:
    ran = bailiwick("parser", "test", "page.html", "--url", "https://shop.example/about", cwd=project)
    assert (ran.code, ran.out) == (1, "")
    assert "no parser is for https://shop.example/about\n  shop.ShelfPage is for shop.example/dp/\n" in ran.err


def test_a_parser_that_fails_is_told_with_what_takes_its_place(project: Path) -> None:
    write(project / "parsers", shop=returning("raise KeyError('price')"))
    marked = '<script type="application/ld+json">{"@type": "Product", "name": "By markup"}</script><p>Some text.</p>'
    (project / "page.html").write_text(marked)
    arguments = ("parser", "test", "page.html", "--url", "https://shop.example/dp/1")
    ran = bailiwick(*arguments, cwd=project)
    assert ran.code == 1
    assert "shop.Page version 1 for product: raised\n  KeyError: 'price' (shop.py, line 13)\n" in ran.out
    assert "(of the built-in extractor product, in its place)\n" in ran.out
    [row] = bailiwick(*arguments, "--json", cwd=project).rows
    assert row["parsers"][0]["outcome"] == "raised"
    assert row["items"][0]["data"]["name"] == "By markup"


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    site = Site("shop.example")
    links = "".join(f'<a href="/dp/{n}">{n}</a>' for n in range(5))
    site.add(Page("/", f"<!doctype html><title>Shop</title><p>All our stools, of wood: {links}</p>"))
    for n in range(4):
        site.add(Page(f"/dp/{n}", page(f"Stool {n}").decode()))
    site.add(Page("/dp/4", page("Stool 4").decode().replace("productTitle", "title")))
    with serve(Web([site])) as running:
        yield running


def test_a_crawl_uses_parsers_and_counts_how_they_do(land: Path, store: Database, shop: Running) -> None:
    """Crawled, listed by success, by domain and by failure; a URL is tried; a broken file breaks nothing."""
    write(land / "parsers", shop=GOOD, broken="1 / 0")
    name, local = shop.name("shop.example"), ("--resolve", shop.resolve)
    ran = bailiwick("crawl", name, "--delay", "0", *local, cwd=land)
    assert ran.code == 0, ran.err
    assert "broken.py:1: ZeroDivisionError" in ran.err
    [row] = bailiwick("parser", "list", "--json", cwd=land).rows
    assert (row["success"], row["tried"], row["succeeded"]) == ("80% of 5", 5, 4)
    [by_domain] = bailiwick("parser", "list", "--domains", "--json", cwd=land).rows
    assert (by_domain["domain"], by_domain["success"], by_domain["state"]) == (name, "80% of 5", "good")
    [failed] = bailiwick("parser", "list", "--failed", "--domain", name, "--json", cwd=land).rows
    assert (failed["page"], failed["outcome"]) == (f"{name}/dp/4", "refused")
    paged = bailiwick("parser", "list", "--failed", "--limit", "1", cwd=land)
    assert f"more: bailiwick parser list --failed --limit 1 --after '{failed['key']}'" in paged.err
    assert bailiwick("parser", "list", "--failed", "--after", failed["key"], "--json", cwd=land).rows == []
    assert bailiwick("parser", "list", "--failed", "--after", "7", cwd=land).code == 2
    tried = bailiwick("parser", "test", f"http://{name}/dp/2", *local, "--json", cwd=land)
    assert (tried.code, json.loads(tried.out)["items"][0]["data"]["name"]) == (0, "Stool 2")
    assert bailiwick("parse", "--reparse", "all", cwd=land).out == "nothing waits to be parsed\n"
    write(land / "parsers", shop=GOOD + "# changed\n")
    assert "6 of 6 stored pages are to be parsed again" in bailiwick("parse", "--reparse", "all", cwd=land).err
