"""What a benchmark says: a plain table, what was wanted and what was measured, raw samples and a plot in files."""

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bailiwick import __version__
from benchmarks.race.meters import Cores


@dataclass
class Report:
    """One sub-command's results."""

    name: str
    out: Path
    facts: dict[str, object] = field(default_factory=dict)
    samples: list[Mapping[str, object]] = field(default_factory=list)
    wishes: list[Mapping[str, object]] = field(default_factory=list)

    def begin(self, cores: Cores) -> None:
        self.facts |= {
            "benchmark": self.name,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "bailiwick": __version__,
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load_before": os.getloadavg(),
        }
        print(f"{self.name}: {os.cpu_count()} cores, {cores}, load {load()}")

    def wanted(self, what: str, wish: str, measured: str, *, is_met: bool) -> None:
        """The last lines of a benchmark: nothing fails, everything is said."""
        self.wishes.append({"what": what, "wanted": wish, "measured": measured, "is_met": is_met})
        print(f"{what}: wanted {wish}, measured {measured}: {'met' if is_met else 'not met'}")

    def end(self, plot: str) -> None:
        self.facts["load_after"] = os.getloadavg()
        self.out.mkdir(parents=True, exist_ok=True)
        samples, picture = self.out / f"{self.name}.json", self.out / f"{self.name}.svg"
        told = self.facts | {"wanted": self.wishes, "samples": self.samples}
        samples.write_text(json.dumps(told, indent=1) + "\n")
        picture.write_text(plot)
        print(f"load {load()}; samples: {samples}, plot: {picture}")


def load() -> str:
    return " ".join(f"{part:.2f}" for part in os.getloadavg())


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, figures to the right."""
    widths = [max(len(row[n]) for row in [header, *rows]) for n in range(len(header))]
    for row in [header, *rows]:
        first, *rest = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first.strip().ljust(widths[0]), *rest]).rstrip())


def settings_line(shown: Mapping[str, str]) -> str:
    return "PostgreSQL: " + ", ".join(f"{name} {value}" for name, value in shown.items())
