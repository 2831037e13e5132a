"""One URL evaluated: its page come by, three layers of evidence, one confidence. What is stored is up to the caller."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from time import monotonic

from bailiwick.app import App
from bailiwick.base.bands import Bands
from bailiwick.base.clock import Clock
from bailiwick.evidence.asking import Asker, Budget
from bailiwick.learn.scorer import Scorer, active_scorer
from bailiwick.ledger.events import Actor
from bailiwick.model.layers import Layer1Results, Layer3Results, Proofs
from bailiwick.model.material import Lookalike, PageMaterial, SiteMaterial, SitePage
from bailiwick.model.names import DomainName
from bailiwick.model.profiles import Profile
from bailiwick.model.signals import signals_of
from bailiwick.net.guard import Guard, Resolve
from bailiwick.pipeline.fetching import Got, Ways
from bailiwick.pipeline.look_pool import LookPool, Unseen
from bailiwick.pipeline.looking import Assessed, Look, Seen, site_values
from bailiwick.ports import FetchAnswer
from bailiwick.review.routing import NewEvaluation
from bailiwick.score import known
from bailiwick.score.combining import combine
from bailiwick.score.facts.assessing import assess_domain
from bailiwick.score.facts.finding import FactFinder
from bailiwick.score.jobs import ClaimedUrl, Settled
from bailiwick.score.sophistication import ask_model

_MODEL_SECONDS = 60.0
_MOST_KEPT = 512
"""Evidence of pages that only the model has not scored yet: some 50 KB each."""
_SCORER_SECONDS = 30.0
_MOST_CALLS = 8
_SITE_CHARS = 600


@dataclass(frozen=True, slots=True)
class _Evidence:
    """All that is known of a page but for layer 3."""

    got: Got
    seen: Seen
    site: SiteMaterial
    facts: tuple[Layer1Results, Proofs]
    assessed: Assessed


@dataclass(frozen=True, slots=True)
class _Third:
    """Layer 3, by whoever scored it."""

    results: Layer3Results
    proofs: Proofs
    reasoning: str
    by: str


class Evaluator:
    """Evaluates URLs for one profile, in one event loop. Close it at the end."""

    def __init__(
        self,
        app: App,
        profile: Profile,
        actor: Actor,
        resolves: Sequence[Resolve] = (),
        *,
        awaits_crawls: bool = True,
        clock: Clock | None = None,
    ) -> None:
        """Pages of approved domains are awaited from a crawl, if somebody sees to it; else they are probed, too.

        By `clock` goes how long a language model that is down is left alone.
        """
        settings = app.settings
        guard = Guard(allow_private=settings.net.allow_private_networks, resolves=tuple(resolves))
        self._app, self.profile = app, profile
        self.ways = Ways(app, guard, actor, awaits_crawls=awaits_crawls)
        self._facts = FactFinder(app.database, guard, settings.score)
        self._pool = LookPool(settings.parse.processes or 1, settings.parse)
        self._asker = _asker(app, clock)
        self._bands = Bands.of(profile.bands or settings.review.bands)
        self._places = asyncio.Semaphore(max(1, min(settings.model.concurrency, _MOST_CALLS)))
        self._kept: dict[tuple[int, str], _Evidence] = {}
        self._is_told = False
        self._known_scorer: Scorer | None = None
        self._scorer_until = 0.0

    async def close(self) -> None:
        await self._pool.close()
        await self._facts.close()
        await self.ways.close()

    def room(self, most: int) -> int:
        """How many to have under way at once, of so many: none while a model that is waited for is known to be down,
        and one to see whether it is back. Pages that it cannot score then are not fetched for nothing.
        """
        if self._asker is None or not self._waits_for_model:
            return most
        if self._asker.is_resting:
            return 0
        return 1 if self._asker.is_failing else most

    async def evaluate(self, url: ClaimedUrl) -> NewEvaluation | Settled:
        """One URL: what it came to, or what becomes of it instead."""
        about = (url.job_id, url.url)
        # What was asked of a site for this URL is not asked of it again because the model was down.
        evidence = self._kept.pop(about, None) or await self._gathered(url)
        if isinstance(evidence, Settled):
            return evidence
        third = await self._third_layer(evidence)
        if isinstance(third, str):
            self._keep(about, evidence)
            return Settled(url.id, "waiting", third, again_seconds=_MODEL_SECONDS)
        if third is None:
            return self.ways.failed(url, "nothing to look at: neither words nor markup")
        return await asyncio.to_thread(self._finding, url, evidence, third)

    async def _gathered(self, url: ClaimedUrl) -> _Evidence | Settled:
        """Its page come by and looked at, and what is known of its domain."""
        got = await self.ways.page(url)
        if isinstance(got, Settled):
            return got
        languages = self.profile.languages
        seen = await self._pool.see(Look(url=got.url, content_type=got.content_type, languages=languages), got.body)
        if isinstance(seen, Unseen) or seen.is_empty:
            return self.ways.failed(url, f"nothing to look at: {seen.why or 'the page is empty'}")
        facts, site = await asyncio.gather(self._domain_facts(url), self._site(url, got, seen))
        look = Look(
            url=got.url,
            content_type=got.content_type,
            languages=languages,
            policy=self.profile.scoring,
            site=site_values(site),
        )
        assessed = await self._pool.assess(look, got.body)
        if isinstance(assessed, Unseen):
            return self.ways.failed(url, f"nothing to look at: {assessed.why}")
        body_hash = got.body_hash or sha256(got.body).digest()
        return _Evidence(replace(got, body=b"", body_hash=body_hash), seen, site, facts, assessed)

    def _keep(self, about: tuple[int, str], evidence: _Evidence) -> None:
        """The oldest goes, where there are too many: its page is then come by anew."""
        self._kept[about] = evidence
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    async def _domain_facts(self, url: ClaimedUrl) -> tuple[Layer1Results, Proofs]:
        name = DomainName(url.name)
        facts = await self._facts.facts(name, url.base_url)
        return assess_domain(name, facts, self.profile.scoring, datetime.now(UTC))

    async def _site(self, url: ClaimedUrl, got: Got, seen: Seen) -> SiteMaterial:
        pages = await self.ways.site_pages(url)
        unreached: list[str] = []
        is_crawled = got.is_stored or bool(pages)
        if not is_crawled:
            answers, unreached = await self.ways.probed_pages(got, seen.likely_pages)
            pages = tuple([await self._read(answer) for answer in answers])
        checks = await self.ways.link_checks(url, seen.links_to_check)
        alike, compared = await asyncio.to_thread(self._lookalikes, url, seen)
        return SiteMaterial(
            pages=pages,
            is_crawled=is_crawled,
            link_checks=checks,
            lookalikes=alike,
            compared_with=compared,
            unreached=tuple(unreached),
        )

    async def _read(self, answer: FetchAnswer) -> SitePage:
        content_type = answer.headers.get("content-type", "")
        seen = await self._pool.see(Look(url=answer.url, content_type=content_type), answer.body or b"")
        if isinstance(seen, Unseen):
            return SitePage(answer.url)
        return SitePage(answer.url, seen.title, seen.text[:_SITE_CHARS])

    def _lookalikes(self, url: ClaimedUrl, seen: Seen) -> tuple[tuple[Lookalike, ...], int]:
        if seen.simhash is None or seen.content_hash is None:
            return (), 0
        with self._app.database.read() as conn:
            return known.lookalikes(conn, url, simhash=seen.simhash, content_hash=bytes.fromhex(seen.content_hash))

    async def _third_layer(self, evidence: _Evidence) -> _Third | str | None:
        """By the model if there is one; else, or if the operator says so, by the local scores. A str: wait, and why."""
        assessed, seen = evidence.assessed, evidence.seen
        local = None
        if assessed.layer3 is not None:
            local = _Third(assessed.layer3, assessed.proofs3, assessed.reasoning, assessed.by)
        if self._asker is None:
            return local
        page = PageMaterial(evidence.got.url, seen.html, seen.text, seen.title, seen.language)
        async with self._places:
            heard = await asyncio.to_thread(ask_model, self._asker, page, evidence.site, self.profile.scoring)
        if not isinstance(heard, str):
            self._is_told = False
            return _Third(heard.results, heard.proofs, heard.reasoning, heard.by)
        self._tell(heard)
        return f"the language model gives no scores: {heard}" if self._waits_for_model else local

    @property
    def _waits_for_model(self) -> bool:
        return self._app.settings.score.without_model == "wait"

    def _tell(self, why: str) -> None:
        """Once, until it answers again: whoever watches should know why nothing moves, or who scores instead."""
        if not self._is_told and self._asker is not None and self._asker.is_failing:
            self._is_told = True
            follows = "URLs wait for it" if self._waits_for_model else "measured scores stand in for it"
            self._app.say(f"the language model gives no scores: {why}; {follows} (score.without_model)")

    def _finding(self, url: ClaimedUrl, evidence: _Evidence, third: _Third) -> NewEvaluation:
        got, (layer1, proofs1), second = evidence.got, evidence.facts, evidence.assessed
        combined = combine(layer1, second.layer2, third.results, self.profile.scoring, said=third.reasoning)
        # The model's scale is laid over the bands: where those are in no order, it has no say.
        scorer = self._scorer() if self._bands.are_ordered else None
        probability, confidence = None, combined.confidence
        reasoning = combined.reasoning
        if scorer is not None:
            signals = signals_of(layer1, second.layer2, third.results)
            probability = scorer.probability(signals, second.vector)
            confidence = scorer.confidence(probability, self._bands.limits())
            told = ", ".join(one.name.replace("_", " ") for one in scorer.top_signals(signals, second.vector, most=3))
            reasoning = f"People decided alike with {probability:.2f} (model {scorer.version}: {told}). {reasoning}"
        return NewEvaluation(
            url_id=url.id,
            job_id=url.job_id,
            domain_id=url.domain_id,
            name=url.name + url.path,
            url=got.url,
            title=evidence.seen.title or None,
            profile=self.profile.name,
            policy_version=self.profile.scoring.version,
            confidence=confidence,
            evidence_confidence=combined.confidence,
            model_id=scorer.id if scorer is not None else None,
            learned_probability=probability,
            reasoning=reasoning,
            layer1=layer1,
            layer2=second.layer2,
            layer3=third.results,
            layer3_by=third.by,
            proofs={"layer1": proofs1, "layer2": second.proofs2, "layer3": third.proofs},
            embedding=second.vector,
            body_hash=got.body_hash,
        )

    def _scorer(self) -> Scorer | None:
        """The model that people switched on, looked up anew now and then: they may switch it while a job runs."""
        now = monotonic()
        if now >= self._scorer_until:
            with self._app.database.read() as conn:
                self._known_scorer = active_scorer(conn, "review", self.profile.name)
            self._scorer_until = now + _SCORER_SECONDS
        return self._known_scorer

    @property
    def bands(self) -> Bands:
        return self._bands


def _asker(app: App, clock: Clock | None) -> Asker | None:
    """For the language model that the settings name."""
    model = app.language_model
    if model is None:
        return None
    return Asker(model, Budget.of(app.settings.model), begin=app.database.begin, clock=clock)
