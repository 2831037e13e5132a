"""Evidence by keywords."""

from bailiwick.evidence.keywords import Evidence, Keywords
from bailiwick.model.words import Words

KEYWORDS = Keywords(
    {"grant": 1.0, "call for proposals": 1.0, "eligib*": 0.5, "bursary": 0.5, "Straße": 0.5}, {"loan": 1.0}
)


def seen(title: str = "", description: str = "", text: str = "", url: str = "https://x.example/") -> Evidence:
    return KEYWORDS.evidence(Words.of(url, title, description, text))


def test_words_phrases_plurals_and_beginnings_are_found() -> None:
    assert seen("Grants").named == ("grant",)
    assert seen("GRANT!").named == ("grant",)
    assert seen("The call for proposals is open").named == ("call for proposals",)
    assert seen("call for: proposals").named == ("call for proposals",)
    assert seen("Bursaries").named == ("bursary",)
    assert seen("who is eligible, eligibility").named == ("eligib",)
    assert seen("STRASSE").named == ("Straße",)
    assert seen("granted migrants, call for a proposal").named == ()


def test_a_url_speaks_by_its_words_not_by_its_suffix() -> None:
    assert seen(url="https://www.x.example/our_grants/2024").named == ("grant",)
    assert seen(url="https://x.example/call-for%20proposals").named == ("call for proposals",)
    assert Keywords({"org": 1.0}, {}).evidence(Words.of("https://x.org/", None, None)).named == ()
    assert seen(url="").support == seen(url="nonsense").support == 0


def test_a_title_counts_most_and_mentions_saturate() -> None:
    title, description, text = seen("grant"), seen("", "grant"), seen("", "", "grant")
    assert title.support > description.support >= text.support > 0
    many = seen("", "", "grant " * 500)
    assert text.support < many.support < 1
    assert many.support < seen("grant", "grant", "grant " * 3).support < 1


def test_what_speaks_against_it_is_told_apart() -> None:
    found = seen("Grant or loan?")
    assert (found.named, found.against) == (("grant",), ("loan",))
    assert 0 < found.objection < 1


def test_the_strongest_word_comes_first() -> None:
    assert seen("eligible", "", "grants, grants and a call for proposals").named[-1] == "eligib"


def test_nothing_is_no_evidence() -> None:
    assert seen() == Evidence(0.0, 0.0, (), ())
    assert Keywords({}, {}).evidence(Words.of("https://x.example/", "grant", None)) == Evidence(0.0, 0.0, (), ())
