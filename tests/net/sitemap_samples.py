"""Sitemaps and feeds as they are met with, for the tests that read them."""

import gzip

URLSET = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <!-- made by hand -->
  <url>
    <loc>https://example.org/</loc><lastmod>2024-02-29</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
  </url>
  <url>
    <image:image><image:loc>https://img.example/1.jpg</image:loc></image:image>
    <image:loc>https://img.example/2.jpg</image:loc>
    <xhtml:link rel="alternate" hreflang="de" href="https://example.org/de/"/>
    <loc>
      https://example.org/a?x=1&amp;y=<![CDATA[2&z]]>
    </loc>
    <lastmod>2024-05-06T07:08:09+02:00</lastmod><priority>high</priority>
  </url>
  <url><lastmod>2024-01-01</lastmod></url>
  <url><loc>https://example.org/caf\u00e9</loc><lastmod>yesterday</lastmod></url>
</urlset>
"""

INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>https://example.org/s1.xml.gz</loc><lastmod>2024-01</lastmod></sitemap>
<sitemap><loc>/s2.xml</loc></sitemap>
</sitemapindex>"""

PREFIXED = """<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9"><s:url>
<loc>https://wrong.example/</loc><s:loc>https://example.org/p</s:loc></s:url></s:urlset>"""

RSS2 = """<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>News</title><link>https://example.org/</link><atom:link href="https://example.org/feed" rel="self"/>
<item><title>One</title><atom:link href="https://example.org/other"/><link>https://example.org/1</link>
  <guid>https://example.org/?p=1</guid><pubDate>Sat, 07 Sep 2024 10:00:01 -0500</pubDate></item>
<item><title>Two</title><guid>https://example.org/2</guid><dc:date>2024-09-08T00:00:00Z</dc:date></item>
<item><title>Three</title><guid isPermaLink="false">https://example.org/no</guid></item>
<item><title>Four</title><guid>tag:4</guid></item>
</channel></rss>"""

RSS1 = """<?xml version="1.0" encoding="iso-8859-1"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="x">
<channel rdf:about="https://example.org/"><link>https://example.org/</link>
<items><rdf:Seq><rdf:li resource="https://example.org/r"/></rdf:Seq></items></channel>
<item rdf:about="https://example.org/r"><link>https://example.org/r\u00e9</link><dc:date>2024-03-04</dc:date></item>
</rdf:RDF>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.org/"/><updated>2020-01-01</updated>
<entry><link rel="enclosure" href="https://example.org/1.mp3"/><link rel="alternate" href="https://example.org/1"/>
  <link href="https://example.org/1/de" hreflang="de"/><published>2024-01-01T00:00:00Z</published>
  <updated>2024-02-01T00:00:00Z</updated><source><link href="https://elsewhere.example/"/></source></entry>
<entry><link href="/2"/><published>2024-01-02T00:00:00.5Z</published></entry>
<entry><link rel="self" href="https://example.org/3"/></entry></feed>"""

IN_OTHER_LETTERS = "<?xml version='1.0' encoding='{}'?><urlset><url><loc>/{}</loc></url></urlset>"

TEXT = "\ufeffhttps://example.org/1\r\n\r\n  http://example.org/2 \r# no comment\nHTTPS://example.org/3"


def urlset(count: int) -> bytes:
    """A sitemap of so many pages, with some white space in it."""
    return b"<urlset>%s</urlset>" % b"".join(
        b"<url>\n <loc>https://example.org/%d</loc></url>" % n for n in range(count)
    )


BOMB = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<urlset><url><loc>&d;</loc></url></urlset>"""

SAMPLES = {
    "urlset": URLSET.encode(),
    "index": INDEX.encode(),
    "prefixed": PREFIXED.encode(),
    "rss 2.0": RSS2.encode(),
    "rss 1.0": RSS1.encode("iso-8859-1"),
    "atom": ATOM.encode(),
    "text": TEXT.encode(),
    "gzip": gzip.compress(URLSET.encode()),
    "gzip, two members, something behind": gzip.compress(URLSET.encode()[:300])
    + gzip.compress(URLSET.encode()[300:])
    + b"\x1f and more",
    "utf-16": URLSET.replace("UTF-8", "UTF-16").encode("utf-16"),
    "utf-16, no mark": URLSET.replace("UTF-8", "UTF-16").encode("utf-16-be"),
    "byte order mark": b"\xef\xbb\xbf" + URLSET.encode(),
    "blank lines before": b"\n\n\r\n " + URLSET.encode(),
    "says utf-16, is not": URLSET.replace("UTF-8", "UTF-16").encode(),
    "unknown encoding": URLSET.replace("UTF-8", "zlib_codec").encode(),
    "windows-1251": IN_OTHER_LETTERS.format("windows-1251", "\u0436").encode("cp1251"),
    "gbk": IN_OTHER_LETTERS.format("GBK", "\u4e2d").encode("gbk"),
    "bad bytes": URLSET.encode().replace(b"\xc3\xa9", b"\xe9"),
    "large": urlset(5_000),
    "large text": b"\r\n".join(b"https://example.org/%d" % n for n in range(8_000)),
    "large gzip": gzip.compress(urlset(4_000)),
}  # fmt: skip
"""Whole files."""

_HALF_GZIP = gzip.compress(urlset(4_000), mtime=0)
BROKEN = {
    "torn": URLSET.encode()[:700],
    "mismatched": URLSET.encode().replace(b"</url>", b"</item>", 2).replace(b"</item>", b"</url>", 1),
    "bare ampersand": urlset(2_000)[:-9] + b"<url><loc>a & b</loc></url></urlset>",
    "undefined entity": urlset(3)[:-9] + b"<url><loc>/&nbsp;</loc></url></urlset>",
    "billion laughs": BOMB.encode(),
    "document type": b"<!DOCTYPE rss><rss><channel><item><link>/1</link></item></channel></rss>",
    "html": b"<!DOCTYPE html><html><body><a href='/'>x</a></body></html>",
    "html, no type": b"<html><body><url><loc>/1</loc></url></body></html>",
    "json": b'{"urls": ["https://example.org/"]}',
    "torn gzip": _HALF_GZIP[: len(_HALF_GZIP) // 2],
    "gzip without its end": _HALF_GZIP[:-4],
    "gzip with a wrong sum": _HALF_GZIP[:-8] + b"\0" * 8,
    "gzip gone bad": _HALF_GZIP[: len(_HALF_GZIP) // 2] + b"\xff" * 1_000,
    "only the magic": b"\x1f\x8b",
    "deep": b"<urlset>" + b"<url>" * 40,
    "endless comment": urlset(2)[:-9] + b"<!--" + b"x" * 400_000,
    "endless tag": urlset(2)[:-9] + b"<url a='" + b"x" * 400_000,
}
"""Files that end otherwise than they should."""
