"""The three layers as one row of numbers: what is kept beside a person's decision, and what models learn from."""

from math import log1p

from bailiwick.model.layers import (
    CHECKS,
    FACTORS,
    FLAGS,
    SIGNALS,
    Factor,
    Flag,
    Layer1Results,
    Layer2Results,
    Layer3Results,
)

MEASURED = ("log_age_days", "log_word_count", "broken_link_count")
SIGNAL_NAMES: tuple[str, ...] = (*FACTORS, *FLAGS, *CHECKS, *MEASURED, *SIGNALS)
"""The keys of `signals_of`, in their order. They are kept in labels: a name is never used for something else."""


def signals_of(layer1: Layer1Results, layer2: Layer2Results, layer3: Layer3Results) -> dict[str, float | None]:
    """Each factor passed, each flag and check detected (1 or 0), what was counted, and the four scores.

    None: it was not checked, or nothing is known.
    """
    factors = {name: _told(part) for name, part in layer1.parts()}
    flags = {name: _told(part) for name, part in layer2.parts()}
    content = layer2.content_quality
    return {
        **factors,
        **flags,
        "log_age_days": _log(layer1.domain_age.value),
        "log_word_count": _log(content.thin_content.word_count),
        "broken_link_count": None if content.broken_links.count is None else float(content.broken_links.count),
        **layer3.scores(),
    }


def _told(part: Factor | Flag) -> float | None:
    if not part.checked:
        return None
    return float(part.passed if isinstance(part, Factor) else part.detected)


def _log(count: int | None) -> float | None:
    return None if count is None else log1p(count)
