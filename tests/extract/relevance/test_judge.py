"""Judging on this machine: sources, reasons, odd input, and never the network."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import wordllama
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.evidence.embedding import shipped_embedder
from bailiwick.extract.relevance import Subject, judge_for
from bailiwick.model.content import Relevance, RelevanceSource
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import Examples
from bailiwick.model.words import words_of

FUNDING = load_profile("funding", None)
CALL = Subject(
    "https://trust.example/grants/apply",
    "Research grants: apply by 1 March",
    "Fellowships for early-career scientists. Check that you are eligible.",
)
NEWS = Subject("https://uni.example/news/7", "Professor wins grant", "She was awarded two million dollars on Monday.")
judge = judge_for(FUNDING)


def test_a_general_profile_takes_everything() -> None:
    taken = judge_for(load_profile("general", None), load=lambda: pytest.fail("loaded for nothing"))(NEWS)
    assert taken == Relevance(1.0, is_relevant=True, reason="the profile takes everything", source=RelevanceSource.ALL)


def test_a_call_is_told_from_news_with_a_reason() -> None:
    call, news = judge(CALL), judge(NEWS)
    assert call.is_relevant
    assert not news.is_relevant
    assert call.source == news.source == RelevanceSource.MEANING
    assert call.reason.startswith("names ")
    assert "grant" in call.reason
    assert "; like what is wanted 0." in call.reason
    assert 'nearest: "The university was awarded a grant' in news.reason


def test_without_embeddings_keywords_judge_alone_and_the_source_says_so() -> None:
    alone = judge_for(FUNDING, load=lambda: None)(CALL)
    assert alone.source is RelevanceSource.KEYWORDS
    assert alone.is_relevant
    assert "like what" not in alone.reason
    assert judge_for(FUNDING.model_copy(update={"examples": Examples()}))(CALL) == alone


def test_a_profile_without_negative_examples_is_judged_by_meaning_too() -> None:
    positive = FUNDING.model_copy(update={"examples": Examples(positive=FUNDING.examples.positive)})
    judged = judge_for(positive)(CALL)
    assert judged.source is RelevanceSource.MEANING
    assert "like what is not" not in judged.reason


def test_another_language_is_not_relevant() -> None:
    english = judge_for(FUNDING.model_copy(update={"languages": ("en",)}))
    german = english(Subject(CALL.url, CALL.title, CALL.description, language="de"))
    assert (german.score, german.is_relevant, german.reason) == (0.0, False, "its language is de; wanted: en")
    assert english(Subject(CALL.url, CALL.title, CALL.description, language=None)).is_relevant


def test_text_without_a_title_is_judged_by_its_passages() -> None:
    text = f"{CALL.title}. {CALL.description} " * 20
    assert judge(Subject("https://x.example/", None, None, text)).is_relevant


@given(st.text(max_size=300), st.text(max_size=100), st.text(max_size=2000))
def test_whatever_it_is_given_it_has_a_score(url: str, title: str, text: str) -> None:
    judged = judge(Subject(url, title, title[::-1], text))
    assert 0 <= judged.score <= 1
    assert judged.reason
    assert judged.is_relevant == (judged.score >= FUNDING.relevance_threshold)


@pytest.mark.parametrize("text", ["", " ", "\0" * 9000, "\ud800 lone", "a" * 100_000, "漢字" * 5000, "1 2 3 4 " * 9000])
def test_odd_text_is_judged_in_bounded_time(text: str) -> None:
    assert 0 <= judge(Subject("https://x.example/", text, text, text)).score <= 1


def test_words_one_by_one_give_the_vector_of_the_sentence() -> None:
    """Tokenizing word by word is ours; the library's own way must come to nearly the same."""
    embedder = shipped_embedder()
    assert embedder is not None
    library = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    for sentence in FUNDING.examples.positive:
        words = words_of(sentence)
        theirs = library.embed(" ".join(words), norm=True)[0]
        assert float(np.dot(theirs, embedder.embed([words])[0])) > 0.999
    assert not embedder.embed([[], ["tea"]])[0].any()


def test_no_network_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import socket\n"
        "def no(*a, **k): raise RuntimeError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = no\n"
        "from bailiwick.extract.relevance import Subject, judge_for\n"
        "from bailiwick.model.profile_files import load_profile\n"
        "print(judge_for(load_profile('funding', None))(Subject('https://x.example/', 'Grants')).source)"
    )
    monkeypatch.setenv("HOME", "/nonexistent")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "meaning"
