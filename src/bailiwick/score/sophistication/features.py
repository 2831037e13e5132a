"""What is measured of a page for layer 3. Each feature belongs to one signal, so that signals move on their own."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Design:
    """How the page is built: for design_quality. Nothing of it is known where there is no HTML."""

    elements: int = 0
    stylesheets: int = 0
    """Linked ones and style elements of some length."""
    css_chars: int = 0
    """Of style elements and style attributes."""
    style_attributes: int = 0
    has_typeface: bool = False
    """Names a typeface: a font file, or `font-family` in the CSS that is in the page."""
    is_for_small_screens: bool = False
    has_media_rules: bool = False
    landmarks: int = 0
    """Different elements or roles that say what a part is: header, nav, main …"""
    headings: int = 0
    first_headings: int = 0
    heading_skips: int = 0
    """Times a level of headings is left out on the way down."""
    images: int = 0
    described_images: int = 0
    sized_images: int = 0
    fitting_images: int = 0
    """Offered in several sizes, or loaded when they are needed."""
    icons: int = 0
    menu_links: int = 0
    outdated: int = 0
    """Elements and attributes for looks that CSS replaced: font, center, bgcolor, tables in tables."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Whether the text is its own: for content_originality."""

    words: int = 0
    repeated_share: float = 0.0
    """Of the text in sentences that were there before."""
    variety: float | None = None
    """The share of different ones among all runs of four words."""
    top_word: str = ""
    top_word_share: float = 0.0
    quotations: int = 0
    fillers: int = 0
    """Passages of text that only fills a layout (lorem ipsum)."""
    compared_with: int = 0
    older_copies: int = 0
    older_likeness: float = 0.0
    younger_copies: int = 0

    @property
    def copies(self) -> int:
        return self.older_copies + self.younger_copies


@dataclass(frozen=True, slots=True)
class Standing:
    """Who stands for it, and on what it rests: for authority_indicators."""

    author: str = ""
    has_profile: bool = False
    contacts: int = 0
    """Kinds of ways to reach somebody: mail, telephone, a page, an address."""
    contact_link: str = ""
    is_about_told: bool = False
    is_law_told: bool = False
    """Links to an imprint, terms or privacy."""
    is_organisation_named: bool = False
    """In structured data."""
    cited: tuple[str, ...] = ()
    """Sites of others that the main text links to."""
    scholarly: int = 0
    """Of those: governments, universities, journals."""
    references: int = 0
    is_dated: bool = False
    credentials: int = 0


@dataclass(frozen=True, slots=True)
class Presentation:
    """Whether it was made with care: for professional_presentation."""

    has_html: bool = False
    metadata: int = 0
    """Of METADATA."""
    lacking: tuple[str, ...] = ()
    tags: int = 0
    tag_faults: int = 0
    links: int = 0
    empty_links: int = 0
    images: int = 0
    missing_images: int = 0
    structured: int = 0
    """Things that structured data names."""
    bad_structured: int = 0
    is_kept_up: bool = False
    """It says when it was last changed."""
    words: int = 0
    sentence_words: float | None = None
    capital_share: float = 0.0
    exclamations: int = 0
    emoji: int = 0
    oddities: int = 0
    placeholders: int = 0
    garbled: int = 0
    """Places where letters were read in a wrong encoding."""
    sample: str = ""
    """The first of those."""


METADATA = ("title", "description", "language", "canonical address", "sharing title", "sharing image", "encoding")


@dataclass(frozen=True, slots=True)
class Features:
    design: Design = field(default_factory=Design)
    wording: Wording = field(default_factory=Wording)
    standing: Standing = field(default_factory=Standing)
    presentation: Presentation = field(default_factory=Presentation)
