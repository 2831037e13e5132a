"""Loads page objects into this process: a child's, never that of a command. What is wrong with one is told, not raised.

`web-poet` matches addresses with the help of a public suffix list that it would download: here it takes the one it has.
"""

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

import andi
import tldextract.tldextract as suffixes
import web_poet
from url_matcher import Patterns
from url_matcher.patterns import pattern_parse, split_domain_port
from web_poet.pages import is_injectable
from web_poet.rules import ApplyRule

from bailiwick.extract.parsers.digests import PACKAGE, file_digest
from bailiwick.extract.parsers.facts import ANYWHERE, GROUP, Fault, ParserFacts, Sources
from bailiwick.extract.parsers.items import kind_of
from bailiwick.model.items import ItemKind

INPUTS: frozenset[type] = frozenset({
    web_poet.HttpResponse, web_poet.HttpResponseBody, web_poet.HttpResponseHeaders, web_poet.ResponseUrl,
    web_poet.RequestUrl, web_poet.PageParams, web_poet.AnyResponse, web_poet.Stats,
})  # fmt: skip
"""What a page object may ask for: all of it comes from the stored page."""
_MOST_VERSION = 1_000_000
_NAME_CHARS = 200
_NETWORK = ("HttpClient", "BrowserHtml", "BrowserResponse")


@dataclass(frozen=True, slots=True)
class Parser:
    """A page object that can be run."""

    facts: ParserFacts
    page: type[web_poet.ItemPage[object]]
    patterns: Patterns
    kind: ItemKind


@dataclass(slots=True)
class Loading:
    """What was loaded so far."""

    parsers: list[Parser]
    refused: list[ParserFacts]
    faults: list[Fault]
    failed: list[str] = field(default_factory=list)
    """The sources that gave nothing for it."""

    def fail(self, source: str, fault: Fault) -> None:
        self.faults.append(fault)
        self.failed.append(source)

    def take(self, rules: Iterable[ApplyRule], where: str, digest: str | None) -> None:
        for rule in rules:
            facts = _facts(rule, where, digest)
            if facts.refused is None and facts.kind is not None:
                self.parsers.append(Parser(facts, rule.use, rule.for_patterns, facts.kind))
            else:
                self.refused.append(facts)


def load(sources: Sources, told: Callable[[str], None] = lambda _: None) -> Loading:
    """All that these sources give; `told` of each before it is loaded. Nothing that their code does is raised."""
    suffixes.TLD_EXTRACTOR = suffixes.TLDExtract(suffix_list_urls=(), cache_dir=None)
    sys.dont_write_bytecode = True
    done = Loading([], [], [])
    _make_package(sources.folder)
    for file in sources.files:
        told(file)
        path = Path(file)
        fault = _guarded(file, path.parent, partial(importlib.import_module, f"{PACKAGE}.{path.stem}"))
        if fault is not None:
            done.fail(file, fault)
        else:
            rules = [rule for rule in _rules() if rule.use.__module__ == f"{PACKAGE}.{path.stem}"]
            done.take(rules, file, file_digest(path))
    for name in sources.entry_points:
        told(name)
        known = set(_rules())
        point = next(iter(entry_points(group=GROUP, name=name)), None)
        where = f"entry point {name}"
        if point is None:
            done.fail(name, Fault(where, None, "it is gone"))
        elif (fault := _guarded(where, None, partial(_import, point))) is not None:
            done.fail(name, fault)
        else:
            done.take([rule for rule in _rules() if rule not in known], _origin(point), None)
    return done


def _make_package(folder: str) -> None:
    package = ModuleType(PACKAGE)
    package.__path__ = [folder] if folder else []
    sys.modules[PACKAGE] = package


def _import(point: EntryPoint) -> None:
    point.load()
    if not point.attr:
        web_poet.consume_modules(point.module)


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else f"entry point {point.name}"


def _guarded(where: str, folder: Path | None, work: Callable[[], object]) -> Fault | None:
    try:
        work()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the user's code
        return fault_of(where, folder, error)
    return None


def fault_of(where: str, folder: Path | None, error: BaseException) -> Fault:
    """With the last line of the user's own that was at work."""
    if isinstance(error, SyntaxError):
        return Fault(error.filename or where, error.lineno, error.msg)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if folder is not None and Path(frame.filename).parent == folder]
    return Fault(own[-1].filename, own[-1].lineno, what) if own else Fault(where, None, what)


def _rules() -> list[ApplyRule]:
    return web_poet.default_registry.get_rules()


def _facts(rule: ApplyRule, where: str, digest: str | None) -> ParserFacts:
    page, version = rule.use, getattr(rule.use, "parser_version", 1)
    module = page.__module__.removeprefix(f"{PACKAGE}.")
    kind = kind_of(page, rule.to_return)
    is_number = isinstance(version, int) and not isinstance(version, bool) and 1 <= version <= _MOST_VERSION
    return ParserFacts(
        name=f"{module}.{page.__qualname__}"[:_NAME_CHARS],
        version=version if is_number else 1,
        kind=kind if isinstance(kind, ItemKind) else None,
        patterns=(*rule.for_patterns.include, *(f"not {pattern}" for pattern in rule.for_patterns.exclude)),
        hosts=_hosts(rule.for_patterns),
        where=where,
        digest=digest or _source_digest(page),
        refused=(
            (None if isinstance(kind, ItemKind) else kind)
            or _refused_inputs(page)
            or (None if is_number else f"parser_version is a whole number from 1 to {_MOST_VERSION:,}, not {version!r}")
        ),
    )


def _refused_inputs(page: type) -> str | None:
    """Why it cannot be built from a stored page alone."""
    wanted = _inputs(page, set())
    network = sorted({cls.__name__ for cls in wanted if cls.__name__ in _NETWORK})
    if network:
        return f"it wants {', '.join(network)}: parsers read the stored page, and nothing from the network"
    try:
        andi.plan(page, is_injectable=is_injectable, externally_provided=INPUTS, full_final_kwargs=True)
    except (andi.NonProvidableError, TypeError, ValueError, NameError) as error:
        return f"it cannot be made of a stored page: {' '.join(str(error).split())[:300]}"
    return None


def _inputs(page: Callable[..., object], seen: set[type]) -> set[type]:
    """All classes that it asks for, and those that its page objects ask for."""
    try:
        asked = andi.inspect(page)
    except (TypeError, ValueError, NameError):
        return seen
    for cls in {cls for options in asked.values() for cls in options if isinstance(cls, type)} - seen:
        seen.add(cls)
        if is_injectable(cls):
            _inputs(cls, seen)
    return seen


def _hosts(patterns: Patterns) -> tuple[str, ...]:
    if patterns.is_universal_pattern():
        return (ANYWHERE,)
    netlocs = [split_domain_port(pattern_parse(pattern).netloc.lower())[0] for pattern in patterns.include]
    return tuple(dict.fromkeys(netloc.removeprefix("www.") for netloc in netlocs))


def _source_digest(page: type) -> str:
    """Of the module that it is in."""
    file = inspect.getsourcefile(page)
    return blake2b(Path(file).read_bytes() if file else b"", digest_size=16).hexdigest()
