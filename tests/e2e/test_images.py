"""Images from page to file: the real program on a local web."""

import json
import time
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import psutil
import pytest

from bailiwick.demo.web import behaviours as b
from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.sites import Site, Web
from tests.crawl.images.pictures import SVG, bomb, picture
from tests.e2e.conftest import MakeLand
from tests.e2e.pace import Hold, LeaseHistory, in_holds, refusals, too_close
from tests.e2e.tools import Land

A, CDN, OTHER = "alpha.test", "cdn.test", "other.test"
WORDS = "The museum by the river shows paintings of boats, bridges and the people who built them, in seven rooms. "


def page(path: str, *images: str, title: str = "Paintings") -> Page:
    body = "".join(f"<p>{WORDS}</p>{image if '<' in image else f'<img src={image} alt=A>'}" for image in images)
    links = '<a href="/">home</a>'
    return Page(path, f"<title>{title} {path}</title><body><article>{body}{links}</article></body>")


def file(path: str, body: bytes, kind: str = "image/png") -> Page:
    return Page(path, body, content_type=kind)


def site(host: str, *pages: Page, robots: str | None = None) -> Site:
    made = Site(host, robots=robots)
    for one in pages:
        made.add(one)
    return made


def profile(land: Land, text: str = "", name: str = "pictures") -> str:
    (land.home / "profiles").mkdir(exist_ok=True)
    small = "[images]\nmin_width = 0\nmin_height = 0\nmin_bytes = 0\n"
    (land.home / "profiles" / f"{name}.toml").write_text(f'extends = "images"\n{text}\n{small}')
    return name


def outcomes(land: Land) -> dict[str, str]:
    """By path."""
    rows = land.rows("select url, outcome from image_fetches")
    return {"/" + row.url.partition("://")[2].partition("/")[2]: row.outcome for row in rows}


def stored(land: Land) -> set[str]:
    """Digests of the files, which are what their names say."""
    found = {
        path.stem: sha256(path.read_bytes()).hexdigest() for path in (land.home / ".bailiwick" / "images").glob("??/*")
    }
    assert all(name == digest for name, digest in found.items())
    return set(found)


def test_from_page_to_file(land_of: MakeLand) -> None:
    first, second = picture(1), picture(2, kind="JPEG")
    land = land_of(Web([site(
        A,
        page("/", "/a.png", "/b.jpg", "/a.png", '<a href="/two">two</a>'),
        page("/two", "/copy-of-a.png", "/drawing.svg", "/lies.jpg", "/page.png", "/missing.png",
             "/bomb.png", "/cut.jpg"),
        file("/a.png", first), file("/b.jpg", second, "image/jpeg"), file("/copy-of-a.png", first),
        file("/drawing.svg", SVG, "image/svg+xml"), file("/lies.jpg", picture(3), "image/jpeg"),
        file("/page.png", b"<html><body>no image</body></html>"), file("/bomb.png", bomb()),
        file("/cut.jpg", second[: len(second) // 2], "image/jpeg"),
    )]))  # fmt: skip
    ran = land.crawl(land.name(A), "--depth", "all", "--profile", profile(land), parse=True)
    assert outcomes(land) == {
        "/a.png": "stored", "/b.jpg": "stored", "/copy-of-a.png": "stored", "/drawing.svg": "stored",
        "/lies.jpg": "stored", "/page.png": "not_an_image", "/missing.png": "not_found", "/bomb.png": "too_many_pixels",
        "/cut.jpg": "truncated",
    }  # fmt: skip
    wanted = {sha256(body).hexdigest() for body in (first, second, SVG, picture(3))}
    assert stored(land) == wanted
    rows = land.rows("select encode(sha256, 'hex') as digest, mime, width, height, file_size from images")
    assert {row.digest for row in rows} == wanted
    by_mime = {row.mime: (row.width, row.height) for row in rows if row.file_size != len(picture(3))}
    assert by_mime == {"image/png": (240, 180), "image/jpeg": (240, 180), "image/svg+xml": (None, None)}
    assert land.value("select count(*) from image_sightings") == 10
    assert land.value("select count(*) from image_sightings where image_id is not null") == 6
    progress = land.rows("select images_found, images_stored from domain_progress")[0]
    assert tuple(progress) == (10, 4)
    assert land.value("select image_yield_rate from domains") > 0
    asked = [path for host, path in land.running.log.answered_200() if path.endswith((".png", ".jpg", ".svg"))]
    assert len(asked) == len(set(asked)), "an image was asked for twice"
    assert land.crawl_state(A) == "exhausted"
    land.check()
    assert "9 images asked for: 5 stored, 1 not an image, 1 not found, 1 too many pixels, 1 truncated" in ran.out


def cdn_url(land_name: str, path: str) -> str:
    return f"http://{land_name}{path}"


def with_cdn(land_of: MakeLand, *, robots: str | None = None, images: int = 3) -> Land:
    """A site whose pictures lie on another host, and one on a third one that nobody named."""
    web = Web([Site(A), site(CDN, *(file(f"/{n}.png", picture(n)) for n in range(images)), robots=robots),
               site(OTHER, file("/x.png", picture(99)))])  # fmt: skip
    land = land_of(web)
    there = [cdn_url(land.name(CDN), f"/{n}.png") for n in range(images)]
    web[A].add(page("/", *there, cdn_url(land.name(OTHER), "/x.png"), "/own.png"))
    web[A].add(file("/own.png", picture(50)))
    return land


def test_other_hosts_are_asked_only_where_the_profile_says_so(land_of: MakeLand) -> None:
    land = with_cdn(land_of)
    land.crawl(land.name(A), "--profile", profile(land, f'asset_hosts = ["{CDN}"]'), parse=True)
    assert outcomes(land) == {
        "/0.png": "stored", "/1.png": "stored", "/2.png": "stored", "/x.png": "host_not_allowed", "/own.png": "stored",
    }  # fmt: skip
    assert land.running.log.entries(OTHER) == []
    assert land.rows("select 1 from domains where name ~ '^cdn'") == [], "an asset's host is no domain of ours"
    paths = [entry.path for entry in land.running.log.entries(CDN)]
    assert paths[0] == "/robots.txt"
    assert sorted(paths[1:]) == ["/0.png", "/1.png", "/2.png"]
    assert land.running.log.min_gap(CDN) >= 1.999, "its gate was not kept"
    assert land.running.log.most_at_once(CDN) == 1


@pytest.mark.parametrize("verb", ["reject", "blacklist"])
def test_never_of_a_domain_that_was_refused(land_of: MakeLand, verb: str) -> None:
    land = with_cdn(land_of)
    land.run("domain", "submit", land.name(CDN))
    land.run("domain", verb, land.name(CDN), "--reason", "spam")
    land.crawl(land.name(A), "--profile", profile(land, f'asset_hosts = ["{CDN}"]'), parse=True)
    found = outcomes(land)
    assert {found[f"/{n}.png"] for n in range(3)} == {"host_refused"}
    assert found["/own.png"] == "stored"
    assert land.running.log.entries(CDN) == []


def test_a_host_that_is_crawled_itself_is_asked_afterwards(land_of: MakeLand) -> None:
    """Its lease is somebody's (here: this very process's), so its images wait until that is given back."""
    land = with_cdn(land_of)
    pages = [page(f"/p{n}", f'<a href="/p{n + 1}">next</a>') for n in range(8)]
    for one in (page("/", '<a href="/p0">first</a>'), *pages):
        land.running.web[CDN].add(one)
    history = LeaseHistory(land)
    name = profile(land, f'asset_hosts = ["{CDN}"]')
    land.crawl(land.name(A), land.name(CDN), "--depth", "all", "--profile", name, delay="0.5", parse=True)
    found = outcomes(land)
    assert {found[f"/{n}.png"] for n in range(3)} == {"stored"}
    assert too_close(land.running.log, {A: 0.5, CDN: 0.5}) == []
    [tenure] = [t for t in history.tenures() if t.name == land.name(CDN)]
    images = [entry.at for entry in land.running.log.entries(CDN) if entry.path.endswith(".png")]
    assert images
    assert min(images) >= tenure.until - 0.1, "its host was asked while it was another's"


def test_robots_of_both_hosts_hold(land_of: MakeLand) -> None:
    land = with_cdn(land_of, robots="User-agent: *\nDisallow: /1.png\nCrawl-delay: 3\n")
    land.running.web[A].robots = "User-agent: *\nDisallow: /own.png\n"
    land.crawl(land.name(A), "--profile", profile(land, f'asset_hosts = ["{CDN}", "{OTHER}"]'), parse=True)
    assert outcomes(land) == {
        "/0.png": "stored", "/1.png": "robots_denied", "/2.png": "stored", "/x.png": "stored",
        "/own.png": "robots_denied",
    }  # fmt: skip
    assert "/1.png" not in [entry.path for entry in land.running.log.entries(CDN)]
    assert "/own.png" not in [entry.path for entry in land.running.log.entries(A)]
    assert land.running.log.min_gap(CDN) >= 2.999, "its crawl-delay was not kept"


def test_a_host_that_wants_to_be_left_alone_is(land_of: MakeLand) -> None:
    """429 with Retry-After on another host holds all of its images, and they come afterwards."""
    land = with_cdn(land_of)
    web = land.running.web
    for n in range(3):
        web[CDN].behave(f"/{n}.png", b.for_first(1, b.too_many_requests("6")))
    land.crawl(land.name(A), "--profile", profile(land, f'asset_hosts = ["{CDN}"]'), parse=True,
               BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS="0.1")  # fmt: skip
    assert {outcomes(land)[f"/{n}.png"] for n in range(3)} == {"stored"}
    log = land.running.log
    holds = [Hold(CDN, entry.received + 0.05, entry.received + 6) for entry in refusals(log, CDN)]
    assert len(holds) == 3
    assert in_holds(log, holds) == []


def test_no_way_inside(land_of: MakeLand) -> None:
    """Names and redirects that lead to private addresses: refused, whatever the profile says."""
    web = Web([site(A, page("/", "http://127.0.0.1:1/a.png", "http://[::1]/b.png", "http://inside.test/c.png",
                            "/jump.png"))])  # fmt: skip
    web[A].add(Page("/jump.png", b"", 302, headers={"Location": "http://169.254.169.254/latest/meta-data"}))
    land = land_of(web)
    land.crawl(land.name(A), "--profile", profile(land, 'asset_hosts = ["inside.test", "127.0.0.1"]'), parse=True,
               BAILIWICK_CRAWL_RETRY_BACKOFF_SECONDS="0.1")  # fmt: skip
    found = outcomes(land)
    assert found["/a.png"] == found["/b.png"] == "address_refused"
    assert found["/jump.png"] == "failed"  # it leads nowhere that is on the web
    assert found["/c.png"] == "failed"  # there is no such name


def test_polite_with_images_as_without(land_of: MakeLand) -> None:
    """Pages and images of one host together keep its delay and its limit, as the server sees it; also when killed."""
    pages = [page(f"/{n}", *(f"/{n}-{i}.png" for i in range(3)), f'<a href="/{n + 1}">next</a>') for n in range(6)]
    files = [file(f"/{n}-{i}.png", picture(10 * n + i)) for n in range(6) for i in range(3)]
    land = land_of(Web([site(A, page("/", '<a href="/0">first</a>'), *pages, *files)]))
    name = profile(land)
    with land.start(land.name(A), "--depth", "all", "--profile", name, delay="0.3", parse=True) as started:
        land.wait_for("select count(*) >= 4 from image_fetches where outcome = 'stored'")
        started.engine().kill()
        done = started.wait(seconds=100)
    assert done.code == 0, done
    assert set(outcomes(land).values()) == {"stored"}
    assert len(outcomes(land)) == 18
    assert too_close(land.running.log, {A: 0.3}) == []
    assert stored(land) == {sha256(one.body).hexdigest() for one in files}
    land.check()


def test_killed_at_any_moment_nothing_is_lost(land_of: MakeLand) -> None:
    """Everything is killed, children included, again and again; then what is known equals what there is."""
    pages = [page(f"/{n}", *(f"/{n}-{i}.png" for i in range(12)), f'<a href="/{n + 1}">next</a>') for n in range(10)]
    files = [file(f"/{n}-{i}.png", picture(100 * n + i, width=300)) for n in range(10) for i in range(12)]
    land = land_of(Web([site(A, page("/", '<a href="/0">first</a>'), *pages, *files)]))
    arguments = (land.name(A), "--depth", "all", "--profile", profile(land))
    for least in (5, 30, 60):
        with land.start(*arguments, delay="0.01", parse=True) as started:
            land.wait_for("select count(*) >= :least from image_fetches where outcome = 'stored'", least=least)
            for one in psutil.Process(started.process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    one.kill()
            psutil.Process(started.process.pid).kill()
    land.crawl(*arguments, delay="0.01", parse=True)
    assert set(outcomes(land).values()) == {"stored"}
    assert land.value("select count(*) from image_sightings where image_id is not null") == 120
    assert stored(land) == {sha256(one.body).hexdigest() for one in files}
    assert land.value("select images_stored from domain_progress") == land.value("select count(*) from images") == 120
    land.check()


def test_too_small_ones_are_skipped_and_said(land_of: MakeLand) -> None:
    small, thin, large = picture(1, width=40, height=40), picture(2, width=400, height=20), picture(3, width=300)
    land = land_of(Web([site(A, page("/", "/s.png", "/t.png", "/l.png"), file("/s.png", small), file("/t.png", thin),
                             file("/l.png", large))]))  # fmt: skip
    land.crawl(land.name(A), "--profile", "images", parse=True)
    assert outcomes(land) == {"/s.png": "too_small", "/t.png": "too_small", "/l.png": "stored"}
    assert stored(land) == {sha256(large).hexdigest()}
    said = {row["url"].rpartition("/")[2]: row["error"] for row in
            land.run("image", "list", "--domain", land.name(A), "--unstored", "--json").rows}  # fmt: skip
    assert said == {"s.png": "40 by 40 pixels", "t.png": "400 by 20 pixels"}


def test_images_that_look_alike(land_of: MakeLand) -> None:
    land = land_of(Web([site(
        A, page("/", "/a.png", "/a.jpg", "/a-small.webp", "/b.png"), file("/a.png", picture(1)),
        file("/a.jpg", picture(1, kind="JPEG", quality=60), "image/jpeg"),
        file("/a-small.webp", picture(1, width=120, height=90, kind="WEBP"), "image/webp"), file("/b.png", picture(2)),
    )]))  # fmt: skip
    land.crawl(land.name(A), "--profile", profile(land), parse=True)
    rows = land.run("image", "list", "--domain", land.name(A), "--json").rows
    ids = {row["url"].rpartition("/")[2]: row["id"] for row in rows}
    near = land.run("image", "list", "--near", str(ids["a.png"]), "--json").rows
    assert {row["id"] for row in near} == {ids["a.jpg"], ids["a-small.webp"]}
    assert land.run("image", "list", "--near", str(ids["b.png"]), "--json").rows == []
    shown = json.loads(land.run("image", "show", str(ids["a.png"]), "--json").out)
    assert sorted(shown["near"]) == sorted([ids["a.jpg"], ids["a-small.webp"]])
    assert Path(shown["file"]).is_file()
    assert "no image 999" in land.run("image", "show", "999", code=1).err


def test_a_refresh_sees_what_is_still_there(land_of: MakeLand) -> None:
    """Unchanged pages: seen again, nothing asked for twice. Changed ones: the new is a refresh, what is gone goes."""
    web = Web([site(A, page("/", "/a.png", "/b.png"), file("/a.png", picture(1)), file("/b.png", picture(2)),
                    file("/c.png", picture(3)))])  # fmt: skip
    land = land_of(web)
    name = profile(land)
    land.crawl(land.name(A), "--profile", name, parse=True)
    before = {row.url[-5:]: row for row in land.rows("select * from image_sightings")}
    assert {row.discovery_type for row in before.values()} == {"discovery"}
    land.run("domain", "recrawl", land.name(A))
    land.crawl(land.name(A), "--profile", name, parse=True)
    again = {row.url[-5:]: row for row in land.rows("select * from image_sightings")}
    assert all(again[url].last_seen_at > before[url].last_seen_at for url in before)
    assert all(again[url].first_seen_at == before[url].first_seen_at for url in before)
    web[A].add(page("/", "/b.png", "/c.png"))
    land.run("domain", "recrawl", land.name(A))
    land.crawl(land.name(A), "--profile", name, parse=True)
    last = {row.url[-5:]: row for row in land.rows("select * from image_sightings")}
    assert {url: row.discovery_type for url, row in last.items()} == {"b.png": "discovery", "c.png": "refresh"}
    assert last["b.png"].first_seen_at == before["b.png"].first_seen_at
    assert last["b.png"].position == 0
    asked = Counter(entry.path for entry in land.running.log.entries(A) if entry.path.endswith(".png"))
    assert asked == {"/a.png": 1, "/b.png": 1, "/c.png": 1}


def test_images_of_pages_within_the_budget(land_of: MakeLand) -> None:
    """A page budget bounds pages: their images belong to them. A request budget bounds both."""
    pages = [page(f"/{n}", f"/{n}.png", f'<a href="/{n + 1}">next</a>') for n in range(8)]
    files = [file(f"/{n}.png", picture(n)) for n in range(8)]
    land = land_of(Web([site(A, page("/", '<a href="/0">first</a>'), *pages, *files)]))
    name = profile(land)
    land.crawl(land.name(A), "--depth", "all", "--max-pages", "3", "--profile", name, parse=True)
    assert outcomes(land) == {"/0.png": "stored", "/1.png": "stored"}
    land.crawl(land.name(A), "--depth", "all", "--max-pages", "0", "--max-requests", "9", "--profile", name, parse=True)
    before = len(land.running.log.entries(A))
    assert before <= 6 + 9 + 1
    land.crawl(land.name(A), "--depth", "all", "--max-pages", "0", "--profile", name, parse=True)
    assert set(outcomes(land).values()) == {"stored"}
    assert len(outcomes(land)) == 8


def test_found_but_not_wanted(land_of: MakeLand) -> None:
    """The general profile tells where images are, and fetches none; asked for later, they are fetched without pages."""
    land = land_of(Web([site(A, page("/", "/a.png"), file("/a.png", picture(1)))]))
    land.crawl(land.name(A), parse=True)
    rows = land.run("image", "list", "--page", f"http://{land.name(A)}/", "--json").rows
    assert [(row["outcome"], row["kind"], row["alt"]) for row in rows] == [("not_wanted", "primary", "A")]
    assert land.value("select count(*) from image_fetches") == 0
    assert "/a.png" not in [entry.path for entry in land.running.log.entries(A)]
    profile(land)
    land.rows_done("update domains set profile = 'pictures'")
    land.run("parse", "--reparse", "image")
    assert outcomes(land) == {"/a.png": "waiting"}
    land.crawl(land.name(A), "--profile", "pictures", parse=True)
    assert outcomes(land) == {"/a.png": "stored"}
    assert land.value("select count(*) from image_sightings where image_id is not null") == 1


def test_a_withdrawal_stops_images_too(land_of: MakeLand) -> None:
    files = [file(f"/{n}.png", picture(n)) for n in range(40)]
    land = land_of(Web([site(A, page("/", *(one.path for one in files)), *files)]))
    with land.start(land.name(A), "--profile", profile(land), delay="0.3", parse=True) as started:
        land.wait_for("select count(*) >= 2 from image_fetches where outcome = 'stored'")
        land.run("domain", "suspend", land.name(A), "--reason", "stop")
        at = time.monotonic()
        assert started.wait().code == 0
        assert time.monotonic() - at < 15
    sent = len(land.running.log.entries(A))
    assert sent < 35
    land.crawl(land.name(A), parse=True, code=None)
    assert len(land.running.log.entries(A)) == sent


def test_exported_with_what_is_kept(land_of: MakeLand) -> None:
    land = land_of(Web([site(A, page("/", "/a.png", "/gone.png"), file("/a.png", picture(1)))]))
    land.crawl(land.name(A), "--profile", profile(land), parse=True)
    rows = land.run("export", "images").rows
    assert [(row["position"], row["outcome"], row["width"]) for row in rows] == [
        (0, "stored", 240),
        (1, "not_found", None),
    ]
    assert rows[0]["sha256"] == sha256(picture(1)).hexdigest()
    assert (land.home / ".bailiwick" / "images" / rows[0]["path"]).read_bytes() == picture(1)
    for format_ in ("csv", "parquet"):
        land.run("export", "images", "--format", format_, "-o", f"images.{format_}")
    assert land.run("export", "images", "--domain", land.name(A), "--since", "2030-01-01").out == ""
    listed = land.run("url", "list", "--unproductive", "--json").rows
    assert listed == [], "a page with images is what the profile wants"
