"""Images in the web interface: small copies of our own making, for those who may see the domain."""

from hashlib import sha256

import pytest

from bailiwick.crawl.images.sniffing import sniff
from bailiwick.model.images import SUFFIXES
from bailiwick.model.urls import hash_of
from tests.crawl.images.pictures import SVG, picture
from tests.web.tools import Land

DOMAIN, OTHER = "pictures.example", "others.example"


def stored(land: Land, domain: str, data: bytes, *, alt: str = "A boat") -> str:
    """An image as a crawl leaves it; returns its digest."""
    digest, mime = sha256(data), sniff(data) or "image/png"
    path = land.app.image_files.put(data, digest.digest(), SUFFIXES[mime])
    number = land.value("select id from domains where name = :name", name=domain)
    land.do("insert into images (sha256, path, machine, mime, width, height, file_size) "
            "values (:d, :p, 'm', :m, 240, 180, :n) on conflict do nothing",
            d=digest.digest(), p=path, m=mime, n=len(data))  # fmt: skip
    shown = {"domain_id": number, "url_hash": hash_of(path), "url": f"https://{domain}/{path}",
             "image_id": land.value("select id from images where sha256 = :d", d=digest.digest())}  # fmt: skip
    land.insert("image_fetches", is_own=True, outcome="stored", next_at=None, **shown)
    land.do("insert into pages (domain_id, path_hash, path, next_at) values (:d, :h, '/boats', null) "
            "on conflict do nothing", d=number, h=hash_of("/boats"))  # fmt: skip
    land.insert("image_sightings", path_hash=hash_of("/boats"), nth=0, position=0, alt_text=alt, found_in="src",
                image_type="gallery", discovery_type="discovery", **shown)  # fmt: skip
    return digest.hexdigest()


@pytest.fixture(scope="module", autouse=True)
def _domains(land: Land) -> None:
    land.admitted(DOMAIN, OTHER)


def test_a_copy_is_served_never_the_original(land: Land) -> None:
    data = picture(1, width=1600, height=1200, kind="JPEG") + b"<script>hidden at the end</script>"
    digest = stored(land, DOMAIN, data)
    browser = land.browser("viewer")
    assert f"/domains/{DOMAIN}/images/{digest}.webp" in browser.get(f"/domains/{DOMAIN}").text
    answer = browser.get(f"/domains/{DOMAIN}/images/{digest}.webp")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/webp")
    assert sniff(answer.content) == "image/webp"
    assert b"hidden" not in answer.content
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    [kept] = (land.app.place.data / "cache" / "images").glob(f"??/{digest}-*.webp")
    assert kept.read_bytes() == answer.content
    assert browser.get(f"/domains/{DOMAIN}/images/{digest}.webp").content == answer.content


def test_a_drawing_is_named_and_not_shown(land: Land) -> None:
    digest = stored(land, DOMAIN, SVG, alt="A drawing")
    browser = land.browser("viewer")
    page = browser.get(f"/domains/{DOMAIN}/images").text
    assert "A drawing" in page
    assert digest not in page
    assert browser.get(f"/domains/{DOMAIN}/images/{digest}.webp").status_code == 404


def test_only_images_of_a_domain_that_one_may_see(land: Land) -> None:
    mine, theirs = stored(land, DOMAIN, picture(2)), stored(land, OTHER, picture(3))
    viewer, submitter = land.browser("viewer"), land.browser("submitter")
    assert viewer.get(f"/domains/{OTHER}/images/{theirs}.webp").status_code == 200
    assert viewer.get(f"/domains/{OTHER}/images/{mine}.webp").status_code == 404
    assert submitter.get(f"/domains/{DOMAIN}/images/{mine}.webp").status_code == 404
    assert submitter.get(f"/domains/{DOMAIN}/images").status_code == 404
    assert land.browser().get(f"/domains/{DOMAIN}/images/{mine}.webp").status_code == 303


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\nbroken", picture(4)[:300]], ids=["broken", "cut"])
def test_what_cannot_be_decoded_is_not_there(land: Land, data: bytes) -> None:
    digest = stored(land, DOMAIN, data)
    assert land.browser("viewer").get(f"/domains/{DOMAIN}/images/{digest}.webp").status_code == 404


@pytest.mark.parametrize("digest", ["x", "0" * 64, "../../../etc/passwd", "%2e%2e", "1"])
def test_nonsense_in_the_address(land: Land, digest: str) -> None:
    assert land.browser("viewer").get(f"/domains/{DOMAIN}/images/{digest}.webp").status_code == 404


def test_the_list_goes_on(land: Land) -> None:
    for seed in range(100, 165):
        stored(land, OTHER, picture(seed, width=8, height=8), alt=f"Number {seed}")
    browser = land.browser("viewer")
    page = browser.get(f"/domains/{OTHER}/images").text
    assert page.count("<figure>") == 60
    assert 'loading="lazy"' in page
    more = page.split('class="button quiet" href="')[1].split('"')[0]
    assert browser.get(more).text.count("<figure>") >= 5
    assert browser.get(f"/domains/{OTHER}/images?before=abc").status_code == 400
