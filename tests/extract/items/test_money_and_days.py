"""Sums and days in the ways of writing of several countries."""

# ruff: noqa: RUF001 - pages write dashes of several kinds

from datetime import date

import pytest

from bailiwick.extract.items.calendar_days import days_in
from bailiwick.extract.items.deadlines import find_deadline
from bailiwick.extract.items.money import sums_in
from tests.extract.items.tools import source


@pytest.mark.parametrize(
    ("text", "least", "most", "currency"),
    [
        ("£500 and £15,000", 500, 15_000, "GBP"),
        ("$2,500 – $20,000", 2_500, 20_000, "USD"),
        ("bis zu 3.500,- €", 3_500, 3_500, "EUR"),
        ("entre 5 000 € et 40 000 €", 5_000, 40_000, "EUR"),
        ("de 300 à 650 € par mois", 300, 650, "EUR"),
        ("zwischen 1.000 und 7.500 Euro", 1_000, 7_500, "EUR"),
        ("₹10,00,000", 1_000_000, 1_000_000, "INR"),
        ("Rs. 1,50,000 to Rs. 4,00,000", 150_000, 400_000, "INR"),
        ("CHF 50'000.– und mehr", 50_000, 50_000, "CHF"),
        ("£20k - £150k", 20_000, 150_000, "GBP"),
        ("$250,000 and $1.5 million", 250_000, 1_500_000, "USD"),
        ("13,98 € pro Stunde", 13.98, 13.98, "EUR"),
        ("€ 4,50 per m²", 4.5, 4.5, "EUR"),
        ("C$2,000", 2_000, 2_000, "CAD"),
        ("1.234.567,89 EUR", 1_234_567.89, 1_234_567.89, "EUR"),
    ],
)
def test_a_sum(text: str, least: float, most: float, currency: str) -> None:
    [one] = sums_in(text)
    assert (one.least, one.most, one.currency) == (least, most, currency)


def test_a_dollar_is_of_its_country() -> None:
    assert [one.currency for one in sums_in("$5", "fund.ca")] == ["CAD"]
    assert [one.currency for one in sums_in("$5", "fund.org", "es")] == [None]


@pytest.mark.parametrize("text", ["31 groups", "60 %", "in 2026", "page 4 of 5", "Euro 2024"])
def test_no_sum(text: str) -> None:
    assert sums_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "15 March 2027", "15th March 2027", "March 15, 2027", "Mar. 15, 2027", "15. März 2027", "15 mars 2027",
        "15 de marzo de 2027", "15 maart 2027", "15.03.2027", "15.3.2027", "15/03/2027", "15-03-2027", "2027-03-15",
    ],
)  # fmt: skip
def test_a_day(text: str) -> None:
    assert [day.day for day in days_in(f"by {text}.")] == [date(2027, 3, 15)]


def test_a_month_that_comes_first() -> None:
    assert [day.day for day in days_in("02/01/2027", is_month_first=True)] == [date(2027, 2, 1)]
    assert [day.day for day in days_in("02/01/2027")] == [date(2027, 1, 2)]
    assert [day.day for day in days_in("31/01/2027", is_month_first=True)] == [date(2027, 1, 31)]
    assert days_in("31 February 2027, 12.13.2027, 99/99/2027") == []


@pytest.mark.parametrize(
    "body",
    [
        "<p>Published 1 May 2026. Apply by 15 March 2027. Interviews on 20 March 2027.</p>",
        "<dl><dt>Opens</dt><dd>1 May 2026</dd><dt>Closing date</dt><dd>15 March 2027</dd></dl>",
        (
            "<table><tr><td>Questions until</td><td>1 March 2027</td></tr>"
            "<tr><td>Deadline</td><td>15 March 2027</td></tr></table>"
        ),
        "<h3>Antragsfrist</h3><p>15.03.2027</p><h3>Stand</h3><p>01.11.2026</p>",
        "<p>U kunt aanvragen van 1 maart 2026 tot en met 15 maart 2027.</p>",
        "<p>The last round closed on 30 January 2026. The deadline for this one is 15 March 2027.</p>",
    ],
)
def test_the_deadline(body: str) -> None:
    page = source(f"<main><h1>Grant</h1>{body}</main>")
    found = find_deadline(page.lines, page.pairs)
    assert found is not None
    assert found.day == date(2027, 3, 15)


def test_at_any_time_and_never() -> None:
    page = source("<main><h1>Grant</h1><p>Deadline: rolling</p></main>")
    found = find_deadline(page.lines, page.pairs)
    assert found is not None
    assert found.is_rolling
    page = source("<main><h1>News</h1><p>We met on 3 May 2026 and on 4 May 2026.</p></main>")
    assert find_deadline(page.lines, page.pairs) is None
