"""Pages for a simulated reviewer. What decides is hidden; what is shown only hangs together with it, by chance.

Hidden facts of a page, which no learner gets: its topic, the care that went into its site and into the page, whether
the site sells links. The reviewer likes topics differently (another reviewer each seed), likes care, dislikes sold
links, and has moods that nothing shows. Wanted is what pleases him; a tenth of his decisions are slips.

Shown are a text and signals. In a text some sentences are about the topic, with words of other topics among them; a
few show care or haste, as often as not the wrong one; sold links are mentioned by one site in three that sells them,
and by some that do not. Signals are those of an evaluation (003): each passes, fails or scores with a chance that
care and sold links move, and some could not be checked. The evidence's confidence weighs them by the default policy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bailiwick.learn.examples import Example, embeddings_of
from bailiwick.model.layers import CHECKS, FACTORS, FLAGS, SIGNALS
from bailiwick.model.scoring import ScorePolicy

NOISE = 0.10
LIKING, CARE = 2.0, 1.0
TOPICS: Mapping[str, str] = {
    "gardening": "soil compost seedlings prune roses greenhouse mulch harvest tomatoes lawn hedge perennial bulbs",
    "cooking": "recipe oven simmer garlic butter roast dough knead spices casserole whisk broth pastry",
    "finance": "mortgage savings interest pension dividend portfolio inflation budget lender equity bonds broker",
    "software": "compiler database function deploy server library debug kernel thread query repository release",
    "travel": "itinerary hostel flight passport beach island museum train luggage visa mountain village",
    "health": "symptom therapy patient vitamin exercise sleep clinic diagnosis immune doctor nutrition pain",
    "sports": "league striker goal coach tournament season defender stadium sprint medal referee training",
    "music": "guitar chord album melody rhythm concert studio vocalist orchestra piano lyrics drummer",
    "history": "empire treaty medieval archive monarchy battle century manuscript colony excavation dynasty revolt",
    "education": "pupils curriculum lesson teacher classroom homework exam literacy university scholarship tutor",
    "gambling": "casino jackpot roulette wager slots bonus poker odds payout betting spins dealer",
    "crypto": "bitcoin token wallet blockchain mining exchange staking ledger altcoin airdrop yield coin",
}
FILLER = (
    "this page was written for readers who want to know more about it",
    "there are several ways to look at the question and each has its merits",
    "in the last years much has changed and more will change soon",
    "we answer the most common questions below and add new ones every month",
    "many people ask us about this and we are glad to help",
    "read on to learn what matters and what does not",
    "our team has collected notes over a long time",
    "some of it may surprise you while other parts are well known",
)
CAREFUL = (
    "sources are listed at the end and corrections are dated",
    "the author has worked in the field for years and is named below",
    "figures come from a published survey which we link to",
    "an earlier version had a mistake which a reader kindly pointed out",
)
HASTY = (
    "best top amazing tips you must know now",
    "click here to find out the secret that everyone talks about",
    "number one guide ultimate list of the best cheap deals",
    "it is very good and very nice and you will love it a lot",
)
SELLING = (
    "sponsored posts and link insertion are welcome at fair prices",
    "write for us and get a do follow link in your article",
    "contact us for advertising rates and guest post packages",
)
_BITS = (*FACTORS, *FLAGS, *CHECKS)
# How far care and sold links move the chance (log-odds) that a factor passes or that something is detected.
_EFFECTS: Mapping[str, tuple[float, float, float]] = {
    "domain_age": (0.6, 1.3, -0.4),
    "tld_type": (1.2, 0.9, -0.5),
    "registrar_reputation": (1.2, 0.7, -0.4),
    "whois_privacy": (-0.2, 0.5, -0.2),
    "ssl_certificate": (1.6, 1.0, 0.0),
    "contact_page": (0.3, 1.2, 0.2),
    "author_bio": (0.0, 1.6, -0.2),
    "pricing_page": (-1.2, -0.3, 0.6),
    "submit_content": (-1.8, -0.4, 1.3),
    "write_for_us": (-1.8, -0.5, 1.6),
    "guest_post_guidelines": (-2.0, -0.4, 1.5),
    "thin_content": (-0.9, -1.4, 0.2),
    "excessive_ads": (-0.9, -1.2, 0.6),
    "broken_links": (-1.1, -1.0, 0.1),
}
_UNCHECKED = 0.12


@dataclass(frozen=True, slots=True)
class Corpus:
    """Pages in the order in which they come, and what the reviewer truly thinks of each."""

    examples: list[Example]
    """With the reviewer's noisy decision as label."""
    truth: NDArray[np.bool_]


def corpus(pages: int, seed: int) -> Corpus:
    """Deterministic."""
    draw = np.random.default_rng(seed)
    sites = pages // 3
    site = draw.integers(sites, size=pages)
    care = 0.8 * draw.normal(size=sites)[site] + 0.6 * draw.normal(size=pages)
    sells = draw.random(sites)[site] < _chance(-0.9 - 0.7 * care)
    names = list(TOPICS)
    habit = draw.integers(len(names), size=sites)[site]
    topic = np.where(draw.random(pages) < 0.7, habit, draw.integers(len(names), size=pages))
    liking = draw.permutation(np.linspace(-LIKING, LIKING, len(names)))
    pleasure = CARE * care + liking[topic] - 1.2 * sells + 0.5 * draw.normal(size=pages)
    truth = pleasure > 0
    said = truth ^ (draw.random(pages) < NOISE)
    texts = [_text(names[topic[n]], care[n], sells[n], draw) for n in range(pages)]
    vectors = embeddings_of(texts)
    examples = []
    for number in range(pages):
        signals = _signals(care[number], sells[number], draw)
        examples.append(
            Example(
                label_id=number + 1,
                subject=f"https://site{site[number]}.example/page-{number}",
                is_wanted=bool(said[number]),
                signals=signals,
                confidence=evidence_confidence(signals),
                embedding=vectors[number],
            )
        )
    return Corpus(examples, truth)


def evidence_confidence(signals: Mapping[str, float | None]) -> float:
    """The layers' shares weighed by the default policy; what was not checked does not count."""
    policy = ScorePolicy()
    layers = policy.layers
    domain = _share([(policy.factor(name), signals[name]) for name in FACTORS])
    flags = [(policy.flag(name), signals[name]) for name in FLAGS] + [(-policy.check(n), signals[n]) for n in CHECKS]
    rules = _share([(abs(weight), None if v is None else v if weight > 0 else 1 - v) for weight, v in flags])
    looks = _share([(policy.signal(name), signals[name]) for name in SIGNALS])
    return layers.domain * domain + layers.rules * rules + layers.sophistication * looks


def _share(parts: list[tuple[float, float | None]]) -> float:
    known = [(weight, value) for weight, value in parts if value is not None]
    total = sum(weight for weight, _ in known)
    return sum(weight * value for weight, value in known) / total if total else 0.5


def _chance(log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-log_odds))


def _signals(care: float, sells: bool, draw: np.random.Generator) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in _BITS:
        base, by_care, by_sale = _EFFECTS[name]
        chance = 1 / (1 + np.exp(-(base + by_care * care + by_sale * sells)))
        found[name] = None if draw.random() < _UNCHECKED else float(draw.random() < chance)
    for name in SIGNALS:
        found[name] = float(1 / (1 + np.exp(-(0.1 + 1.3 * care + 0.9 * draw.normal()))))
    return found


def _text(topic: str, care: float, sells: bool, draw: np.random.Generator) -> str:
    lines = []
    for _ in range(int(draw.integers(8, 16))):
        kind = draw.random()
        if kind < 0.55:
            first, second, third, fourth = (_word(topic, draw) for _ in range(4))
            lines.append(f"about {first} and {second} with {third} or {fourth}")
        elif kind < 0.65:
            lines.append(_one_of(CAREFUL if care + 1.2 * draw.normal() > 0 else HASTY, draw))
        else:
            lines.append(_one_of(FILLER, draw))
    if draw.random() < (0.33 if sells else 0.05):
        lines.insert(int(draw.integers(len(lines))), _one_of(SELLING, draw))
    return ". ".join(lines)


def _word(topic: str, draw: np.random.Generator) -> str:
    """Of the topic, or one time in four of any."""
    return _one_of(_WORDS[_one_of(tuple(_WORDS), draw) if draw.random() < 0.25 else topic], draw)


def _one_of(given: Sequence[str], draw: np.random.Generator) -> str:
    return given[int(draw.integers(len(given)))]


_WORDS = {name: words.split() for name, words in TOPICS.items()}
