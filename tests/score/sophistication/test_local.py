"""The local model: what moves which signal, what it says, and what nothing can be said of."""

import re
import time
from dataclasses import fields
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.extract.taming import tamed
from bailiwick.model.layers import SIGNALS, Layer3Results
from bailiwick.model.material import Lookalike, PageLink, PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.sophistication import LOCAL, Sophistication, assess_locally
from bailiwick.score.sophistication.features import Features
from bailiwick.score.sophistication.local import judge
from bailiwick.score.sophistication.measuring import measure
from bailiwick.score.sophistication.traits import TRAITS
from tests.score.sophistication.pages import HTML, SENTENCES, TEXT, URL, page
from tests.suites import json_lines, suite_path

POLICY = ScorePolicy()
COMPARED = SiteMaterial(compared_with=5_000)
NAUGHTY = suite_path("hostile/naughty_strings.jsonl")


def assessed(seen: PageMaterial, site: SiteMaterial = COMPARED, policy: ScorePolicy = POLICY) -> Sophistication:
    found = assess_locally(seen, site, policy)
    assert found is not None
    return found


def scores(seen: PageMaterial, site: SiteMaterial = COMPARED) -> dict[str, float]:
    return assessed(seen, site).results.scores()


def test_a_page_with_everything_is_good_in_everything() -> None:
    found = assessed(page())
    assert min(found.results.scores().values()) > 0.8
    assert all(getattr(found.results, name).detected for name in SIGNALS)
    assert found.by == LOCAL == "local:1"
    assert Layer3Results.model_validate(found.results.stored()) == found.results


def test_a_page_with_nothing_is_poor_but_not_zero() -> None:
    found = scores(page("<font>BUY NOW!!!! LOREM IPSUM <a href=''></a><img><b></i>", "BUY NOW!!!! LOREM IPSUM"))
    assert all(0 < score < 0.45 for score in found.values()), found


@pytest.mark.parametrize(("html", "text"), [("", ""), (" \n", "\t ")])
def test_nothing_to_look_at_is_no_score(html: str, text: str) -> None:
    assert assess_locally(page(html, text), COMPARED, POLICY) is None


def test_text_alone_has_no_design_to_be_found() -> None:
    found = assessed(page("", TEXT, links=(PageLink("https://paper.example.org/contact", "Contact"),)))
    design = found.results.design_quality
    assert (design.score, design.detected) == (0.5, False)
    assert design.reasoning == "There is nothing to measure it by; it stands in the middle."
    assert "1 way to make contact" in (found.results.authority_indicators.reasoning or "")
    assert found.results.content_originality.score > 0.8


def test_the_threshold_is_the_policys() -> None:
    score = assessed(page()).results.design_quality.score
    at, above = ScorePolicy(signal_threshold=score), ScorePolicy(signal_threshold=min(1.0, score + 0.0001))
    assert assessed(page(), policy=at).results.design_quality.detected
    assert not assessed(page(), policy=above).results.design_quality.detected


def test_the_same_page_gets_the_same_score() -> None:
    assert assessed(page()) == assessed(page())


@pytest.mark.parametrize("signal", SIGNALS)
def test_reasoning_names_what_was_measured(signal: str) -> None:
    said = getattr(assessed(page()).results, signal).reasoning
    expected = {
        "design_quality": "2 stylesheets, a viewport for small screens",
        "content_originality": "0% of the text repeats itself",
        "authority_indicators": "a named author, 3 sites of others cited, 2 ways to make contact",
        "professional_presentation": "7 of 7 kinds of metadata",
    }
    assert said.startswith("For it: ")
    assert expected[signal] in said


def test_reasoning_names_what_speaks_against_it() -> None:
    bare = re.sub(r"<style>.*?</style>|<link rel=.stylesheet.*?>|<meta name=.viewport.*?>", "", HTML, flags=re.DOTALL)
    said = assessed(page(bare)).results.design_quality.reasoning or ""
    assert "Against it: no stylesheets, no viewport for small screens" in said


OLDER = Lookalike("https://first.example.com/bees", 0.97, is_older=True)


def test_an_older_copy_elsewhere_weighs_more_than_all_the_rest() -> None:
    copied = assessed(page(), SiteMaterial(compared_with=5_000, lookalikes=(OLDER,)))
    original = copied.results.content_originality
    assert original.score < 0.25
    assert "Against it: 1 older page elsewhere with 97% the same text" in (original.reasoning or "")
    assert (OLDER.url, "97% the same text, older") in [
        (proof.url, proof.text) for proof in copied.proofs["content_originality"]
    ]
    assert {**copied.results.scores(), "content_originality": 0} == {**scores(page()), "content_originality": 0}


@pytest.mark.parametrize(
    "copy",
    [
        Lookalike("https://second.example.com/bees", 1.0, is_older=False),
        Lookalike("https://www.example.org/print/bees", 1.0, is_older=True),
    ],
    ids=["younger", "its own site"],
)
def test_who_was_copied_did_not_copy(copy: Lookalike) -> None:
    found = scores(page(), SiteMaterial(compared_with=5_000, lookalikes=(copy,)))
    assert found["content_originality"] > 0.8


def test_the_more_alike_the_worse() -> None:
    alike = [
        scores(page(), SiteMaterial(compared_with=9, lookalikes=(Lookalike(OLDER.url, likeness, is_older=True),)))
        for likeness in (0.5, 0.7, 0.9)
    ]
    found = [one["content_originality"] for one in alike]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 3


def test_where_nothing_was_compared_it_says_so() -> None:
    said = assessed(page(), SiteMaterial()).results.content_originality.reasoning or ""
    assert said.endswith("It was compared with no stored text: nothing is known of copies.")
    assert "is alike" not in said


SPOILED = {
    "repeated": (HTML, "\n\n".join(SENTENCES * 3), "content_originality"),
    "filler": (HTML, TEXT + " Lorem ipsum dolor sit amet.", "content_originality"),
    "shouted": (HTML, TEXT.upper().replace(".", "!!!"), "professional_presentation"),
    "garbled": (HTML, TEXT.replace("e ", "Ã© "), "professional_presentation"),
    "unclosed": (HTML.replace("</a>", "").replace("</main>", ""), TEXT, "professional_presentation"),
    "bad data": (HTML.replace('"@type": "NewsArticle",', '"@type" NewsArticle'), TEXT, "professional_presentation"),
    "no author": (HTML.replace("Ada Lovelace", ""), TEXT, "authority_indicators"),
    "no sources": (HTML.replace("https://", "/https/"), TEXT, "authority_indicators"),
    "tables": (re.sub("<p>(.*?)</p>", r"<center>\1</center>", HTML, flags=re.DOTALL), TEXT, "design_quality"),
    "no landmarks": (re.sub("main|article|header|footer", "div", HTML), TEXT, "design_quality"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_what_is_spoiled_shows_in_its_own_signal(case: str) -> None:
    html, text, meant = SPOILED[case]
    before, after = scores(page()), scores(page(html, text))
    moved = {name: before[name] - after[name] for name in SIGNALS}
    assert moved[meant] > 0
    assert max(moved, key=lambda name: abs(moved[name])) == meant, moved


def test_reviewers_are_not_the_author() -> None:
    shop = HTML.replace("Ada Lovelace", "").replace(
        "</main>", '<div class="reviews"><span itemprop="author">Naoo49</span></div></main>'
    )
    assert "no named author" in (assessed(page(shop)).results.authority_indicators.reasoning or "")


def test_a_page_that_we_cut_is_not_blamed_for_its_end() -> None:
    cut = HTML[: HTML.index("<main>") + 40]
    whole, known = scores(page(cut)), scores(page(cut, is_truncated=True))
    assert whole["professional_presentation"] < known["professional_presentation"]


def test_proofs_can_be_looked_at() -> None:
    proofs = assessed(page()).proofs
    texts = [proof.text for proof in proofs["authority_indicators"]]
    assert texts[-3:] == ["author: Ada Lovelace", "contact: /contact", "cites data.gov.uk, doi.org, keepers.test"]
    assert set(proofs) == set(SIGNALS)
    assert {proof.url for found in proofs.values() for proof in found} == {URL}


def test_what_strangers_say_of_themselves_can_be_stored() -> None:
    odd = HTML.replace('"name": "Ada Lovelace"', '"name": "Ada\\u0000\\ud800\\u202e Lovelace"')
    texts = [proof.text for proof in assessed(page(odd)).proofs["authority_indicators"]]
    assert "author: Ada Lovelace" in texts
    assert all(text.isprintable() and text.encode() for text in texts)


def test_copies_are_shown_within_reason() -> None:
    copies = tuple(Lookalike(f"https://c{number}.example.com/", 0.9, is_older=True) for number in range(50))
    own = Lookalike("https://www.example.org/print", 1.0, is_older=True)
    proofs = assessed(page(), SiteMaterial(compared_with=9, lookalikes=(own, *copies))).proofs["content_originality"]
    shown = [proof.url for proof in proofs if proof.url != URL]
    assert len(shown) == 5
    assert own.url not in shown


@pytest.mark.parametrize("signal", SIGNALS)
def test_traits_look_at_nothing_but_the_features_of_their_signal(signal: str) -> None:
    """There is nothing else there to be looked at."""
    own = fields(Features)[SIGNALS.index(signal)].name
    whole = measure(page(), COMPARED)
    alone = SimpleNamespace(**{own: getattr(whole, own)})
    for trait in TRAITS[signal]:
        assert trait.mark(alone) == trait.mark(whole)  # type: ignore[arg-type]
        assert trait.told(alone) == trait.told(whole)  # type: ignore[arg-type]


def test_without_any_mark_a_score_stands_in_the_middle() -> None:
    found = judge((), Features())
    assert (found.score, found.is_measured) == (0.5, False)


HOSTILE = {
    "flat": "<div>x</div>" * 420_000,
    "unclosed scripts": "<script" * 700_000,
    "unclosed comments": "<!--" * 1_200_000,
    "angles": "<" * 5_000_000,
    "one tag": "<a " + "x=y " * 1_200_000 + ">",
    "deep": "<div>" * 900_000,
    "links": '<p><a class="author byline bio" rel=author href="https://a.example/x">b</a>' * 70_000,
    "json": '<script type="application/ld+json">' + "[" * 4_900_000,
    "sentences": "<p>no end " * 500_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_pages_take_bounded_time(case: str) -> None:
    """As they come: five megabytes at most, tamed. The text as long as it may be."""
    html = tamed(HOSTILE[case], max_chars=5_000_000, max_tags=40_000, max_depth=400)
    text = (HOSTILE[case] * 2)[:1_000_000]
    start = time.process_time()
    found = assessed(page(html, text))
    assert time.process_time() - start < 3
    assert all(0 <= score <= 1 for score in found.results.scores().values())


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=400), st.text(max_size=400))
def test_any_text_is_scored(html: str, text: str) -> None:
    found = assess_locally(page(html, text), SiteMaterial(), POLICY)
    assert found is None or all(0 < score < 1 for score in found.results.scores().values())


if NAUGHTY is not None:

    def test_naughty_strings_are_scored_and_told() -> None:
        words = [str(word) for case in json_lines(NAUGHTY) for word in case.values()]
        body = "".join(f'<p class="author" rel="{word}"><a href="{word}">{word}</a></p>' for word in words)
        assessed(page(body, "\n".join(words)))
