"""Who offers it and what it is called, read from a title: `ERC Starting Grant | European Research Council`."""

import re
from dataclasses import dataclass

from bailiwick.judge.recency_words import HEADLINE_VERBS
from bailiwick.model.words import words_of

_ORGANISATION = frozenset(
    """
    foundation trust council ministry department university college institute agency society association academy
    commission federation alliance centre center embassy bank board office union initiative conservancy endowment
    stiftung fondation fundación fundação fondazione stichting universität université universidad institut institution
    """.split()  # noqa: SIM905
)
_PROGRAMME = frozenset(
    """
    grant grants fellowship fellowships scholarship scholarships award awards prize prizes program programme programs
    programmes bursary bursaries microgrants stipend stipends fund scheme residency internships internship competition
    challenge accelerator call stipendium stipendien förderung bourse bourses beca becas premio appel convocatoria
    """.split()  # noqa: SIM905
)
_NO_NAME = frozenset(
    """
    how what why who when which top best list guide tips about home welcome apply find get write learn meet compare
    your our my these is are can do does jobs news help donate now hiring buy free claim
    """.split()  # noqa: SIM905
)
_GENERAL = frozenset("open for of the and or proposals applications projects funding past current all us".split())  # noqa: SIM905
# Signs between the parts of a title; a bare hyphen or colon only where it cannot be part of a word.
_BETWEEN = re.compile(r" [|·•»@] | (?:-|--|\u2013|\u2014|::?) |: ")
_BRACKETED = re.compile(r"\s*[(\[][^()\[\]]{1,60}[)\]]\s*$")
_MAX_WORDS, _MAX_CHARS, _READ_CHARS = 10, 100, 300
_SHORTEST_HOST_LABEL = 3


@dataclass(frozen=True, slots=True)
class Names:
    organisation: str | None = None
    programme: str | None = None


_UNSURE = Names()


def names_in(title: str, host: str) -> Names:
    """None for what the title does not clearly say."""
    parts = [part.strip(" `'\"*-\u2013|") for part in _BETWEEN.split(title[:_READ_CHARS])]
    words = [(part, words_of(part)) for part in parts if part]
    if not words:
        return _UNSURE
    organisation = _by_host(words, host)
    programme = next((part for part, found in words if part != organisation and _is_programme(found)), None)
    if organisation is None:
        organisation = next((part for part, found in words if part != programme and _is_organisation(found)), None)
    if programme is not None and organisation is None:
        organisation = _leading(programme)
    return Names(_short(organisation), _short(programme))


def _is_programme(words: list[str]) -> bool:
    """A kind of programme, and a word that is more than that: not `Open Call 2026`."""
    return (
        _is_name(words)
        and not _PROGRAMME.isdisjoint(words)
        and any(word not in _PROGRAMME and word not in _GENERAL and not word.isdecimal() for word in words)
    )


def _is_organisation(words: list[str]) -> bool:
    return _is_name(words) and not _ORGANISATION.isdisjoint(words) and len(words) > 1 and _PROGRAMME.isdisjoint(words)


def _is_name(words: list[str]) -> bool:
    """Short, no question, no advice, no headline."""
    return (
        0 < len(words) <= _MAX_WORDS
        and words[0] not in _NO_NAME
        and not words[0].isdecimal()
        and HEADLINE_VERBS.isdisjoint(words)
    )


def _by_host(parts: list[tuple[str, list[str]]], host: str) -> str | None:
    """A part that is spelled like a label of the host: `Bugfender` at bugfender.com."""
    labels = {label.replace("-", "") for label in host.split(".")[:-1] if len(label) >= _SHORTEST_HOST_LABEL}
    return next((part for part, words in parts if "".join(words) in labels), None)


def _leading(programme: str) -> str | None:
    """`Wellcome Trust` of `Wellcome Trust Career Development Awards`."""
    spelled = programme.split()
    for position, word in enumerate(spelled[:-1]):
        if position and word.lower() in _ORGANISATION:
            return " ".join(spelled[: position + 1])
    return None


def _short(name: str | None) -> str | None:
    if name is None or len(name) > _MAX_CHARS:
        return None
    return _BRACKETED.sub("", name) or None
