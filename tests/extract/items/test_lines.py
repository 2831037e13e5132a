"""A page as lines and pairs; whose site it is; who is a person."""

import pytest

from bailiwick.extract.content import ContentLimits, read_content
from bailiwick.extract.items.contact import contacts_of
from bailiwick.extract.items.lines import Zone
from bailiwick.extract.items.persons import is_name, is_role
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content
from tests.extract.items.tools import URL, source

PAGE = """
<header><a href="/">Oak Fund</a><nav><a href="/a">Home</a><a href="/b">Grants</a></nav></header>
<div class="page sidebar-left"><main><h1>Choir grant</h1>
<dl><dt>Amount</dt><dd>£500</dd><dt>For</dt><dd>Choirs</dd></dl>
<table><tr><th>Deadline</th><td>1 May 2027</td></tr></table>
<p><b>Who:</b> anybody who sings</p><p>Where: Leeds</p>
<h2>How</h2><p>Write.</p><ul><li>One</li><li>Two</li></ul>
<div class="k">Funder</div><div class="v">Oak Trust</div>
<div><span>Status</span><span>open</span></div></main></div>
<footer>Oak Fund, Leeds</footer>
"""


def test_zones_and_headings() -> None:
    lines = source(PAGE).lines
    by_text = {line.text: line for line in lines}
    assert by_text["Home"].zone is Zone.NAV
    assert by_text["Oak Fund, Leeds"].zone is Zone.FOOTER
    assert by_text["Choir grant"].zone is Zone.MAIN  # the frame is only named after its sidebar
    assert (by_text["Choir grant"].level, by_text["How"].level, by_text["Amount"].level, by_text["Write."].level) == (
        1,
        2,
        7,
        0,
    )


def test_pairs() -> None:
    found = {pair.label: pair.value for pair in source(PAGE).pairs}
    wanted = {
        "amount": "£500", "for": "Choirs", "deadline": "1 May 2027", "who": "anybody who sings", "where": "Leeds",
        "how": "Write. One Two Funder Oak Trust Status open", "funder": "Oak Trust", "status": "open",
    }  # fmt: skip
    assert {label: found.get(label) for label in wanted} == wanted


@pytest.mark.parametrize(
    "head",
    [
        "<title>Choir grant | Oak Fund</title>",
        "<title>Choir grant</title><meta property='og:site_name' content='Oak Fund'>",
        "<title>Oak Fund - Choir grant</title>",
    ],
)
def test_whose_site_it_is(head: str) -> None:
    site = source(PAGE, head=head).facts.site
    assert site is not None
    assert site[0] == "Oak Fund"


@pytest.mark.parametrize(
    "text", ["Jo Doe", "Dr. Ingrid Falk", "Mrs J. Harcourt", "Henk de Vries", "Jürgen Kastner", "Fatima El Amrani"]
)
def test_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "Contact Us",
        "Opening Hours",
        "Front Office",
        "Executive Director",
        "Jo",
        "jo doe",
        "Jo Doe 2",
        "Box Office",
        "Park Campus",
    ],
)
def test_no_name(text: str) -> None:
    assert not is_name(text)


def test_a_role() -> None:
    assert is_role("Volunteer Coordinator")
    assert is_role("Bürgermeister")
    assert not is_role("Violine")


CARDS = """<main><h1>Our team</h1>
<div><h3>Jo Doe</h3><p>Director</p><p><a href="mailto:jo@oakfund.org.uk">E-mail Jo</a></p></div>
<div><h3>Al Roe</h3><p>Treasurer</p><p>020 7946 0102</p></div></main>
<footer>Oak Fund, 020 7946 0100<p>Website by Bright Ltd, hello@bright.co.uk, 020 7946 0999</p></footer>"""


def test_persons_beside_what_reaches_them() -> None:
    found = [
        (item.data.get("name"), item.data.get("role"), item.data.get("email") or item.data.get("telephone"))
        for item in contacts_of(source(CARDS)).items
    ]
    assert found == [
        ("Jo Doe", "Director", "jo@oakfund.org.uk"),
        ("Al Roe", "Treasurer", "+442079460102"),
        (None, None, "+442079460100"),
    ]


def test_contacts_of_a_text_without_markup() -> None:
    text = "The Oak Fund\n\nProgramme officer: Jo Doe\nTel. +44 20 7946 0101\njo.doe@oakfund.org.uk\n"
    content = read_content(text.encode(), "text/plain; charset=utf-8", URL, ContentLimits())
    assert isinstance(content, Content)
    [item] = contacts_of(Source(URL, "", content)).items
    wanted = {
        "email": "jo.doe@oakfund.org.uk",
        "telephone": "+442079460101",
        "name": "Jo Doe",
        "role": "Programme officer",
    }
    assert item.data == {"url": URL, **wanted}


def test_a_page_without_head_and_body() -> None:
    """The parser lays what it does not know into the head."""
    html = f"<title>Team</title>{CARDS}<p>{'So many words that there is a text. ' * 5}</p>"
    content = read_content(html.encode(), "text/html; charset=utf-8", URL, ContentLimits())
    assert isinstance(content, Content)
    page = Source(URL, html, content)
    assert "Team" not in [line.text for line in page.lines]
    assert len(contacts_of(page).items) == 3
