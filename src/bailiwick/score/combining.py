"""The three layers in, one confidence out: a weighted mean of what could be checked. A pure function."""

from collections.abc import Iterator
from dataclasses import dataclass

from bailiwick.model.layers import CHECKS, FACTORS, FLAGS, SIGNALS, Layer1Results, Layer2Results, Layer3Results
from bailiwick.model.scoring import ScorePolicy

_TOLD = 3


@dataclass(frozen=True, slots=True)
class Part:
    """What one factor, flag, check or signal adds: 1 speaks for the page, 0 against it."""

    layer: str
    name: str
    value: float
    weight: float
    words: str

    @property
    def pull(self) -> float:
        """How far it draws the confidence up or down."""
        return (self.value - 0.5) * self.weight


@dataclass(frozen=True, slots=True)
class Combined:
    """The confidence, what each layer came to (None: nothing of it could be checked), and a sentence about it."""

    confidence: float
    layers: dict[str, float | None]
    parts: tuple[Part, ...]
    reasoning: str


def combine(
    layer1: Layer1Results, layer2: Layer2Results, layer3: Layer3Results, policy: ScorePolicy, *, said: str = ""
) -> Combined:
    """What was not checked has no weight; a layer of which nothing was checked has none either.

    `said` is what layer 3 has to say in words.
    """
    parts = tuple(part for part in _parts(layer1, layer2, layer3, policy) if part.weight > 0)
    weights = {
        "domain": policy.layers.domain,
        "rules": policy.layers.rules,
        "sophistication": policy.layers.sophistication,
    }
    layers = {layer: _mean([part for part in parts if part.layer == layer]) for layer in weights}
    known = {layer: score for layer, score in layers.items() if score is not None and weights[layer] > 0}
    total = sum(weights[layer] for layer in known)
    # All weights of what was checked may be 0: then nothing speaks for or against it.
    confidence = sum(weights[layer] * score for layer, score in known.items()) / total if total else 0.5
    unchecked = len(layer1.unchecked) + len(layer2.unchecked)
    return Combined(confidence, layers, parts, _reasoning(layers, parts, unchecked, said))


def _parts(layer1: Layer1Results, layer2: Layer2Results, layer3: Layer3Results, policy: ScorePolicy) -> Iterator[Part]:
    for name in FACTORS:
        factor = getattr(layer1, name)
        if factor.checked:
            words = f"{_plain(name)} {'passed' if factor.passed else 'failed'}"
            yield Part("domain", name, float(factor.passed), policy.factor(name), words)
    for name in FLAGS:
        flag = getattr(layer2.guest_post_red_flags, name)
        if flag.checked:
            weight = policy.flag(name)
            yield Part("rules", name, float(flag.detected == (weight > 0)), abs(weight), _found(name, flag.detected))
    for name in CHECKS:
        check = getattr(layer2.content_quality, name)
        if check.checked:
            yield Part("rules", name, float(not check.detected), policy.check(name), _found(name, check.detected))
    for name in SIGNALS:
        score = getattr(layer3, name).score
        yield Part("sophistication", name, score, policy.signal(name), f"{_plain(name)} {score:.2f}")


def _mean(parts: list[Part]) -> float | None:
    total = sum(part.weight for part in parts)
    return sum(part.value * part.weight for part in parts) / total if total else None


def _reasoning(layers: dict[str, float | None], parts: tuple[Part, ...], unchecked: int, said: str) -> str:
    told = ", ".join(f"{layer} {score:.2f}" for layer, score in layers.items() if score is not None)
    ranked = sorted(parts, key=lambda part: (-abs(part.pull), part.name))
    speaks_for = [part.words for part in ranked if part.pull > 0][:_TOLD]
    against = [part.words for part in ranked if part.pull < 0][:_TOLD]
    sentences = [f"{told}."]
    if speaks_for:
        sentences.append(f"For it: {', '.join(speaks_for)}.")
    if against:
        sentences.append(f"Against it: {', '.join(against)}.")
    if unchecked:
        sentences.append(f"{unchecked} could not be checked.")
    return " ".join([*sentences, said]).strip()


def _found(name: str, is_detected: bool) -> str:  # noqa: FBT001 - one word of a sentence
    return _plain(name) if is_detected else f"no {_plain(name)}"


def _plain(name: str) -> str:
    return name.replace("_", " ")
