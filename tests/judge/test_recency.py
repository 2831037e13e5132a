"""Closed calls, deadlines, years, and money that was given already."""

from datetime import date

import pytest

from bailiwick.judge.days import days_in
from bailiwick.judge.recency import RecencyJudge
from bailiwick.model.words import words_of
from tests.judge.cases import TODAY, case, profile


def score(title: str, snippet: str = "", today: date = TODAY) -> float | None:
    [opinion] = RecencyJudge(profile(), today).judge([case(title, snippet)])
    return opinion.score if opinion else None


def reason(title: str, snippet: str = "") -> str:
    [opinion] = RecencyJudge(profile(), TODAY).judge([case(title, snippet)])
    assert opinion is not None
    return opinion.explanation


@pytest.mark.parametrize(
    "text",
    [
        "Deadline: 30 April 2021", "Apply by April 30, 2021", "due 2021-04-30", "Frist: 30.04.2021",
        "Bewerbungsfrist 30. April 2021", "date limite : 30 avril 2021", "plazo: 30 de abril de 2021",
        "deadline April 30th, 2021", "closes on 30/04/2021", "submit before 04/30/2021",
    ],
)  # fmt: skip
def test_deadlines_in_many_ways_of_writing(text: str) -> None:
    assert days_in(words_of(text)).deadlines == (date(2021, 4, 30),)
    assert score("A call", text) == 0.1
    assert score("A call", text, date(2021, 4, 30)) == 0.9
    assert score("A call", text, date(2021, 5, 1)) == 0.1


def test_a_month_alone_lasts_to_its_end() -> None:
    assert days_in(words_of("deadline December 2026")).deadlines == (date(2027, 1, 1),)
    assert days_in(words_of("deadline June 2100")).deadlines == (date(2100, 6, 28),)


def test_a_day_that_is_no_deadline_is_only_a_year() -> None:
    found = days_in(words_of("The gate was opened on 3 May 2026 with music"))
    assert (found.deadlines, found.years) == ((), (2026,))


@pytest.mark.parametrize(
    "text", ["31 February 2021", "due 2013-14", "2022-23", "deadline 99 99 2021", "2021", "²²²² 2021"]
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert days_in(words_of(text)).deadlines == ()


@pytest.mark.parametrize(
    "text",
    [
        "This call is closed.", "Expired", "The deadline has passed", "We are no longer accepting applications",
        "Die Bewerbungsfrist ist abgelaufen", "Appel clos", "Convocatoria cerrada", "Archived page",
    ],
)  # fmt: skip
def test_a_closed_call_scores_low(text: str) -> None:
    assert score("Small grants", text) == 0.05


def test_a_new_deadline_outweighs_a_closed_round() -> None:
    assert score("Grants", "Round 1 is closed. Deadline of round 2: 1 March 2027") == 0.9
    assert reason("Grants", "Deadline: 1 March 2027") == "open until 2027-03-01"


@pytest.mark.parametrize(
    "title",
    [
        "Museum wins $400,000 grant",
        "Five students receive fellowships",
        "Grant recipients 2026",
        "City has been awarded a grant",
    ],
)
def test_what_was_given_is_gone(title: str) -> None:
    assert score(title) == 0.15


def test_an_order_to_the_reader_is_no_headline() -> None:
    assert score("Get a grant") is None


def test_open_calls_score_high() -> None:
    assert score("Grants", "Applications are open") == 0.85
    assert score("Grants", "Reviewed on a rolling basis") == 0.85


def test_years_alone() -> None:
    assert score("Call 2027") == score("Call 2026") == 0.6
    assert score("Call 2025") == 0.45
    assert score("Call 2019") == 0.2
    assert reason("Call 2019") == "the latest year that it names is 2019"


@pytest.mark.parametrize("title", ["Grants", "", "Grants since 2004", "Founded in 2010", "Room 1984"])
def test_nothing_of_time_is_no_evidence(title: str) -> None:
    assert score(title) is None
