"""What counts as checked, what a finding rests on, and that the same comes out of the same."""

from dataclasses import replace

import pytest

from bailiwick.model.layers import CHECKS, FLAGS, Layer2Results
from bailiwick.model.material import LinkCheck, PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.rules import assess_rules
from bailiwick.score.rules.phrasebook import LANGUAGES, codes_for, language
from tests.score.rules.cases import CASES
from tests.score.rules.pages import FILLER, HOME, assessed, detected, page_of, site_of

NOTHING = PageMaterial(url=HOME, html="", text="")


def test_nothing_read_is_nothing_checked() -> None:
    results, proofs = assessed(NOTHING)
    assert set(results.unchecked) == {*FLAGS, *CHECKS}
    assert not proofs
    assert not detected(results)


def test_what_did_not_come_is_named_where_nothing_else_was_seen() -> None:
    site = SiteMaterial(unreached=("/contact: timed out", "/about: 503"))
    results, _ = assessed(NOTHING, site)
    assert "timed out" in results.unchecked["contact_page"]
    seen, _ = assessed(page_of(f'<a href="/x">X</a>{FILLER}'), site)
    assert "contact_page" not in seen.unchecked


def test_a_long_list_of_failures_is_cut() -> None:
    results, _ = assessed(NOTHING, SiteMaterial(unreached=("x" * 1000,) * 9))
    assert len(results.unchecked["contact_page"]) == 300


def test_a_page_with_links_answers_all_six_flags() -> None:
    results, _ = assessed(page_of(f'<a href="/x">X</a>{FILLER}'))
    assert not set(FLAGS) & set(results.unchecked)
    assert not set(FLAGS) & detected(results)


def test_a_page_without_links_tells_its_author_and_no_more() -> None:
    results, _ = assessed(page_of(FILLER))
    assert set(FLAGS) & set(results.unchecked) == set(FLAGS) - {"author_bio"}


def test_a_pdf_is_judged_by_its_length_and_by_what_the_site_has() -> None:
    pdf = PageMaterial(url="https://acme.example/report.pdf", html="", text="word " * 400)
    alone, _ = assessed(pdf)
    assert set(alone.unchecked) == {*FLAGS, "excessive_ads", "broken_links"}
    assert alone.content_quality.thin_content.word_count == 400
    known, _ = assessed(pdf, site_of(("/contact", "Contact", "")))
    assert known.guest_post_red_flags.contact_page.detected
    assert known.guest_post_red_flags.write_for_us.checked
    assert "author_bio" in known.unchecked


def test_an_empty_shell_tells_nothing_of_its_author() -> None:
    shell = PageMaterial(url=HOME, html='<body><div id="root"></div><script>run()</script></body>', text="")
    results, _ = assessed(shell)
    assert "author_bio" in results.unchecked
    assert results.content_quality.thin_content.detected


def test_each_finding_names_its_place_and_words() -> None:
    page = page_of(
        f'<a href="/write-for-us?x=1#top">Write for us</a>{FILLER * 30}<p>We welcome guest posts here.</p>{FILLER * 30}'
    )
    _, proofs = assessed(page, site_of(("/imprint", "Contact us | Acme", "")))
    by_text = {proof.text: proof.url for proof in proofs["write_for_us"]}
    assert by_text["Write for us"] == "https://acme.example/write-for-us?x=1"
    sentence = next(text for text in by_text if "welcome guest posts" in text)
    assert by_text[sentence] == HOME
    assert len(sentence) <= 200
    assert proofs["contact_page"][0].url == "https://acme.example/imprint"


def test_a_refusal_is_shown_and_takes_back_the_link_to_it() -> None:
    page = page_of(f'<a href="/write-for-us">Write for us</a>{FILLER}')
    open_, _ = assessed(page)
    shut, proofs = assessed(page, site_of(("/write-for-us", "Write for us", "We no longer accept guest posts.")))
    assert "write_for_us" in detected(open_)
    assert "write_for_us" not in detected(shut)
    assert shut.guest_post_red_flags.write_for_us.checked
    assert "no longer accept" in proofs["write_for_us"][0].text


def test_a_refusal_elsewhere_takes_back_nothing() -> None:
    page = page_of(f'<a href="/write-for-us">Write for us</a>{FILLER}')
    site = site_of(
        ("/blog/old", "A quarrel", "They do not accept guest posts."), ("/write-for-us", "Write for us", "Do!")
    )
    assert "write_for_us" in detected(assessed(page, site)[0])


def test_a_contact_page_is_found_among_thousands_of_articles() -> None:
    articles = [(f"/blog/2020/01/an-article-of-long-ago-{n}", "Long ago", "Rain.") for n in range(5_000)]
    results, _ = assessed(page_of(f'<a href="/x">X</a>{FILLER}'), site_of(*articles, ("/contact", "Acme", "")))
    assert "contact_page" in detected(results)


def test_languages_of_the_profile_count_and_else_the_page_s_own() -> None:
    page = page_of(f'<a href="/p/1">Schreiben Sie für uns</a>{FILLER}', language="de-AT")
    assert "write_for_us" in detected(assessed(page)[0])
    assert "write_for_us" not in detected(assess_rules(page, SiteMaterial(), ScorePolicy(), ("fr",))[0])
    unknown = replace(page, language=None)
    assert "write_for_us" not in detected(assessed(unknown)[0])
    assert "write_for_us" in detected(assess_rules(unknown, SiteMaterial(), ScorePolicy(), ("fr", "DE"))[0])


def test_codes_are_those_there_are_phrases_of() -> None:
    assert codes_for((), None) == ("en",)
    assert codes_for((), "ja") == ("en",)
    assert codes_for(("pt_BR", "xx", "en", "de-CH"), "fr") == ("en", "de", "pt")


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_phrases_for_every_flag_and_ways_to_say_no(code: str) -> None:
    given = language(code)
    for flag in FLAGS:
        phrases = given.of_flag(flag)
        assert len(phrases.labels) + len(phrases.phrases) + len(phrases.said) >= 8, flag
    assert given.author_bio.folders
    assert all(getattr(given.refusals, name) for name in type(given.refusals).model_fields)


def test_the_same_in_is_the_same_out_and_comes_back_from_storage() -> None:
    for case in CASES[::7]:
        page, site = case.material()
        results, proofs = assessed(page, site)
        assert (results, proofs) == assessed(page, site)
        assert Layer2Results.model_validate(results.stored()) == results
        assert set(proofs) <= {*FLAGS, *CHECKS}
        assert not set(proofs) & set(results.unchecked)


def test_what_is_detected_has_a_proof() -> None:
    for case in CASES:
        results, proofs = assessed(*case.material())
        assert detected(results) <= set(proofs)


def test_broken_links_count_those_that_could_be_told() -> None:
    told = [
        LinkCheck("https://a.example/", True, "404"),
        LinkCheck("https://b.example/", False),
        LinkCheck("https://c.example/", None),
    ]
    page = page_of(FILLER)
    one, proofs = assessed(page, SiteMaterial(link_checks=tuple(told)))
    assert (one.content_quality.broken_links.count, one.content_quality.broken_links.detected) == (1, False)
    assert [(proof.url, proof.text) for proof in proofs["broken_links"]] == [("https://a.example/", "404")]
    told.append(LinkCheck("https://d.example/", True))
    two, _ = assessed(page, SiteMaterial(link_checks=tuple(told)))
    assert two.content_quality.broken_links.detected
    strict, _ = assessed(page, SiteMaterial(link_checks=tuple(told)), broken_links=3)
    assert not strict.content_quality.broken_links.detected


def test_links_of_which_nothing_could_be_told_are_unchecked() -> None:
    untold = SiteMaterial(link_checks=(LinkCheck("https://c.example/", None),))
    for site in (SiteMaterial(), untold):
        results, _ = assessed(page_of(FILLER), site)
        assert not results.content_quality.broken_links.checked
        assert results.unchecked["broken_links"]
