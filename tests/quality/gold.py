"""Gold pages of one kind, and how an extractor's items compare with what they hold, field by field."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from pydantic import JsonValue

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.items.source import Source
from bailiwick.model.content import Content
from bailiwick.model.items import Gathered

FOLDER = Path(__file__).parent / "gold"
SEEN_ON = date(2026, 11, 16)
Fields = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class GoldPage:
    name: str
    url: str
    split: str
    items: list[Fields]


@dataclass(slots=True)
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


@dataclass(slots=True)
class Report:
    """Scores by field for all pages and for each split; items that are none; what was not right."""

    scores: dict[str, dict[str, Score]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def count(self, split: str, name: str, *, right: int = 0, wrong: int = 0, missed: int = 0) -> None:
        for part in ("all", split):
            score = self.scores.setdefault(part, {}).setdefault(name, Score())
            score.right += right
            score.wrong += wrong
            score.missed += missed

    def table(self) -> str:
        lines = [f"{'field':<18}" + "".join(f"{part:>22}" for part in ("all", "dev", "test"))]
        for name in self.scores["all"]:
            cells = []
            for part in ("all", "dev", "test"):
                score = self.scores.get(part, {}).get(name, Score())
                cells.append(f"{score.f1:.3f} {score.right:>3}/{score.wrong:>2}/{score.missed:>2}")
            lines.append(f"{name:<18}" + "".join(f"{cell:>22}" for cell in cells))
        return "\n".join(lines)


def gold_pages(kind: str) -> Iterator[GoldPage]:
    for line in (FOLDER / kind / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield GoldPage(row["page"], row["url"], row["split"], row["items"])


def source_of(page: GoldPage) -> Source:
    body = (FOLDER / page.name).read_bytes()
    opened = open_body(body, "text/html; charset=utf-8", ContentLimits())
    assert isinstance(opened, Opened)
    content = read_opened(opened, page.url, ContentLimits())
    assert isinstance(content, Content)
    return Source(page.url, opened.text, content, seen_on=SEEN_ON)


Same = Callable[[JsonValue, JsonValue], bool]


def score_kind(kind: str, extract: Callable[[Source], Gathered], fields: Mapping[str, Same]) -> Report:
    """Every page of a kind; an item that a page does not hold makes each of its fields wrong."""
    report = Report()
    for page in gold_pages(kind):
        given = [item.data for item in extract(source_of(page)).items]
        pairs, extra = _matched(page.items, given)
        report.count(page.split, "(item)", right=sum(one is not None for _, one in pairs), wrong=len(extra),
                     missed=sum(one is None for _, one in pairs))  # fmt: skip
        report.faults += [
            f"{page.name} [{page.split}] no such item: {json.dumps(one, ensure_ascii=False)[:300]}" for one in extra
        ]
        for name, same in fields.items():
            for truth, one in pairs:
                _count_field(report, page, name, same, truth, one or {})
            for one in extra:
                report.count(page.split, name, wrong=name in one)
    return report


def _count_field(report: Report, page: GoldPage, name: str, same: Same, truth: Fields, given: Fields) -> None:
    wanted, got = value_at(truth, name), value_at(given, name)
    if wanted is None and got is None:
        return
    accepted = wanted if isinstance(wanted, list) and name != "openingHours" else [wanted]
    if got is not None and wanted is not None and any(same(one, got) for one in accepted):
        report.count(page.split, name, right=1)
        return
    report.count(page.split, name, wrong=got is not None, missed=wanted is not None)
    report.faults.append(f"{page.name} [{page.split}] {name}: wanted {wanted!r}, got {got!r}")


def value_at(item: Fields, name: str) -> JsonValue:
    """`address.postalCode` is a field of a field."""
    value: JsonValue = dict(item)
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _matched(wanted: list[Fields], given: list[Fields]) -> tuple[list[tuple[Fields, Fields | None]], list[Fields]]:
    """Each item of the page with the one given that has most in common with it."""
    left = list(given)
    pairs: list[tuple[Fields, Fields | None]] = []
    for truth in wanted:
        best = max(left, key=lambda one: _common(truth, one), default=None)
        if best is not None and len(wanted) > 1 and _common(truth, best) == 0:
            best = None
        if best is not None:
            left.remove(best)
        pairs.append((truth, best))
    return pairs, left


def _common(truth: Fields, given: Fields) -> int:
    common = 0
    for name, value in truth.items():
        accepted = value if isinstance(value, list) else [value]
        common += (2 if name in ("name", "email") else 1) * any(same_name(one, given.get(name)) for one in accepted)
    return common


def bare(value: JsonValue) -> str:
    return re.sub(r"[\W_]+", " ", str(value if value is not None else "").casefold()).strip()


def same_name(wanted: JsonValue, given: JsonValue) -> bool:
    return given is not None and bare(wanted) == bare(given)


def same_value(wanted: JsonValue, given: JsonValue) -> bool:
    return wanted == given


def same_number(wanted: JsonValue, given: JsonValue) -> bool:
    return isinstance(given, str) and isinstance(wanted, int | float) and float(given) == float(wanted)


def same_url(wanted: JsonValue, given: JsonValue) -> bool:
    return str(wanted).rstrip("/") == str(given).rstrip("/")


def same_words(wanted: JsonValue, given: JsonValue) -> bool:
    """Texts that share most of their words: more or less of a sentence at either end is the same answer."""
    one, other = bare(wanted).split(), bare(given).split()
    shared = len(set(one) & set(other))
    return shared > 0 and 2 * shared / (len(set(one)) + len(set(other))) >= 0.6


def same_pay(wanted: JsonValue, given: JsonValue) -> bool:
    """The same sums, however the words around them are; without sums, the same words."""
    one, other = _numbers(wanted), _numbers(given)
    return one == other if one else same_words(wanted, given)


def _numbers(value: JsonValue) -> list[float]:
    from bailiwick.extract.items.money import amount

    found = re.findall(r"\d[\d.,'\u2019\u00a0\u202f]*(?: \d{3}(?!\d))*k?", str(value))
    numbers = [(amount(text.rstrip("k.,")) or 0) * (1000 if text.endswith("k") else 1) for text in found]
    return sorted({number for number in numbers if number})


def same_hours(wanted: JsonValue, given: JsonValue) -> bool:
    assert isinstance(wanted, list)
    assert isinstance(given, list)
    told = {f"{row['dayOfWeek'][:2]} {row['opens']}-{row['closes']}" for row in given if isinstance(row, dict)}  # type: ignore[index]
    return told == set(map(str, wanted))
