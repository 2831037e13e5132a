"""Layers to one confidence: what counts, what does not, and that it is the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.model.layers import (
    CHECKS,
    FACTORS,
    FLAGS,
    SIGNALS,
    Layer1Results,
    Layer2Results,
    Layer3Results,
)
from bailiwick.model.scoring import LayerWeights, ScorePolicy
from bailiwick.score.combining import combine

State = bool | None
"""Passed or detected; None: not checked."""


def first(**states: State) -> Layer1Results:
    known = {name: states.get(name) for name in FACTORS}
    parts = {name: {"checked": state is not None, "passed": bool(state)} for name, state in known.items()}
    return Layer1Results.model_validate(parts | {"unchecked": _whys(known)})


def second(**states: State) -> Layer2Results:
    known = {name: states.get(name) for name in (*FLAGS, *CHECKS)}
    parts = {name: {"checked": state is not None, "detected": bool(state)} for name, state in known.items()}
    return Layer2Results.model_validate(
        {
            "guest_post_red_flags": {name: parts[name] for name in FLAGS},
            "content_quality": {name: parts[name] for name in CHECKS},
            "unchecked": _whys(known),
        }
    )


def third(score: float = 0.5, **scores: float) -> Layer3Results:
    return Layer3Results.model_validate(
        {name: {"score": scores.get(name, score), "detected": scores.get(name, score) >= 0.5} for name in SIGNALS}
    )


def _whys(known: dict[str, State]) -> dict[str, str]:
    return {name: "not asked" for name, state in known.items() if state is None}


def test_what_was_not_checked_has_no_weight() -> None:
    policy = ScorePolicy(layers=LayerWeights(domain=1, rules=1, sophistication=1))
    assert combine(first(), second(), third(0.8), policy).confidence == pytest.approx(0.8)
    with_age = combine(first(domain_age=False), second(), third(0.8), policy)
    assert with_age.confidence == pytest.approx(0.4)
    assert with_age.layers == {"domain": 0.0, "rules": None, "sophistication": pytest.approx(0.8)}


def test_flags_count_for_or_against_as_the_profile_says() -> None:
    against, for_it = ScorePolicy(), ScorePolicy(flags={"write_for_us": 3})
    found, missing = second(write_for_us=True), second(write_for_us=False)
    assert combine(first(), found, third(), against).layers["rules"] == 0
    assert combine(first(), missing, third(), against).layers["rules"] == 1
    assert combine(first(), found, third(), for_it).layers["rules"] == 1
    ignored = ScorePolicy(flags={"write_for_us": 0})
    assert combine(first(), found, third(), ignored).layers["rules"] is None


def test_the_reasoning_names_what_decided() -> None:
    said = combine(
        first(domain_age=True), second(contact_page=False, thin_content=True), third(0.9), ScorePolicy(), said="Neat."
    ).reasoning
    assert "domain age passed" in said
    assert "no contact page" in said
    assert "thin content" in said
    assert said.endswith("could not be checked. Neat.")


STATES = st.none() | st.booleans()
POLICIES = st.builds(
    ScorePolicy,
    factors=st.dictionaries(st.sampled_from(FACTORS), st.floats(0, 10)),
    flags=st.dictionaries(st.sampled_from(FLAGS), st.floats(-10, 10)),
    signals=st.dictionaries(st.sampled_from(SIGNALS), st.floats(0, 10)),
)


@given(
    st.fixed_dictionaries(dict.fromkeys(FACTORS, STATES)),
    st.fixed_dictionaries(dict.fromkeys((*FLAGS, *CHECKS), STATES)),
    st.fixed_dictionaries(dict.fromkeys(SIGNALS, st.floats(0, 1))),
    POLICIES,
)
def test_always_a_confidence_and_always_the_same(
    factors: dict[str, State], rules: dict[str, State], scores: dict[str, float], policy: ScorePolicy
) -> None:
    layers = first(**factors), second(**rules), third(**scores)
    found = combine(*layers, policy)
    assert 0 <= found.confidence <= 1
    assert found == combine(*layers, policy)
    assert found.confidence == combine(*layers, ScorePolicy.model_validate_json(policy.model_dump_json())).confidence


@given(st.fixed_dictionaries(dict.fromkeys(SIGNALS, st.floats(0, 1))), st.sampled_from(SIGNALS), st.floats(0, 1))
def test_a_better_signal_never_lowers_it(scores: dict[str, float], name: str, other: float) -> None:
    low, high = sorted((scores[name], other))
    one, two = (combine(first(), second(), third(**(scores | {name: score})), ScorePolicy()) for score in (low, high))
    assert one.confidence <= two.confidence + 1e-12
