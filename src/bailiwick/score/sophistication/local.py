"""The local model of sophistication: marks of traits, weighed, squashed to a score, and told in a sentence.

A signal's score is 1 / (1 + exp(-STEEPNESS x mean)), where mean is the weighted mean of the marks (-1 to 1) of those
traits that could be looked at: 0.5 where as much speaks for the page as against it, 0.02 and 0.98 at the ends.
"""

from dataclasses import dataclass, replace
from math import exp

from bailiwick.model.layers import MAX_REASONING_CHARS, MAX_WHY_CHARS, SIGNALS, Layer3Results, Proof, Proofs, Signal
from bailiwick.model.material import PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.sophistication.features import Features
from bailiwick.score.sophistication.marks import one_line
from bailiwick.score.sophistication.measuring import measure, older_elsewhere
from bailiwick.score.sophistication.result import Sophistication
from bailiwick.score.sophistication.traits import TRAITS, Trait

LOCAL = "local:1"
STEEPNESS = 4.0
_TOLD = 5
_CLEAR = 0.15
"""A mark that is nearer to 0 is not worth a word."""
_MOST_PROOFS = 5
_NOT_COMPARED = "It was compared with no stored text: nothing is known of copies."


@dataclass(frozen=True, slots=True)
class Judged:
    """One signal: its score, and what speaks for and against, the weightiest first."""

    score: float
    pros: tuple[str, ...]
    cons: tuple[str, ...]
    is_measured: bool
    caveat: str = ""

    @property
    def reasoning(self) -> str:
        if not self.is_measured:
            return "There is nothing to measure it by; it stands in the middle."
        sides = (("For it", self.pros), ("Against it", self.cons))
        parts = [f"{lead}: {', '.join(told)}." for lead, told in sides if told]
        return " ".join([*(parts or ["Nothing speaks clearly for it or against it."]), self.caveat]).strip()


def assess_locally(page: PageMaterial, site: SiteMaterial, policy: ScorePolicy) -> Sophistication | None:
    """What can be measured of a page. None if there is nothing to look at: that is no score of 0."""
    if not page.html.strip() and not page.text.strip():
        return None
    features = measure(page, site)
    judged = judge_all(features)
    if not site.compared_with:
        judged["content_originality"] = replace(judged["content_originality"], caveat=_NOT_COMPARED)
    results = Layer3Results.model_validate({name: _signal(one, policy) for name, one in judged.items()})
    return Sophistication(results, _summary(judged), proofs_of(page, site, features, judged), LOCAL)


def judge_all(features: Features) -> dict[str, Judged]:
    """All four. Without markup there is no design to speak for a page or against it."""
    traits = TRAITS if features.design.elements else {**TRAITS, "design_quality": ()}
    return {name: judge(traits[name], features) for name in SIGNALS}


def judge(traits: tuple[Trait, ...], features: Features) -> Judged:
    marks = [(trait, mark) for trait in traits if (mark := trait.mark(features)) is not None]
    weight = sum(trait.weight for trait, _ in marks)
    mean = sum(trait.weight * mark for trait, mark in marks) / weight if weight else 0.0
    clear = sorted(
        ((trait.weight * mark, trait) for trait, mark in marks if abs(mark) >= _CLEAR), key=lambda one: -abs(one[0])
    )
    return Judged(
        round(1 / (1 + exp(-STEEPNESS * mean)), 4),
        tuple(trait.told(features) for pull, trait in clear if pull > 0)[:_TOLD],
        tuple(trait.told(features) for pull, trait in clear if pull < 0)[:_TOLD],
        bool(marks),
    )


def _signal(judged: Judged, policy: ScorePolicy) -> Signal:
    """What could not be measured is not detected, wherever the threshold is."""
    return Signal(
        score=judged.score,
        detected=judged.is_measured and judged.score >= policy.signal_threshold,
        reasoning=judged.reasoning[:MAX_REASONING_CHARS],
    )


def _summary(judged: dict[str, Judged]) -> str:
    """The strongest and the weakest signal, and why."""
    names = sorted(judged, key=lambda name: -judged[name].score)
    best, worst = names[0], names[-1]
    scores = ", ".join(f"{name.replace('_', ' ')} {judged[name].score:.2f}" for name in SIGNALS)
    parts = [f"Measured locally: {scores}."]
    if judged[best].pros:
        parts.append(f"Strongest in {best.replace('_', ' ')}: {', '.join(judged[best].pros[:3])}.")
    if judged[worst].cons:
        parts.append(f"Weakest in {worst.replace('_', ' ')}: {', '.join(judged[worst].cons[:3])}.")
    return " ".join(parts)[:MAX_REASONING_CHARS]


def proofs_of(page: PageMaterial, site: SiteMaterial, features: Features, judged: dict[str, Judged]) -> Proofs:
    """What each signal rests on: figures of the page, and the addresses and names that can be looked at."""
    found = {name: [_proof(page.url, told) for told in (*one.pros, *one.cons)] for name, one in judged.items()}
    copies = sorted(older_elsewhere(page, site), key=lambda one: -one.likeness)[:_MOST_PROOFS]
    found["content_originality"] += [_proof(one.url, f"{one.likeness:.0%} the same text, older") for one in copies]
    standing = features.standing
    if standing.author:
        found["authority_indicators"].append(_proof(page.url, f"author: {standing.author}"))
    if standing.contact_link:
        found["authority_indicators"].append(_proof(page.url, f"contact: {standing.contact_link}"))
    if standing.cited:
        found["authority_indicators"].append(_proof(page.url, f"cites {', '.join(standing.cited[:_MOST_PROOFS])}"))
    if features.presentation.sample:
        found["professional_presentation"].append(_proof(page.url, f"garbled: {features.presentation.sample}"))
    return {name: tuple(proofs) for name, proofs in found.items() if proofs}


def _proof(url: str, text: str) -> Proof:
    return Proof(url=url[:3000], text=one_line(text, MAX_WHY_CHARS))
