"""One body, from bytes to content, relevance, markdown and items: cheap steps first, dear ones for what matters."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bailiwick.extract.content import ContentLimits, Opened, open_body, read_opened
from bailiwick.extract.extras import has_content
from bailiwick.extract.images.finding import find_images
from bailiwick.extract.markdown import markdown_of
from bailiwick.extract.parsers.facts import StoredPage
from bailiwick.extract.parsers.running import SiteParsers
from bailiwick.extract.relevance import LocalJudge, Subject, judge_for
from bailiwick.model.content import Content, ContentKind, Relevance, Unread
from bailiwick.model.images import PageImages
from bailiwick.model.items import Gathered, Item, ItemKind, ParserTry, Reject
from bailiwick.model.profile_files import load_profile
from bailiwick.model.profiles import MarkdownPolicy, Profile


@dataclass(frozen=True, slots=True)
class Body:
    """What is to be read, and what is known of it already."""

    data: bytes
    content_type: str
    url: str
    profile: str
    known: Collection[bytes] = ()
    """Content hashes of which everything was made before."""
    relevance: Relevance | None = None
    """Judged already, by somebody who knows better than we do here."""
    kinds: Collection[ItemKind] | None = None
    """Kinds of items that are wanted, whatever the profile says."""
    use_parsers: bool = True
    """Whether site parsers may read it: not, after one of them took the process along."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """All that a body holds. Without a relevance its content is known already, and nothing else was made."""

    content: Content
    relevance: Relevance | None
    markdown: str | None = None
    items: list[Item] = field(default_factory=list)
    rejects: list[Reject] = field(default_factory=list)
    tries: list[ParserTry] = field(default_factory=list)
    """What became of site parsers on it."""
    images: PageImages | None = None
    """Where the profile wants images; those of known content too, which is cheap: others may have been there since."""


_READ = 0.9
"""How relevant a page is that has a site parser."""


class PageExtractor:
    """Extracts pages for any number of profiles; what a profile needs is loaded once."""

    def __init__(self, profiles: Path | None, limits: ContentLimits, parsers: SiteParsers | None = None) -> None:
        self._directory, self._limits, self._parsers = profiles, limits, parsers
        self._ready: dict[str, tuple[Profile, LocalJudge]] = {}

    def extract(self, body: Body) -> Extracted | Unread:
        """Everything that one body gives. Never raises for what a page does; a bad profile is a SettingsError."""
        opened = open_body(body.data, body.content_type, self._limits)
        if isinstance(opened, Unread):
            return opened
        content = read_opened(opened, body.url, self._limits)
        if isinstance(content, Unread):
            return content
        profile, judge = self._profile(body.profile)
        if content.content_hash in body.known:
            return Extracted(content, None, images=_images(profile, opened, body.url))
        relevance = body.relevance or self._judged(profile, judge, body, content)
        images = _images(profile, opened, body.url, is_relevant=relevance.is_relevant)
        found = Extracted(content, relevance, images=images)
        if relevance.is_relevant or profile.markdown is MarkdownPolicy.ALL:
            found = replace(found, markdown=_markdown(profile, body, content))
        if relevance.is_relevant:
            html = opened.text if opened.kind is ContentKind.HTML else ""
            gathered = self._gather(profile, body, html, found)
            found = replace(found, items=gathered.items, rejects=gathered.rejects, tries=gathered.tries)
        return found

    def _judged(self, profile: Profile, judge: LocalJudge, body: Body, content: Content) -> Relevance:
        """By its words; but who writes a parser for a page wants it."""
        relevance = judge(Subject.of(content, body.url))
        if relevance.is_relevant or self._parsers is None or not self._parsers.reads(body.url, profile.extractors):
            return relevance
        reason = f"a site parser reads it; {relevance.reason}"
        return replace(relevance, score=max(relevance.score, _READ), is_relevant=True, reason=reason)

    def _gather(self, profile: Profile, body: Body, html: str, found: Extracted) -> Gathered:
        # On use: loading all extractors takes as long as a hundred pages, and a worker itself never needs them.
        from bailiwick.extract.items import gather_items
        from bailiwick.extract.items.source import Source

        source = Source(body.url, html, found.content, found.markdown)
        wanted = profile.extractors if body.kinds is None else body.kinds
        if self._parsers is None or not body.use_parsers:
            return gather_items(source, wanted)
        page = StoredPage(body.url, body.data, body.content_type)
        return gather_items(source, wanted, partial(self._parsers.run, page))

    def _profile(self, name: str) -> tuple[Profile, LocalJudge]:
        if name not in self._ready:
            profile = load_profile(name, self._directory)
            self._ready[name] = (profile, judge_for(profile))
        return self._ready[name]


def _markdown(profile: Profile, body: Body, content: Content) -> str | None:
    """Where no main content is told from the rest, the text stands for it: a PDF, a page of a few words."""
    if profile.markdown is MarkdownPolicy.NONE or not has_content():
        return None
    return markdown_of(body.data, body.content_type, body.url) or content.text


def _images(profile: Profile, opened: Opened, url: str, *, is_relevant: bool = True) -> PageImages | None:
    if ItemKind.IMAGE not in profile.extractors:
        return None
    found = find_images(opened.tree, url) if is_relevant and opened.kind is ContentKind.HTML else []
    return PageImages(found, profile.images.download)
