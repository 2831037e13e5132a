"""Layer 3 by a language model: one question a page, remembered by what was sent of it."""

from bailiwick.evidence.asking import Asker
from bailiwick.evidence.model_calls import CallKey
from bailiwick.model.layers import SIGNALS, Layer3Results, Signal
from bailiwick.model.material import PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.sophistication.local import judge_all, proofs_of
from bailiwick.score.sophistication.measuring import measure
from bailiwick.score.sophistication.prompt import PROMPT_VERSION, SignalAnswer, ask_about
from bailiwick.score.sophistication.result import Sophistication

_PURPOSE = "sophistication"


def ask_model(asker: Asker, page: PageMaterial, site: SiteMaterial, policy: ScorePolicy) -> Sophistication | str:
    """The model's four scores, or why there are none. Asking again about the same content sends nothing."""
    if not page.html.strip() and not page.text.strip():
        return "there is nothing to look at"
    features = measure(page, site)
    most = asker.budget.max_input_chars
    asked = ask_about(page, features, most)
    heard = asker.ask(
        asked.question, CallKey(asked.content_hash, _PURPOSE, asker.model_name, f"{PROMPT_VERSION}-{most}")
    )
    if heard.answer is None:
        return heard.why or "the model gave no answer"
    results = {name: _signal(getattr(heard.answer, name), policy) for name in SIGNALS}
    return Sophistication(
        Layer3Results.model_validate(results),
        heard.answer.summary,
        proofs_of(page, site, features, judge_all(features)),
        f"model:{asker.model_name}",
    )


def _signal(answer: SignalAnswer, policy: ScorePolicy) -> Signal:
    return Signal(
        score=answer.score, detected=answer.score >= policy.signal_threshold, reasoning=answer.reasoning or None
    )
