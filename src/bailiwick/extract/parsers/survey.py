"""Which parsers there are: found out in a process of its own, so that no file of a user's can harm the one that asks.

A file over which that process dies or hangs is left out and told of, and the others are looked at again.
"""

import json
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from bailiwick.extract.parsers.facts import GROUP, Fault, ParserFacts, Sources, Survey
from bailiwick.model.items import ItemKind

_SECONDS = 20.0
_MEMORY = 2_000_000_000
_MOST_SOURCES = 1000
_LIBRARIES = ("andi", "itemadapter", "url_matcher", "web_poet", "zyte_common_items")


def survey(folder: Path | None, *, seconds: float = _SECONDS) -> Survey:
    """All parsers of a folder and of installed packages. Never raises for what they do; nothing there costs nothing."""
    sources, faults = _sources(folder)
    if sources and not is_available():
        missing = 'site parsers want the extra items: pip install "bailiwick[items]"'
        return Survey(faults=(Fault(sources.folder or GROUP, None, missing),))
    while sources:
        done, loading = _asked(sources, seconds)
        if done is not None:
            return replace(done, faults=(*faults, *done.faults))
        if loading is None:
            return Survey(faults=(*faults, Fault(sources.folder or GROUP, None, "parsers cannot be loaded here")))
        faults.append(Fault(loading, None, f"it ends the process that loads it, or takes more than {seconds:g} s"))
        sources = _without(sources, {loading})
    return Survey(faults=tuple(faults))


@cache
def is_available() -> bool:
    """Whether the extra `items` is installed."""
    return all(find_spec(name) is not None for name in _LIBRARIES)


def _sources(folder: Path | None) -> tuple[Sources, list[Fault]]:
    """Files that begin with an underscore are for the others to import."""
    found = sorted(folder.glob("[!_.]*.py"))[:_MOST_SOURCES] if folder is not None and folder.is_dir() else []
    strange = [path for path in found if not path.stem.isidentifier()]
    faults = [Fault(str(path), None, "rename it: letters, digits and underscores, as in shop_example.py")
              for path in strange]  # fmt: skip
    files = tuple(str(path.absolute()) for path in found if path not in strange)
    points = tuple(sorted({point.name for point in entry_points(group=GROUP)}))
    return Sources(str(folder.absolute()) if folder is not None else "", files, points), faults


def _without(sources: Sources, names: set[str]) -> Sources:
    return replace(
        sources,
        files=tuple(file for file in sources.files if file not in names),
        entry_points=tuple(point for point in sources.entry_points if point not in names),
    )


def _asked(sources: Sources, seconds: float) -> tuple[Survey | None, str | None]:
    """What a child says; or over which source it ended."""
    command = [sys.executable, "-m", "bailiwick.extract.parsers.survey", json.dumps(asdict(sources)), str(seconds)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)  # fmt: skip
    loading = None
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        with suppress(json.JSONDecodeError):
            told = json.loads(line)
            if "loading" in told:
                loading = str(told["loading"])
            elif "parsers" in told:
                usable = _without(sources, set(told["failed"]))
                return Survey(usable, tuple(map(_parser, told["parsers"])), tuple(map(_fault, told["faults"]))), None
    return None, loading


def _parser(told: "dict[str, object]") -> ParserFacts:
    kind = told["kind"]
    patterns, hosts = told["patterns"], told["hosts"]
    return ParserFacts(
        name=str(told["name"]),
        version=int(str(told["version"])),
        kind=ItemKind(str(kind)) if kind is not None else None,
        patterns=tuple(map(str, patterns)) if isinstance(patterns, list) else (),
        hosts=tuple(map(str, hosts)) if isinstance(hosts, list) else (),
        where=str(told["where"]),
        digest=str(told["digest"]),
        refused=str(told["refused"]) if told["refused"] is not None else None,
    )


def _fault(told: "dict[str, object]") -> Fault:
    line = told["line"]
    return Fault(str(told["where"]), line if isinstance(line, int) else None, str(told["what"]))


def main(arguments: list[str]) -> None:
    """The child: a line before each source, a line with all at the end. Its alarm starts anew with each source."""
    import os

    from bailiwick.extract.parsers.loading import load

    sink = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a parser prints is no answer
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))

    def tell(told: object) -> None:
        sink.write(f"{json.dumps(told)}\n")
        sink.flush()

    def begin(source: str) -> None:
        tell({"loading": source})
        signal.setitimer(signal.ITIMER_REAL, float(arguments[1]))

    done = load(Sources.of(json.loads(arguments[0])), begin)
    signal.setitimer(signal.ITIMER_REAL, 0)
    facts = [parser.facts for parser in done.parsers] + done.refused
    faults = [asdict(fault) for fault in done.faults]
    tell({"parsers": [asdict(one) for one in facts], "faults": faults, "failed": done.failed})


if __name__ == "__main__":
    main(sys.argv[1:])
