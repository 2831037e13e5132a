"""Layer 3 of one page, whoever answered."""

from dataclasses import dataclass

from bailiwick.model.layers import Layer3Results, Proofs


@dataclass(frozen=True, slots=True)
class Sophistication:
    results: Layer3Results
    reasoning: str
    proofs: Proofs
    by: str
    """Who answered: the local model with its number, or a language model with its name."""
