"""How entries of the review queue are shown: a row each in lists, and one with all its evidence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import click
from pydantic import JsonValue

from bailiwick.cli.output import Row, printable, stamp
from bailiwick.model.layers import Factor, Flag, Layer1Results, Layer2Results, Layer3Results, Proof
from bailiwick.review.detail import Detail
from bailiwick.review.listing import Entry, Order, place_of

COLUMNS = ("id", "score", "band", "waits", "held_by", "url")
DECIDED_COLUMNS = ("id", "score", "band", "decision", "by", "url")
_QUOTED_CHARS = 140
_PROOFS = 3


def entry_row(entry: Entry, order: Order = "age") -> Row:
    """For machines: the words of 003."""
    value, last = place_of(entry, order)
    return {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "domain": entry.domain,
        "job_id": entry.job_id,
        "profile": entry.profile,
        "state": entry.state,
        "confidence_band": entry.confidence_band,
        "confidence_score": entry.confidence_score,
        "evidence_confidence": entry.evidence_confidence,
        "learned_probability": entry.learned_probability,
        "information": entry.information,
        "reasoning": entry.reasoning,
        "is_stale": entry.is_stale,
        "is_audit": entry.is_audit,
        "submitted_by": entry.submitter,
        "claimed_by": entry.claimer if entry.is_claimed else None,
        "claimed_until": stamp(entry.claimed_until) if entry.is_claimed and entry.claimed_until else None,
        "queued_at": stamp(entry.queued_at),
        "reviewed_at": stamp(entry.reviewed_at) if entry.reviewed_at else None,
        "reviewed_by": entry.reviewer,
        "review_decision": entry.state if entry.reviewed_at else None,
        "reviewer_notes": entry.reviewer_notes,
        "is_self_approved": entry.is_self_approved,
        "version": entry.version,
        "cursor": f"{value if isinstance(value, float) else value.isoformat()}:{last}",
    }


def cells(row: Row) -> Row:
    """For people: one line of a list."""
    decided = str(row["state"]) + (" (own)" if row["is_self_approved"] else "")
    return {
        **row,
        "score": f"{float(str(row['confidence_score'])):.2f}",
        "band": row["confidence_band"],
        "waits": ", ".join([f"since {row['queued_at']}", *(mark for mark in ("stale", "audit") if row[f"is_{mark}"])]),
        "held_by": row["claimed_by"],
        "decision": decided,
        "by": f"{row['reviewed_by']}, {row['reviewed_at']}",
    }


def below(row: Row) -> str | None:
    notes = row["reviewer_notes"] or row["title"]
    return str(notes)[:_QUOTED_CHARS] if notes else None


def detail_row(detail: Detail) -> Row:
    """For machines: everything."""
    similar: list[JsonValue] = [
        {
            "id": one.id,
            "url": one.url,
            "decision": one.state,
            "confidence_score": one.confidence_score,
            "reviewed_by": one.reviewer,
            "reviewed_at": stamp(one.reviewed_at),
            "reviewer_notes": one.reviewer_notes,
        }
        for one in detail.similar
    ]
    evidence: dict[str, JsonValue] = {
        layer: {name: [proof.stored() for proof in some] for name, some in found.items()}
        for layer, found in detail.proofs.items()
    }
    return {
        **entry_row(detail.entry),
        "sophistication_signals": {**detail.layer3.scores()},
        "layer1_results": detail.layer1.stored(),
        "layer2_results": detail.layer2.stored(),
        "layer3_results": detail.layer3.stored(),
        "layer3_by": detail.layer3_by,
        "evidence": evidence,
        "policy_version": detail.policy_version,
        "model_id": detail.model_id,
        "evaluated_at": stamp(detail.evaluated_at),
        "results_of_domain": {**detail.decided},
        "similar_decisions": similar,
    }


def show_detail(detail: Detail) -> None:
    """For people: what it is, what speaks for it and against it and why, what was decided nearby."""
    entry = detail.entry
    click.echo(click.style(printable(entry.title or "(no title)"), bold=True) + f"  [{entry.id}]")
    for name, value in _facts(detail).items():
        if value:
            click.echo(printable(f"  {name:<11} {value}"))
    show_layers(detail)
    if detail.decided:
        counts = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in detail.decided.items())
        click.echo(printable(f"  other URLs of {entry.domain}: {counts}"))
    for one in detail.similar:
        notes = f": {one.reviewer_notes[:_QUOTED_CHARS]}" if one.reviewer_notes else ""
        click.echo(printable(f"    {one.confidence_score:.2f} {one.state} by {one.reviewer}  {one.url}{notes}"))


class Layers(Protocol):
    """The three layers, and what their findings rest on."""

    @property
    def layer1(self) -> Layer1Results: ...
    @property
    def layer2(self) -> Layer2Results: ...
    @property
    def layer3(self) -> Layer3Results: ...
    @property
    def layer3_by(self) -> str: ...
    @property
    def proofs(self) -> Mapping[str, Mapping[str, Sequence[Proof]]]: ...


def show_layers(found: Layers) -> None:
    """For people: what passed, what did not, what could not be checked and why, each with its evidence."""
    for title, lines in (
        ("layer 1, the domain", _factors(found)),
        ("layer 2, rules", _flags(found)),
        (f"layer 3, sophistication (by {found.layer3_by})", _signals(found)),
    ):
        click.echo(click.style(printable(f"  {title}"), bold=True))
        for line in lines:
            click.echo(printable(line))


def _facts(detail: Detail) -> dict[str, str | None]:
    entry = detail.entry
    learned = f", learned {entry.learned_probability:.2f}" if entry.learned_probability is not None else ""
    score = f"{entry.confidence_score:.2f} {entry.confidence_band} (evidence {entry.evidence_confidence:.2f}{learned})"
    until = stamp(entry.claimed_until) if entry.claimed_until else ""
    decided = f"{entry.state} by {entry.reviewer}, {stamp(entry.reviewed_at)}" if entry.reviewed_at else None
    if decided and entry.is_self_approved:
        decided += ", who handed it in"
    return {
        "url": entry.url,
        "confidence": f"{score}, profile {entry.profile}, weights {detail.policy_version}",
        "waits": None if decided else f"since {stamp(entry.queued_at)}" + (", stale" if entry.is_stale else ""),
        "audit": f"{entry.confidence_band} has decided it: say whether rightly" if entry.is_audit else None,
        "held": f"by {entry.claimer} until {until}" if entry.is_claimed else None,
        "decided": decided,
        "notes": entry.reviewer_notes,
        "submitted": f"by {entry.submitter}, job {entry.job_id}",
        "reasoning": entry.reasoning,
    }


def _factors(detail: Layers) -> Iterator[str]:
    for name, part in detail.layer1.parts():
        passed = isinstance(part, Factor) and part.passed
        yield _line("+" if passed else "-", name, _values(part), detail.layer1.unchecked.get(name))
        yield from _proofs(detail, "layer1", name)


def _flags(detail: Layers) -> Iterator[str]:
    for name, part in detail.layer2.parts():
        found = isinstance(part, Flag) and part.detected
        told = ", ".join(filter(None, ("found" if found else "not found", _values(part))))
        yield _line("*" if found else " ", name, told, detail.layer2.unchecked.get(name))
        yield from _proofs(detail, "layer2", name)


def _signals(detail: Layers) -> Iterator[str]:
    for name, score in detail.layer3.scores().items():
        signal = getattr(detail.layer3, name)
        yield _line("+" if signal.detected else "-", name, f"{score:.2f}  {signal.reasoning or ''}".rstrip(), None)
        yield from _proofs(detail, "layer3", name)


def _line(sign: str, name: str, told: str, unchecked: str | None) -> str:
    sign, told = ("?", f"not checked: {unchecked}") if unchecked else (sign, told)
    return f"    {sign} {name.replace('_', ' '):<26} {told}".rstrip()


def _values(part: Factor | Flag) -> str:
    """What was measured: everything that a part says beyond its answer."""
    kept = {name: value for name, value in part.stored().items() if name not in ("checked", "passed", "detected")}
    return ", ".join(f"{name.replace('_', ' ')} {_value(value)}" for name, value in kept.items() if value != [])


def _value(value: JsonValue) -> str:
    if isinstance(value, list):
        shown = ", ".join(str(one) for one in value[:_PROOFS])
        return shown + (f" and {len(value) - _PROOFS} more" if len(value) > _PROOFS else "")
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _proofs(detail: Layers, layer: str, name: str) -> Iterator[str]:
    proofs: Sequence[Proof] = detail.proofs.get(layer, {}).get(name, ())
    for proof in proofs[:_PROOFS]:
        yield f"        “{proof.text[:_QUOTED_CHARS]}”" + (f"  {proof.url}" if proof.url else "")
