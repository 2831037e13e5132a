"""Layer 1 of an evaluation: facts of a domain, weighed by a policy. Pure: the same facts give the same results."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Generic, TypeVar

from bailiwick.model.layers import (
    MAX_WHY_CHARS,
    DomainAge,
    Factor,
    Layer1Results,
    Proof,
    Proofs,
    RegistrarReputation,
    SslCertificate,
    TldType,
    WhoisPrivacy,
)
from bailiwick.model.names import DomainName
from bailiwick.model.scoring import ScorePolicy
from bailiwick.score.facts.known import DomainFacts, Registration

FIRST_DOMAIN = date(1985, 1, 1)
"""symbolics.com came in March; whatever is older is wrong."""
_NO_END = "IP addresses and names of one word have no top-level domain"

Part = TypeVar("Part", bound=Factor)


@dataclass(frozen=True, slots=True)
class _Finding(Generic[Part]):
    """A factor and the words that it rests on: what was seen if it is checked, else why it is not."""

    part: Part
    words: str


def assess_domain(
    name: DomainName, facts: DomainFacts, policy: ScorePolicy, now: datetime
) -> tuple[Layer1Results, Proofs]:
    """The five factors of 003, and a proof for each that was checked."""
    age, end = _age(facts, policy, now), _end(name, policy)
    registrar, privacy, certificate = _registrar(facts, policy), _privacy(facts), _certificate(facts, now)
    found: dict[str, _Finding[Factor]] = {
        "domain_age": _Finding(age.part, age.words),
        "tld_type": _Finding(end.part, end.words),
        "registrar_reputation": _Finding(registrar.part, registrar.words),
        "whois_privacy": _Finding(privacy.part, privacy.words),
        "ssl_certificate": _Finding(certificate.part, certificate.words),
    }
    layer = Layer1Results(
        domain_age=age.part,
        tld_type=end.part,
        registrar_reputation=registrar.part,
        whois_privacy=privacy.part,
        ssl_certificate=certificate.part,
        unchecked={factor: _short(one.words) for factor, one in found.items() if not one.part.checked},
    )
    proofs = {factor: (Proof(text=_short(one.words)),) for factor, one in found.items() if one.part.checked}
    return layer, proofs


def effective_tld(name: DomainName) -> str | None:
    """The public suffix that the name is registered under: `com`, `co.uk`. None: there is none."""
    if name.is_address or "." not in name.host:
        return None
    # Something below the name, so that a name that is a public suffix itself is its own.
    return DomainName(f"x.{name.host}").shared_key.partition(".")[2]


def _age(facts: DomainFacts, policy: ScorePolicy, now: datetime) -> _Finding[DomainAge]:
    registration = facts.registration
    threshold = policy.min_age_days
    if registration is None or registration.registered_on is None:
        return _Finding(DomainAge(threshold=threshold), _missing(facts, "registered_on"))
    day = registration.registered_on
    if (lie := _lie(registration, now)) is not None:
        return _Finding(DomainAge(threshold=threshold), f"{lie} ({_teller(registration)})")
    days = max((now.date() - day).days, 0)
    part = DomainAge(checked=True, passed=days >= threshold, value=days, threshold=threshold)
    return _Finding(part, f"registered {day} ({_teller(registration)})")


def _lie(registration: Registration, now: datetime) -> str | None:
    """Why a date of registration cannot be true."""
    day, end = registration.registered_on, registration.expires_on
    if day is None:
        return None
    if day > now.date() + timedelta(days=1):  # it may be tomorrow already where the registry is
        return f"the date of registration, {day}, is in the future"
    if day < FIRST_DOMAIN:
        return f"the date of registration, {day}, is before there were domains"
    if end is not None and end < day:
        return f"the registration of {day} would have expired before, on {end}"
    return None


def _end(name: DomainName, policy: ScorePolicy) -> _Finding[TldType]:
    end = effective_tld(name)
    if end is None:
        return _Finding(TldType(), _NO_END)
    flags = tuple(flag for flag in _unique(policy.tld_red_flags) if f".{end}".endswith(f".{flag.lstrip('.')}"))
    part = TldType(checked=True, passed=not flags, value=end, red_flags=flags)
    return _Finding(part, f".{end}" + (f", flagged as .{flags[0].lstrip('.')}" if flags else ""))


def _registrar(facts: DomainFacts, policy: ScorePolicy) -> _Finding[RegistrarReputation]:
    registration = facts.registration
    if registration is None or registration.registrar is None:
        return _Finding(RegistrarReputation(), _missing(facts, "registrar"))
    registrar = registration.registrar
    flags = tuple(flag for flag in _unique(policy.registrar_red_flags) if flag.casefold() in registrar.casefold())
    part = RegistrarReputation(checked=True, passed=not flags, value=registrar, red_flags=flags)
    words = f"registrar {registrar} ({_teller(registration)})"
    return _Finding(part, words + (f", flagged as {', '.join(flags)}" if flags else ""))


def _privacy(facts: DomainFacts) -> _Finding[WhoisPrivacy]:
    registration = facts.registration
    if registration is None or registration.is_private is None:
        return _Finding(WhoisPrivacy(), _missing(facts, "is_private"))
    enabled = registration.is_private
    part = WhoisPrivacy(checked=True, passed=not enabled, enabled=enabled)
    return _Finding(part, f"the registrant is {'hidden' if enabled else 'shown'} ({_teller(registration)})")


def _certificate(facts: DomainFacts, now: datetime) -> _Finding[SslCertificate]:
    shown = facts.certificate
    if shown is None:
        return _Finding(SslCertificate(), facts.certificate_why or "no certificate was looked at")
    end = shown.not_after
    has_ended = end is not None and end <= now  # maybe since it was looked at
    is_valid = shown.is_valid and not has_ended
    part = SslCertificate(checked=True, passed=is_valid, valid=is_valid, issuer=shown.issuer)
    words = f"certificate by {shown.issuer or 'somebody unnamed'}" + (f" until {end.date()}" if end else "")
    why = "" if is_valid else f", not valid: {shown.why or 'it has expired'}"
    return _Finding(part, words + why)


def _missing(facts: DomainFacts, fact: str) -> str:
    if facts.registration is None:
        return facts.registration_why or "no registry was asked"
    return facts.registration.why_not.get(fact) or "the registry does not tell"


def _teller(registration: Registration) -> str:
    return registration.source.upper() + (f", {registration.server}" if registration.server else "")


def _unique(texts: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(texts)


def _short(text: str) -> str:
    return text if len(text) <= MAX_WHY_CHARS else f"{text[: MAX_WHY_CHARS - 1]}…"
