"""What organisations of the sample web offer: services of the library, programmes of a foundation. All made up.

Some pages say what they are in schema.org's words, some only in plain ones.
"""

import json
from collections.abc import Iterator

from bailiwick.demo.web.answers import Page
from bailiwick.demo.web.pictures import pdf, picture

SERVICES, PROGRAMMES, CONTACT = "/services", "/programmes", "/contact"
CALL = "/calls/small-sparks-2027.pdf"
_LIBRARY, _FOUNDATION = "Millbrook Public Library", "Lantern Hill Foundation"


def library_pages(host: str) -> Iterator[Page]:
    """Services and how to reach the library."""
    yield _page(
        SERVICES,
        "Our services",
        '<p>What we do for you, besides lending books.</p><ul><li><a href="/services/room-hire">Hire a room</a></li>'
        '<li><a href="/services/digitising">Photographs and letters digitised</a></li>'
        '<li><a href="/services/home-delivery">Books brought to your door</a></li>'
        f'<li><a href="{CONTACT}">Contact</a></li></ul>',
        of=_LIBRARY,
    )
    yield _page(
        "/services/room-hire",
        "Room hire",
        '<img src="/pictures/room.png" alt="The reading room with forty chairs" width="320" height="240">'
        "<p>The reading room holds forty people, has a projector and a small kitchen, and is free for clubs of the "
        "town on weekday evenings.</p><h2>Price</h2><p>18.00 euro an hour; nothing for charities.</p>"
        "<h2>How to book</h2><p>Call +44 1632 960 145 or write to rooms@" + host + ".</p>",
        of=_LIBRARY,
        data={
            "@type": "Service",
            "name": "Room hire",
            "serviceType": "Room hire",
            "areaServed": "Millbrook",
            "description": "The reading room for clubs, courses and meetings of up to forty people.",
            "provider": {"@type": "Library", "name": _LIBRARY, "telephone": "+44 1632 960 145"},
            "offers": {"@type": "Offer", "price": "18.00", "priceCurrency": "EUR"},
        },
    )
    yield _page(
        "/services/digitising",
        "Photographs and letters digitised",
        "<p>We offer a scanning service for family papers: up to fifty photographs or letters a visit, kept on a stick "
        "that you take home.</p><h2>Who it is for</h2><p>Anyone with a library card.</p><h2>Cost</h2><p>12 euro for "
        "fifty pictures.</p><h2>Opening hours</h2><p>Tuesday and Thursday, 10:00 to 16:00</p>"
        f"<p>Ask Ada Fenwick, head of local history, at a.fenwick [at] {host}, phone +44 1632 960 146.</p>",
        of=_LIBRARY,
    )
    yield _page(
        "/services/home-delivery",
        "Books brought to your door",
        "<p>For readers who cannot come to us, volunteers bring books every second Wednesday. The service is free.</p>"
        "<h2>Eligibility</h2><p>People in Millbrook and the villages around who are ill, or older than 75.</p>"
        "<h2>Apply</h2><p>Call +44 1632 960 147, Monday to Friday from 9:00 to 12:00.</p>",
        of=_LIBRARY,
    )
    yield _page(
        CONTACT,
        "Contact",
        "<p>Millbrook Public Library<br>14 Station Road<br>Millbrook MB4 2QT</p><p>Telephone: +44 1632 960 140</p>"
        f'<p>E-mail: <a href="mailto:desk@{host}">desk@{host}</a></p><h2>People</h2><ul>'
        f"<li>Tom Okafor, director, t.okafor (at) {host}</li><li>Ada Fenwick, head of local history</li></ul>",
        of=_LIBRARY,
        data={
            "@type": "Library",
            "name": _LIBRARY,
            "telephone": "+44 1632 960 140",
            "email": f"desk@{host}",
            "address": {
                "@type": "PostalAddress",
                "streetAddress": "14 Station Road",
                "addressLocality": "Millbrook",
                "postalCode": "MB4 2QT",
                "addressCountry": "GB",
            },
            "openingHours": ["Mo-Fr 09:00-18:00", "Sa 10:00-14:00"],
        },
    )
    yield Page("/pictures/room.png", picture((110, 90, 150), shape=5), content_type="image/png")


def foundation_pages(host: str) -> Iterator[Page]:
    """Funding programmes: one in schema.org's words, two in plain ones, and a call as a PDF."""
    yield _page(
        PROGRAMMES,
        "Funding programmes",
        "<p>We give grants for good ideas between the river and the sea. Apply for one of these:</p><ul>"
        '<li><a href="/programmes/community-kitchens">Community kitchens</a></li>'
        '<li><a href="/programmes/music-in-schools">Music in schools</a></li>'
        '<li><a href="/programmes/green-roofs">Green roofs</a></li>'
        f'<li><a href="{CALL}">Small sparks: the call for 2027 (PDF)</a></li>'
        f'<li><a href="{CONTACT}">Contact</a></li></ul>',
        of=_FOUNDATION,
    )
    yield _page(
        "/programmes/community-kitchens",
        "Community kitchens",
        '<img src="/pictures/kitchen.png" alt="Neighbours at a long table" width="320" height="240">'
        "<p>Grants for charities and clubs that cook with and for their neighbours.</p><h2>Amount</h2><p>From 2,000 to "
        "15,000 euro a project.</p><h2>Deadline</h2><p>31 March 2027</p><h2>Eligibility</h2><p>Registered charities, "
        "community groups and parishes in the county.</p>",
        of=_FOUNDATION,
        data={
            "@type": "MonetaryGrant",
            "name": "Community kitchens",
            "description": "Grants for charities and clubs that cook with and for their neighbours.",
            "amount": {"@type": "MonetaryAmount", "minValue": 2000, "maxValue": 15000, "currency": "EUR"},
            "funder": {"@type": "Organization", "name": _FOUNDATION, "url": f"http://{host}/"},
        },
    )
    yield _page(
        "/programmes/music-in-schools",
        "Music in schools",
        "<p>The programme funds instruments and teachers for schools where nobody plays yet. Schools and music schools "
        "may apply for a grant of up to €8,000.</p><dl><dt>Application deadline</dt><dd>15 May 2027</dd><dt>Who can "
        "apply</dt><dd>State schools and non-profit music schools</dd><dt>Funding</dt><dd>up to €8,000, paid in two "
        "parts</dd></dl><p>Questions? grants@" + host + " or +44 1632 960 201.</p>",
        of=_FOUNDATION,
    )
    yield _page(
        "/programmes/green-roofs",
        "Green roofs",
        "<p>A grant scheme for owners of flat roofs: we pay 40% of the costs of planting, at most 20,000 euro. "
        "Applications are open all year; the next decision is on 1 October 2027.</p><h2>Eligible are</h2><ul>"
        "<li>housing associations</li><li>small companies</li><li>private owners</li></ul>",
        of=_FOUNDATION,
    )
    yield Page(CALL, _call(host), content_type="application/pdf")
    yield _page(
        CONTACT,
        "Contact",
        "<p>Lantern Hill Foundation<br>3 Harbour Walk<br>Millbrook MB1 7LH</p><p>Phone +44 1632 960 200</p>"
        f"<p>Programme officer: Ines Moreau, i.moreau@{host}</p><p>Press: press (at) {host}</p>",
        of=_FOUNDATION,
    )
    yield Page("/pictures/kitchen.png", picture((200, 140, 60), shape=7), content_type="image/png")


def _call(host: str) -> bytes:
    return pdf(
        "Small sparks: call for applications 2027",
        [
            "Lantern Hill Foundation",
            "Small sparks: call for applications 2027",
            "",
            "This funding programme gives small grants to people with an idea for their street.",
            "Funding: up to 1,500 euro for each project.",
            "Deadline for applications: 30 June 2027.",
            "Eligibility: neighbours, clubs and school classes in the county of Millbrook.",
            "We fund material, rent and food. We do not fund salaries.",
            "How to apply: one page is enough. Say what you want to do, with whom, and what it costs.",
            f"Send it to sparks@{host} or call +44 1632 960 203.",
        ],
    )


def _page(path: str, title: str, body: str, *, of: str, data: "dict[str, object] | None" = None) -> Page:
    linked = {"@context": "https://schema.org", **(data or {})}
    head = f'<script type="application/ld+json">{json.dumps(linked)}</script>' if data else ""
    return Page(
        path,
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title} - {of}</title>{head}</head>\n'
        f'<body><header><nav><a href="/">Home</a></nav></header>\n<main><h1>{title}</h1>{body}</main>\n'
        f"<footer><p>{of}, written for this demonstration.</p></footer></body></html>\n",
    )
