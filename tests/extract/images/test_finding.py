"""References to images, as pages write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.html_content import parse_html
from bailiwick.extract.images.finding import MOST_IMAGES, find_images
from bailiwick.model.content import Content
from bailiwick.model.images import FoundImage, FoundIn, ImageType
from tests.extract.pages import PROSE

URL = "https://shop.test/boats/oak"


def found(html: str, url: str = URL) -> list[FoundImage]:
    return find_images(parse_html(html), url)


def only(html: str) -> FoundImage:
    [image] = found(html)
    return image


def test_the_tree_that_content_was_read_from_serves_as_well() -> None:
    """Lists are moved deeper while the main text is read, and back."""
    deep = "<b><i><u><img src=a.png></u></i></b>"
    html = f"<title>Oak</title><nav><ul><li>{PROSE}<li>{deep}</ul></nav><ul><li><img src=b.png></ul>"
    opened = open_body(html.encode(), "text/html", ContentLimits())
    assert isinstance(opened, Opened)
    before = found(html)
    assert isinstance(read_opened(opened, URL, ContentLimits()), Content)
    assert find_images(opened.tree, URL) == before
    assert opened.tree.document.html == parse_html(html).document.html


@pytest.mark.parametrize(
    ("html", "url", "found_in"),
    [
        ('<img src="/a.png">', "https://shop.test/a.png", FoundIn.SRC),
        ('<img src="a.png">', "https://shop.test/boats/a.png", FoundIn.SRC),
        ('<img src="//cdn.test/a.png#x">', "https://cdn.test/a.png", FoundIn.SRC),
        ('<img src="s.jpg" srcset="s.jpg 320w, l.jpg 1280w, m.jpg 640w">', "https://shop.test/boats/l.jpg",
         FoundIn.SRCSET),
        ('<img srcset="a.jpg, b.jpg 2x">', "https://shop.test/boats/b.jpg", FoundIn.SRCSET),
        ('<img srcset="/i/a,w_100.jpg 1x,/i/a,w_200.jpg 2x">', "https://shop.test/i/a,w_200.jpg", FoundIn.SRCSET),
        ('<picture><source srcset="p.webp 400w, q.webp 800w"><img src="p.jpg"></picture>',
         "https://shop.test/boats/q.webp", FoundIn.PICTURE),
        ('<img src="data:image/gif;base64,R0lGOD" data-src="real.jpg">', "https://shop.test/boats/real.jpg",
         FoundIn.LAZY),
        ('<img src="/img/placeholder.png" data-original="real.jpg">', "https://shop.test/boats/real.jpg", FoundIn.LAZY),
        ('<img src="/spacer.gif" data-srcset="s.jpg 1x, l.jpg 3x">', "https://shop.test/boats/l.jpg", FoundIn.LAZY),
        ('<img src="/spacer.gif">', "https://shop.test/spacer.gif", FoundIn.SRC),
        ('<base href="/elsewhere/"><img src="a.png">', "https://shop.test/elsewhere/a.png", FoundIn.SRC),
        ('<base href="//cdn.test/x/"><base href="/y/"><img src="a.png">', "https://cdn.test/x/a.png", FoundIn.SRC),
        ('<meta property="og:image" content="/shared.jpg">', "https://shop.test/shared.jpg", FoundIn.META),
        ('<img src=" /spaced.png ">', "https://shop.test/spaced.png", FoundIn.SRC),
    ],
)  # fmt: skip
def test_where_an_image_is_named(html: str, url: str, found_in: FoundIn) -> None:
    image = only(html)
    assert (image.url, image.found_in, image.position) == (url, found_in, 0)


@pytest.mark.parametrize(
    "html",
    ["<img>", '<img src="">', '<img src="#">', '<img src="data:image/png;base64,AAAA">', '<img src="javascript:1">',
     '<img src="ftp://a.test/b.png">', '<img src="blob:x">', "<svg><image href=a.png></svg>",
     f'<img src="/{"a" * 3000}.png">'],
)  # fmt: skip
def test_what_is_none(html: str) -> None:
    assert found(html) == []


def test_one_reference_for_each_element_in_order() -> None:
    images = found('<img src=a.png alt=" The  oak\nboat "><img src=b.png title=Side><img src=a.png alt="">')
    assert [(i.position, i.url[-5:], i.alt) for i in images] == [
        (0, "a.png", "The oak boat"), (1, "b.png", "Side"), (2, "a.png", None),
    ]  # fmt: skip


def test_a_fallback_for_readers_without_scripts_is_no_second_reference() -> None:
    html = '<img data-src="real.jpg" src="data:image/gif;base64,R0"><noscript><img src="real.jpg"></noscript>'
    assert [i.url for i in found(html)] == ["https://shop.test/boats/real.jpg"]
    assert len(found('<noscript><img src="only.jpg"></noscript>')) == 1


def test_types_by_what_the_page_says() -> None:
    images = found("""
        <img src="logo.png"><img src="a.jpg" width=80 height=60><img src="b.jpg" class="product-image hero">
        <img src="c.jpg"><img src="thumbs/d.jpg"><img src="e.jpg" width=800 class=thumbnail>""")
    kinds = {i.url.rpartition("/")[2]: i.kind for i in images}
    assert kinds == {
        "logo.png": ImageType.THUMBNAIL, "a.jpg": ImageType.THUMBNAIL, "b.jpg": ImageType.PRIMARY,
        "c.jpg": ImageType.GALLERY, "d.jpg": ImageType.THUMBNAIL, "e.jpg": ImageType.THUMBNAIL,
    }  # fmt: skip


def test_what_frames_a_page_is_small_and_never_primary() -> None:
    html = """<nav><a href=/><img src="/photo.jpg"></a></nav><img src="/images/prev.png"><img src="/a.jpg">
        <footer><p><img src="/b.jpg"></p></footer>"""
    assert [i.kind for i in found(html)] == [
        ImageType.THUMBNAIL, ImageType.THUMBNAIL, ImageType.PRIMARY, ImageType.THUMBNAIL,
    ]  # fmt: skip


def test_the_shared_image_is_the_primary_one_and_counts_once() -> None:
    html = '<meta property="og:image" content="/b.jpg"><img src="/a.jpg"><img src="/b.jpg">'
    assert [(i.url[-5:], i.kind) for i in found(html)] == [
        ("a.jpg", ImageType.GALLERY), ("b.jpg", ImageType.PRIMARY),
    ]  # fmt: skip


def test_without_any_sign_the_first_large_one_is_primary() -> None:
    kinds = [i.kind for i in found('<img src="icon.png"><img src="/a.jpg"><img src="/b.jpg">')]
    assert kinds == [ImageType.THUMBNAIL, ImageType.PRIMARY, ImageType.GALLERY]


def test_bounded() -> None:
    images = found("".join(f"<img src=/{n}.png>" for n in range(MOST_IMAGES + 500)))
    assert len(images) == MOST_IMAGES
    assert [i.position for i in images[-2:]] == [MOST_IMAGES - 2, MOST_IMAGES - 1]


@given(st.text(max_size=300))
def test_any_attribute_is_survived(text: str) -> None:
    quoted = text.replace('"', "")
    for name in ("src", "srcset", "data-src", "alt", "width"):
        for image in found(f'<img {name}="{quoted}">'):
            assert image.url.startswith(("http://", "https://"))
