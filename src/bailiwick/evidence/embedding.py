"""Static sentence embeddings, from the weights and the tokenizer inside the `wordllama` wheel. Never the network.

A sentence's vector is the mean of its tokens' vectors, so words can be tokenized one by one and remembered: a page
then costs look-ups and one sum instead of a run of the tokenizer, which alone would take longer than a page may.
"""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

# Distinct words that are remembered, a few MB. Pages of one language hold far fewer that come again.
_REMEMBERED_WORDS = 50_000
# A "word" longer than this is data, not language.
_WORD_CHARACTERS = 40


class _Tokenizer(Protocol):
    def encode(self, sequence: str, *, add_special_tokens: bool) -> "_Encoding": ...


class _Encoding(Protocol):
    ids: list[int]


class Embedder:
    """Turns passages, given as words, into vectors of length 1."""

    def __init__(self, table: "Vectors", tokenizer: _Tokenizer) -> None:
        self._table = table
        self._tokens = _Tokens(tokenizer)

    def embed(self, passages: Sequence[Sequence[str]]) -> "Vectors":
        """One row a passage; a passage without words is a row of zeros."""
        import numpy as np

        if len(self._tokens) >= _REMEMBERED_WORDS:
            self._tokens.clear()
        tokens: list[int] = []
        ends: list[int] = []
        for words in passages:
            tokens += chain.from_iterable(map(self._tokens.__getitem__, words))
            ends.append(len(tokens))
        rows = np.zeros((len(passages), self._table.shape[1]), dtype=np.float32)
        if not tokens:
            return rows
        vectors = self._table.take(tokens, axis=0)
        start = 0
        for row, end in enumerate(ends):
            if end > start:
                total = vectors[start:end].sum(axis=0)
                rows[row] = total / np.sqrt(total @ total)
            start = end
        return rows


class _Tokens(dict[str, tuple[int, ...]]):
    """The tokens of each word, found when it is first asked for."""

    def __init__(self, tokenizer: _Tokenizer) -> None:
        super().__init__()
        self._tokenizer = tokenizer

    def __missing__(self, word: str) -> tuple[int, ...]:
        ids = self[word] = tuple(self._tokenizer.encode(word[:_WORD_CHARACTERS], add_special_tokens=False).ids)
        return ids


@contextmanager
def _logging_as_it_is() -> Iterator[None]:
    """The library sets up logging for the whole program when it is imported: that is ours to do."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@cache
def shipped_embedder() -> Embedder | None:
    """The embedder of the installed wheel, loaded once a process (0.2 s); None without the extra `content`."""
    # Said before the tokenizer's first use: its threads are of no use for single words, and do not survive a fork.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        with _logging_as_it_is():
            import wordllama
    except ImportError:
        return None
    folder = Path(wordllama.__file__).parent
    loaded = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    loaded.tokenizer.no_padding()
    return Embedder(loaded.embedding, loaded.tokenizer)
