"""Floors under relevance: average precision on the labelled rows, cross-validated, against keywords alone."""

import numpy as np
import pytest

from bailiwick.extract.relevance import Subject, judge_for
from bailiwick.extract.relevance.weights import KEYWORDS, MEANING
from bailiwick.model.profile_files import load_profile
from tests.quality import relevance as rows
from tests.suites import json_lines

GAIN, GOOD = 0.10, 0.95


def test_there_are_enough_hard_negatives_of_our_own_and_each_says_why() -> None:
    ours = json_lines(rows.HARD_NEGATIVES)
    assert len(ours) >= 220
    assert len({row["url"] for row in ours}) == len({row["title"] for row in ours if row["title"]}) == len(ours)
    assert all(row["title"] and row["why"] and row["topic"] in rows.TOPICS for row in ours)
    assert min(sum(row["topic"] == topic for row in ours) for topic in rows.TOPICS) >= 100


def test_average_precision_counts_equal_scores_as_one_step() -> None:
    truth = np.array([1.0, 0.0, 1.0, 0.0])
    assert rows.average_precision(truth, np.array([4.0, 3.0, 2.0, 1.0])) == pytest.approx((1 + 2 / 3) / 2)
    assert rows.average_precision(truth, np.zeros(4)) == 0.5
    assert rows.average_precision(truth, truth) == 1


if rows.LABELS is not None:

    @pytest.fixture(scope="module")
    def data() -> rows.Data:
        return rows.Data.load()

    @pytest.mark.parametrize("topic", rows.TOPICS)
    def test_meaning_finds_what_keywords_do_not(data: rows.Data, topic: str) -> None:
        alone, both = (rows.mean_precisions(data, columns)[topic] for columns in (rows.KEYWORDS, rows.ALL))
        print(f"{topic}: keywords {alone:.3f}, both {both:.3f}")
        assert both >= min(alone + GAIN, GOOD)

    @pytest.mark.parametrize("topic", rows.TOPICS)
    def test_a_topic_that_the_numbers_have_not_seen_gains_too(data: rows.Data, topic: str) -> None:
        (other,) = set(rows.TOPICS) - {topic}
        coefficients, intercept = rows.fit(data.numbers[other], data.truth[other])
        unseen = rows.average_precision(data.truth[topic], data.numbers[topic] @ coefficients + intercept)
        assert unseen >= rows.mean_precisions(data, rows.KEYWORDS)[topic] + GAIN

    @pytest.mark.parametrize("topic", rows.TOPICS)
    def test_kinds_of_pages_that_the_profile_did_not_think_of_are_told_apart(data: rows.Data, topic: str) -> None:
        unthought = rows.mean_precisions(rows.Data.load(harder=True), rows.ALL)[topic]
        assert unthought >= rows.mean_precisions(data, rows.KEYWORDS)[topic] + GAIN

    @pytest.mark.parametrize("topic", rows.TOPICS)
    def test_a_score_means_what_it_says(data: rows.Data, topic: str) -> None:
        scores = rows.cross_validated(data, rows.ALL, seed=1)[topic]
        assert rows.calibration_error(data.truth[topic], scores) < 0.1

    def test_the_numbers_in_the_package_are_the_fitted_ones(data: rows.Data) -> None:
        coefficients, intercept = rows.fitted(data, rows.ALL)
        shipped = [MEANING.support, MEANING.objection, MEANING.wanted, MEANING.unwanted, MEANING.intercept]
        assert shipped == pytest.approx([*coefficients, intercept], abs=0.001)
        coefficients, intercept = rows.fitted(data, rows.KEYWORDS)
        assert [KEYWORDS.support, KEYWORDS.objection, KEYWORDS.intercept] == pytest.approx(
            [*coefficients, intercept], abs=0.001
        )


PAGES = {
    "funding": """
        The Harbour Trust makes grants of up to 25,000 to charities and community groups that work with young people on
        the coast. Who can apply: registered charities and social enterprises with an income below one million. What we
        fund: salaries, running costs and small equipment. Deadlines are 1 March and 1 September. Read the guidance,
        check that you are eligible, then fill in the online application form. Decisions take ten weeks.
    """,
    "link-vetting": """
        We are always looking for new voices. If you build things with Rust or Postgres and like to explain them, write
        for us. We pay 250 dollars per article once it is published. Send a pitch of a few lines with an outline; our
        editors answer within a week. Articles are original, 1,200 to 2,000 words, and carry your name, a short bio and
        a link. Please read the contributor guidelines first.
    """,
}  # fmt: skip
TITLES = {"funding": "Small grants for the coast", "link-vetting": "Write for the Ferrous blog"}


@pytest.mark.parametrize("wanted", PAGES)
@pytest.mark.parametrize("name", PAGES)
def test_a_whole_page_is_found_by_its_own_profile_alone(name: str, wanted: str) -> None:
    subject = Subject("https://harbour.example/page", TITLES[wanted], None, " ".join(PAGES[wanted].split()) * 3)
    judged = judge_for(load_profile(name, None))(subject)
    assert judged.is_relevant == (name == wanted), judged
