"""A discovery session from order to candidates: engines are asked at once, what they bring is judged and kept."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from bailiwick.accounts.members import system_actor
from bailiwick.app import SEARCH_ENGINES, App
from bailiwick.base.clock import SystemClock
from bailiwick.base.errors import BailiwickError
from bailiwick.discover import sessions
from bailiwick.discover.asking import Asker, Call, Ended, Found, Kept
from bailiwick.discover.cleaning import Refused, clean
from bailiwick.discover.gates import DatabaseGate, Limits
from bailiwick.discover.gathering import Gathering
from bailiwick.discover.keeping import Keeper
from bailiwick.discover.sessions import Order, Session
from bailiwick.discover.stats import Stats
from bailiwick.model.urls import PageUrl, UrlRules
from bailiwick.pipeline.judging import Judging
from bailiwick.ports import EngineAnswer, SearchEngine

if TYPE_CHECKING:
    from bailiwick.model.profiles import Profile

ALL_THERE_IS = 10_000_000
_UNRANKED = ("file",)
"""Engines whose order says nothing, unless a hit says itself where it stood."""
_FAILED = (Ended.QUOTA, Ended.LIMITED, Ended.REFUSED, Ended.INVALID, Ended.FAILED)


@dataclass
class Watch:
    """What is told while it goes on: questions answered, and pages judged of how many."""

    asked: Callable[[int, int], None] = lambda _done, _of: None
    judged: Callable[[int, int], None] = lambda _done, _of: None


@dataclass
class Discovered:
    """What came of it."""

    session: Session
    stats: Stats
    goes_on: bool
    """It went on with a session that was interrupted."""
    problems: list[str] = field(default_factory=list)
    """Engines that failed, each once, and why; the first results that are no pages."""


def discover(app: App, order: Order, profile: "Profile", watch: Watch) -> Discovered:
    """Run a session to its end. An engine that fails is recorded, the others go on.

    Raises NotFoundError and SettingsError for engines that cannot be asked at all, ConflictError if another process is
    at the same order. Whatever ends it early leaves it stopped: the same order goes on with it.
    """
    from bailiwick.judge.panel import Panel

    panel = Panel(profile, SystemClock().now().date(), threshold=order.threshold)
    engines = [app.search_engine(name) for name in order.engines]
    with app.database.begin() as conn:
        starter, system = app.actor(conn), system_actor(conn)
        session, goes_on = sessions.begin(conn, order, starter)
        before = sessions.asked(conn, session.id)
    stats, begun = session.stats, monotonic() - session.stats.processing_time_ms / 1000
    stats.engine_calls, stats.cost = before.calls, before.cost
    if goes_on:
        stats.go_on()
    outcome = Discovered(session, stats, goes_on)
    with _stopped_on_error(app, session.id):
        gathered = asyncio.run(_gather(app, engines, outcome, watch))
        outcome.problems += gathered.refused_examples
        stats.took_in(gathered.results, gathered.duplicates, gathered.refusals)
        keeper = Keeper(session, app.settings.discover, starter, system)
        total = len(gathered)

        def advance(done: int) -> None:
            stats.processing_time_ms = _milliseconds_since(begun)  # kept with the next batch
            watch.judged(done, total)

        Judging(app.database, keeper, panel.judge, stats).run(gathered, advance)
        stats.processing_time_ms = _milliseconds_since(begun)
        with app.database.begin() as conn:
            sessions.finish(conn, session.id, stats, starter)
    return outcome


def _milliseconds_since(begun: float) -> int:
    return round(1000 * (monotonic() - begun))


@contextmanager
def _stopped_on_error(app: App, session_id: int) -> Iterator[None]:
    try:
        yield
    except BaseException:
        try:
            with app.database.begin() as conn:
                sessions.stop(conn, session_id)
        except BailiwickError:
            app.say(
                f"session {session_id} could not be marked as stopped; the same command goes on with it all the same"
            )
        raise


async def _gather(app: App, engines: Sequence[SearchEngine], outcome: Discovered, watch: Watch) -> Gathering:
    order = outcome.session.order
    kept = await asyncio.to_thread(_kept, app, outcome) if outcome.goes_on else {}
    gathered, done, of = Gathering(), 0, len(engines) * len(order.queries)
    watch.asked(0, of)

    async def ask(engine: SearchEngine) -> list[Found]:
        nonlocal done
        asker = _asker(app, engine, outcome, kept)
        found = []
        try:
            for query in order.queries:
                found.append(await asker.ask(query, order.per_query or ALL_THERE_IS))
                done += 1
                watch.asked(done, of)
        finally:
            await engine.close()
        return found

    answered = await asyncio.gather(*(ask(engine) for engine in engines))
    rules = UrlRules(allow_private=app.settings.names.allow_private)
    for engine, found in zip(engines, answered, strict=True):
        _tell_failures(found, outcome)
        for one in found:
            _take(app, one, gathered, rules)
        _take_rejects(engine, gathered, outcome)
    return gathered


def _kept(app: App, outcome: Discovered) -> Kept:
    with app.database.read() as conn:
        return sessions.kept_answers(conn, outcome.session.id)


def _asker(app: App, engine: SearchEngine, outcome: Discovered, kept: Kept) -> Asker:
    is_service = engine.name in SEARCH_ENGINES
    stats = outcome.stats

    def write(call: Call, answer: EngineAnswer) -> None:
        with app.database.begin() as conn:
            sessions.add_call(conn, outcome.session.id, call, answer if is_service else None)

    async def record(call: Call, answer: EngineAnswer) -> None:
        stats.engine_calls += 1
        stats.cost = round(stats.cost + call.cost, 6)
        await asyncio.to_thread(write, call, answer)

    limits = Limits.of(getattr(app.bootstrap.tree, engine.name)) if is_service else None
    return Asker(engine, DatabaseGate(app.database), limits=limits, record=record, kept=kept)


def _tell_failures(found: Sequence[Found], outcome: Discovered) -> None:
    failed = [one for one in found if one.ended in _FAILED]
    outcome.stats.engine_failures += len(failed)
    reasons = dict.fromkeys((one.engine, one.why) for one in failed)
    outcome.problems += [f"{engine}: {why}" for engine, why in reasons]


def _take(app: App, found: Found, gathered: Gathering, rules: UrlRules) -> None:
    collapse = app.settings.names.collapse_subdomains
    for placed in found.hits:
        result = clean(placed.hit, engine=found.engine, query=found.query, position=placed.position, rules=rules)
        if isinstance(result, Refused):
            gathered.refuse(result.reason.value, placed.hit.url)
            continue
        page = PageUrl.parse(result.url, rules=rules)
        if collapse:
            page = replace(page, domain=app.domain_name(page.domain.name))
        is_ranked = placed.hit.position is not None or found.engine not in _UNRANKED
        gathered.add(page, replace(result, is_ranked=is_ranked))


def _take_rejects(engine: SearchEngine, gathered: Gathering, outcome: Discovered) -> None:
    """Lines of a file that are no results, and rows that nobody asked for."""
    from bailiwick.backends.engine_file import FileEngine

    if isinstance(engine, FileEngine):
        rejects = engine.rejects
        for one in rejects.examples:
            gathered.refuse("unreadable", f"line {one.line}: {one.why}")
        for _ in range(rejects.count - len(rejects.examples)):
            gathered.refuse("unreadable", "")
        if engine.unasked:
            outcome.problems.append(f"file: {engine.unasked}")
