"""The tables of the crawl are closed: whatever a server does has an outcome, and whatever ends a slice has a name."""

import re
from itertools import product

import pytest

from bailiwick.crawl.outcomes import HTML_TYPES, MEANINGS, Effect, Meaning, Outcome, StopReason, media_type, outcome_of
from bailiwick.db.tables.crawl import run_domains
from bailiwick.ports import FailureKind, FetchAnswer, FetchFailure
from bailiwick.registry.release import BlockCode

# DESIGN section 5, step 5, word for word; and `paused`, which a job's pause needs.
DESIGNED = """
    frontier_empty, page_budget, request_budget, known_pages_cap, depth_limit, time_budget, error_limit, robots_denied,
    login_wall, rate_limited, unreachable, approval_withdrawn, storage_full, cancelled, shutdown, lease_lost
"""
STOP_REASONS = {*re.findall(r"\w+", DESIGNED), "paused"}
ENDS_RUN = {
    "frontier_empty", "page_budget", "request_budget", "known_pages_cap", "depth_limit", "error_limit", "robots_denied",
    "login_wall", "rate_limited", "unreachable", "cancelled",
}  # fmt: skip


def answer(status: int, *, body: bytes | None = b"x", truncated: bool = False, **headers: str) -> FetchAnswer:
    return FetchAnswer("https://a.test/", status, b"", headers, body, truncated, 0, 0)


def test_every_outcome_has_one_meaning() -> None:
    assert set(MEANINGS) == set(Outcome)
    assert all(isinstance(meaning, Meaning) for meaning in MEANINGS.values())


def test_every_status_has_an_outcome() -> None:
    shapes = product(range(100, 600), (None, b"", b"x"), ({}, {"location": ""}, {"location": "/x"}), (False, True))
    for status, body, headers, truncated in shapes:
        outcome = outcome_of(answer(status, body=body, truncated=truncated, **headers))
        succeeded = MEANINGS[outcome].effect in (Effect.CHANGED, Effect.SAME)
        is_redirect = 300 <= status < 400 and status != 304 and bool(headers.get("location"))
        assert succeeded == (200 <= status < 300 or status == 304 or is_redirect), (status, headers)


@pytest.mark.parametrize("status", [0, 99, 600, 999, -1])
def test_even_a_status_that_is_none_has_an_outcome(status: int) -> None:
    """aiohttp hands on whatever three digits a server sends."""
    assert outcome_of(answer(status)) is Outcome.CLIENT_ERROR


@pytest.mark.parametrize("kind", FailureKind)
def test_every_failure_has_an_outcome_and_is_an_error(kind: FailureKind) -> None:
    outcome = outcome_of(FetchFailure("https://a.test/", kind, "", 0))
    meaning = MEANINGS[outcome]
    assert meaning.is_error
    assert meaning.effect in (Effect.RETRY, Effect.FAILED)
    assert meaning.code is not None


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (200, Outcome.OK), (203, Outcome.OK), (304, Outcome.UNCHANGED), (400, Outcome.CLIENT_ERROR),
        (401, Outcome.LOGIN), (403, Outcome.FORBIDDEN), (404, Outcome.NOT_FOUND), (407, Outcome.LOGIN),
        (408, Outcome.TIMEOUT), (410, Outcome.NOT_FOUND), (418, Outcome.CLIENT_ERROR), (429, Outcome.RATE_LIMITED),
        (451, Outcome.FORBIDDEN), (500, Outcome.SERVER_ERROR), (502, Outcome.SERVER_ERROR), (503, Outcome.UNAVAILABLE),
        (504, Outcome.TIMEOUT), (301, Outcome.CLIENT_ERROR), (100, Outcome.CLIENT_ERROR),
    ],
)  # fmt: skip
def test_what_a_status_means(status: int, outcome: Outcome) -> None:
    assert outcome_of(answer(status)) is outcome


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
def test_a_redirect_is_one_if_it_says_where_to(status: int) -> None:
    assert outcome_of(answer(status, location="/x")) is Outcome.REDIRECTED
    assert outcome_of(answer(status)) is Outcome.CLIENT_ERROR


def test_a_status_weighs_more_than_a_location() -> None:
    assert outcome_of(answer(304, location="/x")) is Outcome.UNCHANGED
    assert outcome_of(answer(201, location="/x")) is Outcome.OK
    assert outcome_of(answer(403, location="/x")) is Outcome.FORBIDDEN


def test_a_body_that_nobody_wanted_and_one_that_was_cut() -> None:
    assert outcome_of(answer(200, body=None)) is Outcome.OTHER_TYPE
    assert outcome_of(answer(200, body=b"")) is Outcome.OK
    assert outcome_of(answer(200, truncated=True)) is Outcome.TRUNCATED


def test_what_may_pass_is_tried_again_and_what_will_not_is_not() -> None:
    retried = {outcome for outcome, meaning in MEANINGS.items() if meaning.effect is Effect.RETRY}
    assert retried == {
        Outcome.RATE_LIMITED, Outcome.SERVER_ERROR, Outcome.UNAVAILABLE, Outcome.DNS_FAILURE, Outcome.CONNECT_FAILURE,
        Outcome.TLS_FAILURE, Outcome.TIMEOUT, Outcome.BROKEN,
    }  # fmt: skip


def test_what_counts_against_a_domain_says_as_what() -> None:
    for outcome, meaning in MEANINGS.items():
        if meaning.effect in (Effect.CHANGED, Effect.SAME):
            assert not meaning.is_error, outcome
    # A page that is missing or leads to itself says nothing about its domain.
    blameless = {outcome for outcome, meaning in MEANINGS.items() if meaning.code is None}
    assert blameless >= {Outcome.NOT_FOUND, Outcome.REDIRECT_LOOP}
    assert not MEANINGS[Outcome.NOT_FOUND].is_error


def test_a_domain_full_of_it_stops_for_a_reason_that_exists() -> None:
    codes = {meaning.code for meaning in MEANINGS.values() if meaning.code is not None}
    assert codes <= set(BlockCode)
    assert {code.value for code in codes} - {BlockCode.FORBIDDEN.value} <= STOP_REASONS


def test_stop_reasons_are_the_closed_list_of_the_design() -> None:
    assert {reason.value for reason in StopReason} == STOP_REASONS
    assert {reason.value for reason in StopReason if reason.ends_run} == ENDS_RUN


def test_the_table_knows_the_same_stop_reasons() -> None:
    checks = {check.name: str(check.sqltext) for check in run_domains.constraints if hasattr(check, "sqltext")}
    named = re.findall(r"'(\w+)'", checks["run_domains_stop_reason_check"])
    assert len(named) == len(set(named))
    assert set(named) == STOP_REASONS


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        ("text/html", "text/html"),
        ("Text/HTML; charset=utf-8", "text/html"),
        (" application/xhtml+xml ;q=1", "application/xhtml+xml"),
        ("", ""),
        (";", ""),
    ],
)
def test_media_types(content_type: str, kind: str) -> None:
    assert media_type(content_type) == kind
    assert (kind in HTML_TYPES) == ("html" in kind)
