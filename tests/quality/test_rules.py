"""Floors under the rules of layer 2: precision and recall of each flag, and what addresses and titles alone tell."""

from collections.abc import Iterable

import pytest

from bailiwick.model.layers import FLAGS
from bailiwick.model.material import PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.rules import assess_rules
from tests.quality.judging import precision_and_recall
from tests.score.rules.cases import CASES
from tests.score.rules.fresh_cases import FRESH
from tests.score.rules.pages import assessed, detected
from tests.suites import json_lines, suite_path

LABELS = suite_path("labels/labelled_urls.jsonl")
SNIPPETS = suite_path("labels/snippet_relevance.jsonl")
INVITATIONS = {"write_for_us", "submit_content", "guest_post_guidelines"}
GOOD = 0.9
FROM_ADDRESSES = 0.55
"""Measured: 16 of 27 (0.59). The other addresses are of forms, or say no more than /join, /write or /about-us.

The rows were known when the phrases were written, so this is no held-out figure.
"""
FROM_SNIPPETS = 0.6
"""Measured: 18 of 27 (0.67)."""


def test_there_are_enough_cases_of_each_flag_in_many_languages() -> None:
    assert sum(case.is_there for case in CASES) >= 60
    assert sum(not case.is_there for case in CASES) >= 60
    for flag in FLAGS:
        mine = [case for case in CASES if case.flag == flag]
        assert min(sum(case.is_there for case in mine), sum(not case.is_there for case in mine)) >= 10
        assert len({case.language for case in mine if case.is_there}) == 12


@pytest.mark.parametrize("flag", FLAGS)
def test_rules_find_what_is_there_and_nothing_else(flag: str) -> None:
    mine = [case for case in CASES if case.flag == flag]
    found = [flag in detected(assessed(*case.material())[0]) for case in mine]
    precision, recall = precision_and_recall([case.is_there for case in mine], found)
    print(f"{flag}: precision {precision:.2f}, recall {recall:.2f} over {len(mine)}")
    assert precision >= GOOD, [case.name for case, one in zip(mine, found, strict=True) if one > case.is_there]
    assert recall >= GOOD, [case.name for case, one in zip(mine, found, strict=True) if one < case.is_there]


def test_rules_hold_on_pages_that_they_were_not_made_for() -> None:
    found = [case.flag in detected(assessed(*case.material())[0]) for case in FRESH]
    precision, recall = precision_and_recall([case.is_there for case in FRESH], found)
    print(f"fresh: precision {precision:.2f}, recall {recall:.2f} over {len(FRESH)}")
    assert len(FRESH) >= 120
    assert precision >= GOOD
    assert recall >= GOOD


def invites(url: str, title: str, text: str = "") -> bool:
    page = PageMaterial(url=url, html="<p>unread</p>", text=text, title=title)
    return not INVITATIONS.isdisjoint(detected(assess_rules(page, SiteMaterial(), ScorePolicy())[0]))


def share(answers: Iterable[bool]) -> float:
    known = list(answers)
    return sum(known) / len(known)


if LABELS is not None:
    ROWS = json_lines(LABELS)

    def test_addresses_and_titles_alone_tell_many_that_take_guest_posts() -> None:
        wanted = [row for row in ROWS if row["label"] == "guest_post"]
        others = [row for row in ROWS if row["label"] != "guest_post"]
        recall = share(invites(row["url"], row["title"] or "") for row in wanted)
        with_text = share(invites(row["url"], row["title"] or "", row["snippet"] or "") for row in wanted)
        wrong = [row["url"] for row in others if invites(row["url"], row.get("title") or "", row.get("snippet") or "")]
        print(f"recall {recall:.2f}, with the snippet {with_text:.2f}; wrong {len(wrong)} of {len(others)}")
        assert recall >= FROM_ADDRESSES
        assert with_text >= FROM_SNIPPETS
        assert wrong == []


if SNIPPETS is not None:

    def test_pages_about_guest_posting_invite_nobody() -> None:
        rows = [row for row in json_lines(SNIPPETS) if row["task"] == "accepts_guest_posts"]
        wrong = [row["id"] for row in rows if invites(row["url"], "", row["snippet"]) != (row["label"] == 1)]
        assert len(rows) >= 10
        assert wrong == []
