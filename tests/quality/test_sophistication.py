"""Layer 3 on pairs of real pages: each against itself, spoiled in one respect."""

from statistics import mean

import pytest

from bailiwick.model.layers import SIGNALS
from tests.quality import sophistication, spoiling
from tests.quality.sophistication import GENTLY, PAIRS, WAYS, figures, real_pages

WINS, GENTLE_WINS = 0.9, 0.8
PAGE = (
    '<html><head><link rel="stylesheet" href="/a.css"><style>p{}</style><meta name="author" content="Ada"></head>'
    '<body style="x"><p class="byline">By Ada Lovelace</p><p>It is so, as <a href="https://w3.org/">they</a> say: '
    "it's true and will remain so for as long as anybody cares.</p>"
    '<img src="a.png"><a href="/contact">Contact</a></body>'
)


def test_each_way_to_spoil_a_page_does_what_it_says_and_nothing_else() -> None:
    bare = spoiling.without_styles(PAGE)
    assert "style" not in bare
    assert bare.count("<p") == PAGE.count("<p")
    unsigned = spoiling.unsigned(PAGE, "example.org")
    assert not any(word in unsigned for word in ("Ada", "ontact", "w3.org"))
    assert "they</a> say" in unsigned
    assert spoiling.repeated(PAGE).count("true and will remain") == 3
    broken = spoiling.broken(PAGE.replace("byline", "x").replace("</p>", "</b></p>", 2))
    assert 'src=""' in broken
    assert "itâ€™s" in broken
    assert broken.count("</b>") < 2


if sophistication.ARTICLES is not None and sophistication.PRODUCTS is not None:

    def test_there_are_a_hundred_pages_and_either_half_is_large() -> None:
        assert len(real_pages()) == PAIRS
        assert 30 <= sum(page.is_held_out for page in real_pages()) <= 70

    @pytest.mark.parametrize("way", WAYS)
    def test_the_better_page_wins_and_the_other_signals_move_less(way: str) -> None:
        """On all pages, on those by which the weights were tuned, and on those of sites that nobody looked at."""
        for half in ("all", "tuning", "held out"):
            found, meant = figures(way, half), WAYS[way]
            print(
                f"{way}, {half} ({found.pairs}): {found.wins:.0%} won, others less in {found.aside:.0%};", found.moved
            )
            assert found.wins >= WINS
            assert found.aside >= WINS
            assert all(found.moved[name] < found.moved[meant] for name in SIGNALS if name != meant)

    @pytest.mark.parametrize("way", GENTLY)
    def test_it_takes_little_to_be_told(way: str) -> None:
        found = figures(way)
        print(f"{way} ({found.pairs}): {found.wins:.0%} won, others less in {found.aside:.0%};", found.moved)
        assert found.wins >= GENTLE_WINS
        assert all(found.moved[name] < found.moved[GENTLY[way]] for name in SIGNALS if name != GENTLY[way])

    @pytest.mark.parametrize("signal", SIGNALS)
    def test_signals_tell_real_pages_apart(signal: str) -> None:
        """Neither all good nor all bad: a signal that says the same of every page says nothing."""
        found = [pair.before[signal] for pair in sophistication.pairs("copied")]
        spread = (mean((score - mean(found)) ** 2 for score in found)) ** 0.5
        print(f"{signal}: mean {mean(found):.2f}, spread {spread:.2f}, from {min(found):.2f} to {max(found):.2f}")
        assert spread > 0.04
        assert 0.5 < mean(found) < 0.95, "these are pages of newspapers and large shops"
