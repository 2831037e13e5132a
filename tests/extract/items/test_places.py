"""Postal addresses and opening hours."""

# ruff: noqa: RUF001 - pages write dashes of several kinds

import pytest

from bailiwick.extract.items.addresses import find_addresses, read_address
from bailiwick.extract.items.hours import find_hours, read_compact
from tests.extract.items.tools import source


@pytest.mark.parametrize(
    ("body", "country", "street", "city", "code"),
    [
        ("27 Church Street<br>Whitby<br>YO22 4AE", "GB", "27 Church Street", "Whitby", "YO22 4AE"),
        ("Oak Fund, 9 New Walk, Leicester LE1 6TE", "GB", "9 New Walk", "Leicester", "LE1 6TE"),
        ("Marktplatz 6<br>63897 Miltenberg", "DE", "Marktplatz 6", "Miltenberg", "63897"),
        ("8 rue des Trois Conils, 33000 Bordeaux", "FR", "8 rue des Trois Conils", "Bordeaux", "33000"),
        ("Badenerstrasse 431<br>8003 Zürich", "CH", "Badenerstrasse 431", "Zürich", "8003"),
        ("Dorfstraße 12<br>A-5310 Mondsee", "AT", "Dorfstraße 12", "Mondsee", "5310"),
        ("Twijnstraat 31, 3511 ZG Utrecht", "NL", "Twijnstraat 31", "Utrecht", "3511 ZG"),
        ("Calle Feria 102<br>41002 Sevilla", "ES", "Calle Feria 102", "Sevilla", "41002"),
        ("1190 Camino del Rio, Suite 4, Durango, CO 81301", "US", "1190 Camino del Rio, Suite 4", "Durango", "81301"),
        ("22 Cathedral Road, Chennai 600086", "IN", "22 Cathedral Road", "Chennai", "600086"),
    ],
)
def test_an_address(body: str, country: str, street: str, city: str, code: str) -> None:
    [address] = find_addresses(source(f"<main><h1>Contact</h1><p>{body}</p></main>").lines, country)
    assert (address.street, address.city, address.code, address.country) == (street, city, code, country)


@pytest.mark.parametrize(
    "text", ["In 2026 Berlin won.", "Order 12345 Pieces", "Room 12, 4th floor", "Use code MS365IE"]
)
def test_no_address(text: str) -> None:
    assert find_addresses(source(f"<main><h1>News</h1><p>{text}</p></main>").lines, "DE") == []


def test_an_address_of_one_line() -> None:
    address = read_address("17 rue Sainte-Claire, 74000 Annecy, France", None)
    assert address is not None
    assert (address.street, address.city, address.country) == ("17 rue Sainte-Claire", "Annecy", "FR")
    assert read_address("somewhere", None) is None


WEEK = range(5)


@pytest.mark.parametrize(
    ("body", "hours"),
    [
        ("Mo–Fr 6:00–18:00 Uhr<br>Sa 6:00–13:00 Uhr", [*((d, "06:00", "18:00") for d in WEEK), (5, "06:00", "13:00")]),
        ("M-F: 7:30-5:30", [(d, "07:30", "17:30") for d in WEEK]),
        ("Tue, Thu 9am–5pm", [(1, "09:00", "17:00"), (3, "09:00", "17:00")]),
        ("Di 9–12 Uhr und 13.30–18.30 Uhr", [(1, "09:00", "12:00"), (1, "13:30", "18:30")]),
        ("Du mardi au jeudi : 10h - 19h", [(d, "10:00", "19:00") for d in (1, 2, 3)]),
        ("Open daily 8am-6pm", [(d, "08:00", "18:00") for d in range(7)]),
        ("Monday 9:00-17:00, Sunday closed", [(0, "09:00", "17:00")]),
    ],
)
def test_hours(body: str, hours: list[tuple[int, str, str]]) -> None:
    assert find_hours(source(f"<main><h1>Shop</h1><p>{body}</p></main>").lines) == hours


def test_no_hours() -> None:
    body = "<p>On Friday 29 January we met. Tickets 10-12 pounds. Page 3 to 5.</p>"
    assert find_hours(source(f"<main><h1>News</h1>{body}</main>").lines) == []


def test_hours_of_schema_org() -> None:
    assert read_compact("Mo-We 09:00-18:00") == [(d, "09:00", "18:00") for d in (0, 1, 2)]
    assert read_compact(", , ,") == []
