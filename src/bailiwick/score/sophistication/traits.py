"""The traits that each signal is made of, with their weights: all that can be tuned of the local model.

A trait gives a mark from -1 (speaks against the page) to 1 (speaks for it), 0 if it says nothing, None if it could not
be looked at; some can only speak for a page, some only against it. What it saw is told in a few words.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bailiwick.score.sophistication.features import METADATA, Features, Wording
from bailiwick.score.sophistication.marks import between, counted, fault, has, merit, share, yes


@dataclass(frozen=True, slots=True)
class Trait:
    weight: float
    mark: Callable[[Features], float | None]
    told: Callable[[Features], str]


DESIGN = (
    Trait(
        4.0,
        lambda f: between(f.design.stylesheets, 0, 1),
        lambda f: f"{counted(f.design.stylesheets, 'stylesheet')}",
    ),
    Trait(
        1.0,
        lambda f: between(min(f.design.css_chars, 2_000), 0, 1_000) if not f.design.stylesheets else None,
        lambda f: f"{f.design.css_chars:,} characters of CSS in the page",
    ),
    Trait(
        1.0,
        lambda f: 1.0 if f.design.has_typeface or f.design.has_media_rules else None if f.design.stylesheets else -1.0,
        lambda f: has(f.design.has_typeface or f.design.has_media_rules, "typefaces or rules for screens in the page"),
    ),
    Trait(
        2.0,
        lambda f: yes(f.design.is_for_small_screens),
        lambda f: has(f.design.is_for_small_screens, "a viewport for small screens"),
    ),
    Trait(
        1.5,
        lambda f: between(f.design.landmarks, 0, 4),
        lambda f: counted(f.design.landmarks, "kind of landmark", "kinds of landmarks"),
    ),
    Trait(
        1.0,
        lambda f: between(abs(f.design.first_headings - 1), 3, 0),
        lambda f: counted(f.design.first_headings, "main heading"),
    ),
    Trait(
        0.7,
        lambda f: between(share(f.design.heading_skips, f.design.headings), 0.3, 0) if f.design.headings else -1.0,
        lambda f: (
            f"{counted(f.design.heading_skips, 'skipped level', 'skipped levels')} in "
            f"{counted(f.design.headings, 'heading')}"
        ),
    ),
    Trait(
        1.0,
        lambda f: between(share(f.design.described_images, f.design.images), 0.3, 0.95) if f.design.images else None,
        lambda f: f"{f.design.described_images} of {f.design.images} images have an alternative text",
    ),
    Trait(
        0.5,
        lambda f: merit(share(f.design.sized_images, f.design.images), 0.8) if f.design.images else None,
        lambda f: f"{f.design.sized_images} of {f.design.images} images say their size",
    ),
    Trait(
        0.5,
        lambda f: merit(f.design.fitting_images, 3) if f.design.images else None,
        lambda f: f"{counted(f.design.fitting_images, 'image')} in several sizes or loaded when needed",
    ),
    Trait(0.7, lambda f: yes(f.design.icons > 0), lambda f: has(f.design.icons > 0, "an icon of the site")),
    Trait(
        0.7,
        lambda f: between(f.design.menu_links, 0, 4),
        lambda f: f"{counted(f.design.menu_links, 'link')} in menus",
    ),
    Trait(
        1.5,
        lambda f: fault(share(f.design.outdated, f.design.elements), 0.05),
        lambda f: f"{f.design.outdated} outdated elements for looks",
    ),
    Trait(
        0.7,
        lambda f: fault(share(f.design.style_attributes, f.design.elements), 0.4),
        lambda f: f"{f.design.style_attributes} style attributes",
    ),
)


_SOME_WORDS = 40
"""Fewer have no room to repeat themselves."""


def _unlike(wording: Wording) -> float | None:
    """That nothing stored is alike says the more, the more was looked at."""
    is_told = wording.compared_with and wording.words and not wording.copies
    return merit(wording.compared_with, 1_000) if is_told else None


ORIGINALITY = (
    # Weighs only where it is found: whatever else speaks for a copied text, it speaks for somebody else's.
    Trait(
        24.0,
        lambda f: -between(f.wording.older_likeness, -0.4, 0.9) if f.wording.older_copies else None,
        lambda f: (
            f"{counted(f.wording.older_copies, 'older page')} elsewhere with {f.wording.older_likeness:.0%} "
            "the same text"
        ),
    ),
    Trait(
        2.0,
        lambda f: _unlike(f.wording),
        lambda f: f"none of the {f.wording.compared_with:,} texts it was compared with is alike",
    ),
    Trait(
        4.0,
        lambda f: between(f.wording.repeated_share, 0.3, 0) if f.wording.words >= _SOME_WORDS else None,
        lambda f: f"{f.wording.repeated_share:.0%} of the text repeats itself",
    ),
    Trait(
        3.0,
        lambda f: None if f.wording.variety is None else between(f.wording.variety, 0.6, 0.98),
        lambda f: f"{f.wording.variety or 0:.0%} of its runs of four words are different ones",
    ),
    Trait(2.0, lambda f: between(f.wording.words, 50, 700), lambda f: counted(f.wording.words, "word")),
    Trait(
        1.5,
        lambda f: fault(f.wording.top_word_share - 0.03, 0.06),
        lambda f: f"one word makes {f.wording.top_word_share:.0%} of the text",
    ),
    Trait(1.0, lambda f: merit(f.wording.quotations, 3), lambda f: counted(f.wording.quotations, "quotation")),
    Trait(
        3.0, lambda f: fault(f.wording.fillers, 1), lambda f: counted(f.wording.fillers, "passage") + " of filler text"
    ),
)

AUTHORITY = (
    Trait(2.5, lambda f: yes(bool(f.standing.author)), lambda f: has(bool(f.standing.author), "a named author")),
    Trait(
        0.8,
        lambda f: 1.0 if f.standing.has_profile else 0.0,
        lambda f: has(f.standing.has_profile, "a profile of the author"),
    ),
    Trait(
        2.5,
        lambda f: -1.0 if not f.standing.contacts else 0.4 + 0.6 * merit(f.standing.contacts - 1, 2),
        lambda f: counted(f.standing.contacts, "way to make contact", "ways to make contact"),
    ),
    Trait(
        1.5,
        lambda f: yes(f.standing.is_about_told),
        lambda f: has(f.standing.is_about_told, "a page about who they are"),
    ),
    Trait(
        1.0,
        lambda f: yes(f.standing.is_law_told),
        lambda f: has(f.standing.is_law_told, "an imprint, terms or privacy page"),
    ),
    Trait(
        1.0,
        lambda f: 1.0 if f.standing.is_organisation_named else 0.0,
        lambda f: has(f.standing.is_organisation_named, "an organisation in structured data"),
    ),
    Trait(
        2.0,
        lambda f: between(len(f.standing.cited), 0, 3),
        lambda f: f"{counted(len(f.standing.cited), 'site')} of others cited",
    ),
    Trait(
        0.7,
        lambda f: merit(f.standing.scholarly, 2),
        lambda f: f"{counted(f.standing.scholarly, 'source')} of science or government",
    ),
    Trait(0.5, lambda f: merit(f.standing.references, 3), lambda f: counted(f.standing.references, "reference")),
    Trait(0.8, lambda f: yes(f.standing.is_dated), lambda f: has(f.standing.is_dated, "a date")),
    Trait(0.5, lambda f: merit(f.standing.credentials, 1), lambda f: counted(f.standing.credentials, "credential")),
)


def _per_thousand(count: int, features: Features) -> float:
    return 1000 * count / max(200, features.presentation.words)


PRESENTATION = (
    Trait(
        3.0,
        lambda f: between(f.presentation.metadata, 2, len(METADATA)) if f.presentation.has_html else None,
        lambda f: f"{f.presentation.metadata} of {len(METADATA)} kinds of metadata",
    ),
    Trait(
        5.0,
        lambda f: (
            between(share(f.presentation.tag_faults, f.presentation.tags), 0.05, 0) if f.presentation.tags else None
        ),
        lambda f: f"{counted(f.presentation.tag_faults, 'fault')} in {f.presentation.tags:,} tags",
    ),
    Trait(
        2.0,
        lambda f: (
            between(share(f.presentation.empty_links, f.presentation.links), 0.15, 0) if f.presentation.links else None
        ),
        lambda f: f"{f.presentation.empty_links} of {f.presentation.links} links are empty",
    ),
    Trait(
        2.0,
        lambda f: (
            between(share(f.presentation.missing_images, f.presentation.images), 0.25, 0)
            if f.presentation.images
            else None
        ),
        lambda f: f"{f.presentation.missing_images} of {f.presentation.images} images are missing",
    ),
    Trait(
        2.0,
        lambda f: between(f.presentation.structured, 0, 4) if f.presentation.has_html else None,
        lambda f: f"{counted(f.presentation.structured, 'kind')} of structured data",
    ),
    Trait(
        1.0,
        lambda f: fault(f.presentation.bad_structured, 1) if f.presentation.has_html else None,
        lambda f: f"{counted(f.presentation.bad_structured, 'block')} of structured data that cannot be read",
    ),
    Trait(
        1.0,
        lambda f: yes(f.presentation.is_kept_up),
        lambda f: has(f.presentation.is_kept_up, "a date of the last change"),
    ),
    Trait(
        1.0,
        lambda f: None if f.presentation.sentence_words is None else _readable(f.presentation.sentence_words),
        lambda f: f"{f.presentation.sentence_words or 0:.0f} words a sentence",
    ),
    Trait(
        1.5,
        lambda f: fault(f.presentation.capital_share - 0.05, 0.2),
        lambda f: f"{f.presentation.capital_share:.0%} of the words in capitals",
    ),
    Trait(
        1.5,
        lambda f: fault(_per_thousand(f.presentation.exclamations, f) - 4, 16),
        lambda f: counted(f.presentation.exclamations, "exclamation mark"),
    ),
    Trait(
        1.0,
        lambda f: fault(_per_thousand(f.presentation.emoji, f) - 3, 15),
        lambda f: f"{f.presentation.emoji} emoji",
    ),
    Trait(
        1.0,
        lambda f: fault(_per_thousand(f.presentation.oddities, f) - 3, 30),
        lambda f: f"{f.presentation.oddities} odd spellings",
    ),
    Trait(
        2.0,
        lambda f: fault(f.presentation.placeholders, 2),
        lambda f: f"{counted(f.presentation.placeholders, 'placeholder')} left in the text",
    ),
    Trait(
        3.0,
        lambda f: fault(_per_thousand(f.presentation.garbled, f), 10),
        lambda f: counted(f.presentation.garbled, "garbled letter"),
    ),
)


def _readable(sentence_words: float) -> float:
    """Best from 10 to 25 words."""
    return min(between(sentence_words, 2, 8), between(sentence_words, 60, 28))


TRAITS: Mapping[str, tuple[Trait, ...]] = {
    "design_quality": DESIGN,
    "content_originality": ORIGINALITY,
    "authority_indicators": AUTHORITY,
    "professional_presentation": PRESENTATION,
}
