"""The charset by the encoding standard."""

import pytest
import webencodings

from bailiwick.net.charsets import decode


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        # A byte order mark beats all, and is no part of the text.
        ("\ufeffäß".encode(), "text/html; charset=koi8-r", "äß"),
        ("\ufeffäß".encode("utf-16-le"), "text/html; charset=utf-8", "äß"),
        ("\ufeffäß".encode("utf-16-be"), "text/html; charset=windows-1252", "äß"),
        # The header beats the document.
        ("<meta charset=koi8-r>ä".encode(), "text/html; charset=utf-8", "<meta charset=koi8-r>ä"),
        ("Привет".encode("koi8-r"), "text/html; charset=KOI8-R", "Привет"),
        ("Привет".encode("koi8-r"), 'text/html;charset="koi8-r"', "Привет"),
        ("Привет".encode("koi8-r"), "text/html; charset='koi8-r'; x=y", "Привет"),
        ("Привет".encode("koi8-r"), "text/html ;CharSet = koi8-r", "Привет"),
        ("äß".encode("utf-16-le"), "text/html; charset=utf-16", "äß"),
        ("äß".encode("utf-16-be"), "text/html; charset=utf-16be", "äß"),
        # What a label means is what browsers take it for.
        (b"\x93quoted\x94 \x80", "text/html; charset=iso-8859-1", "\u201cquoted\u201d €"),
        (b"\x93quoted\x94", "text/html; charset=us-ascii", "\u201cquoted\u201d"),
        ("日本".encode("cp932"), "text/html; charset=Shift_JIS", "日本"),
        ("汉字€".encode("gb18030"), "text/html; charset=gb18030", "汉字€"),
        ("汉字".encode("gbk"), "text/html; charset=gb2312", "汉字"),
        ("한국".encode("cp949"), "text/html; charset=euc-kr", "한국"),
        ("漢字".encode("big5"), "text/html; charset=big5", "漢字"),
        # Nothing declared: UTF-8 if it is that, else windows-1252.
        ("Käse €".encode(), "text/html", "Käse €"),
        (b"K\xe4se \x80", "text/html", "Käse €"),
        (b"", "", ""),
        # An unknown label declares nothing.
        ("Käse".encode(), "text/html; charset=nonsense", "Käse"),
        (b"K\xe4se", "text/html; charset=", "Käse"),
        # Bytes that the charset has not got are replaced.
        (b"a\xffb", "text/html; charset=utf-8", "a\ufffdb"),
        (b"\xd8\x00a", "text/html; charset=utf-16le", "\xd8\ufffd"),
    ],
)
def test_header_and_byte_order_mark(body: bytes, content_type: str, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    "meta",
    [
        "<meta charset=koi8-r>",
        '<meta charset="koi8-r">',
        "<meta charset='koi8-r'>",
        "<META CHARSET=KOI8-R>",
        "<meta charset = ' koi8-r '>",
        "<meta/charset=koi8-r />",
        "<meta\nname=x\ncharset=koi8-r>",
        '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
        '<meta content="text/html; charset=koi8-r" http-equiv=content-type>',
        "<meta http-equiv='CONTENT-TYPE' content='charset=\"koi8-r\"'>",
        '<meta name="description" content="a > b" charset="koi8-r">',
        "<!-- a comment --><meta charset=koi8-r>",
        "<!--><meta charset=koi8-r>",
        "<!---><meta charset=koi8-r>",
        "<!-- <meta charset=utf-8> --><meta charset=koi8-r><!-- -->",
        "<meta charset=nonsense><meta charset=koi8-r>",
        '<meta name="keywords" content="charset=utf-8"><meta charset=koi8-r>',
        '<meta charset=koi8-r><meta charset="utf-8">',
        '<?xml version="1.0" encoding="utf-8"?><meta charset=koi8-r>',
        "<?xml version='1.0' encoding='koi8-r'?>",
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "", "text/html; charset=nonsense"])
def test_the_document_says_what_it_is_in(meta: str, content_type: str) -> None:
    assert decode(meta.encode() + "Привет".encode("koi8-r"), content_type).endswith("Привет")


@pytest.mark.parametrize(
    "start",
    [
        "<!-- <meta charset=koi8-r> -->",
        "<!-- <meta charset=koi8-r> ",
        "<!-- <meta charset=koi8-r> -- > <meta charset=koi8-r>",
        f"<p>{'x' * 1_020}</p><meta charset=koi8-r>",
        '<meta name="description" content="text/html; charset=koi8-r">',
        '<meta http-equiv="refresh" content="0; url=/?charset=koi8-r">',
        '<meta data-charset="koi8-r">',
        "<metadata charset=koi8-r>",
        "<p>&lt;meta charset=koi8-r&gt;",
        "<meta charset=utf-8><meta charset=koi8-r>",
        # What could be read up to here is in no UTF-16.
        '<meta charset="utf-16">',
        '<meta charset="UTF-16BE">',
        '<meta charset="unicode">',
        '<meta charset="iso-10646-ucs-2">',
    ],
)
def test_what_looks_like_a_declaration_and_is_none(start: str) -> None:
    assert decode(f"{start}Käse".encode(), "text/html").endswith("Käse")


def test_x_user_defined_in_a_document_is_windows_1252() -> None:
    assert decode(b"<meta charset=x-user-defined>\x80", "text/html").endswith("€")


def test_every_label_of_the_standard_decodes_anything() -> None:
    anything = bytes(range(256)) + b"<p>text</p>\x1b$B\xff\xff"
    for label in webencodings.LABELS:
        assert isinstance(decode(anything, f"text/html; charset={label}"), str), label
        assert isinstance(decode(f"<meta charset={label}>".encode() + anything, ""), str), label
