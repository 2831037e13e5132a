"""Fingerprints: near for near duplicates, far for different texts, the same in every process."""

import random
import subprocess
import sys
import time

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.extract.simhash import (
    _beginnings,
    _codes_of,
    _counted,
    _counted_by_numpy,
    distance,
    simhash,
    word_count,
    words_of,
)
from tests.extract.pages import PROSE

WORDS = [f"{start}{end}" for start in ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "no") for end in
         ("ra", "sten", "lip", "mond", "vur", "tan", "well", "pick", "zo", "quist")]  # fmt: skip


def text(seed: int, words: int = 300) -> str:
    dice = random.Random(seed)
    common = ["the", "a", "of", "and", "to", "in"]
    return " ".join(dice.choice(common if dice.random() < 0.3 else WORDS) for _ in range(words))


def fingerprint(said: str) -> int:
    return simhash(words_of(said))


def test_one_changed_sentence_is_near() -> None:
    distances = []
    for seed in range(100):
        words = text(seed).split()
        at = random.Random(seed).randrange(280)
        changed = words[:at] + text(seed + 1_000, 12).split() + words[at + 12 :]
        distances.append(distance(fingerprint(" ".join(words)), fingerprint(" ".join(changed))))
    distances.sort()
    assert distances[50] <= 6
    assert distances[-1] <= 16


def test_one_changed_word_is_very_near() -> None:
    said = PROSE * 4
    assert distance(fingerprint(said), fingerprint(said.replace("flood", "fire", 1))) <= 3


def test_other_texts_are_far() -> None:
    found = [fingerprint(text(seed)) for seed in range(60)]
    distances = sorted(distance(one, other) for at, one in enumerate(found) for other in found[:at])
    assert distances[len(distances) // 100] >= 16
    assert 26 <= distances[len(distances) // 2] <= 36


def test_every_bit_is_used() -> None:
    found = [fingerprint(text(seed, 40)) & (2**64 - 1) for seed in range(400)]
    for bit in range(64):
        assert 0.3 < sum(one >> bit & 1 for one in found) / 400 < 0.7, bit


def test_scripts_without_spaces() -> None:
    said = "村のホールのための基金は新しい屋根や暖房を必要とするホールを支援します。" * 3
    assert distance(fingerprint(said), fingerprint(said.replace("新しい", "古い", 1))) <= 10
    assert (
        distance(
            fingerprint(said), fingerprint("東京の天気は今日も晴れで、明日は雨が降るでしょうと言われています。" * 3)
        )
        > 12
    )


def test_edges() -> None:
    assert fingerprint("") == 0
    assert fingerprint("   \n ") == 0
    assert fingerprint("Word") == fingerprint("word")
    assert distance(-1, 0) == 64
    assert distance(-(2**63), 0) == 1


def test_the_same_in_every_process() -> None:
    """And in every release."""
    code = "from bailiwick.extract.simhash import *; print(simhash(words_of('one two three')))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert told == {str(fingerprint("one two three"))}
    assert fingerprint("one two three") == 1233987948535253205


def test_fast_enough() -> None:
    """0.15 ms for 5 KB on a quiet core; the test allows for a busy machine."""
    said = text(1, 900)
    assert len(said) > 3_500
    best = 1.0
    for _ in range(50):
        start = time.process_time()
        fingerprint(said)
        best = min(best, time.process_time() - start)
    assert best < 0.0006


@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_words_are_counted_as_they_are_split(text: str) -> None:
    assert word_count(text) == len(text.split())


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=2, max_size=200))
def test_numpy_finds_the_same(words: list[bytes]) -> None:
    codes = _codes_of(words)
    assert _counted_by_numpy(codes) == _counted(codes)


@given(st.text(alphabet="x ", max_size=80))
def test_numpy_counts_the_same(shape: str) -> None:
    assert _beginnings(f" {shape}".encode()) == len(shape.split())
