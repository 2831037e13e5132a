"""A body looked at for an evaluation: read into material, and scored by layers 2 and 3. Runs in a child process."""

import base64
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter
from selectolax.lexbor import LexborHTMLParser

from bailiwick.evidence.embedding import shipped_embedder
from bailiwick.extract.addresses import absolute
from bailiwick.extract.content import ContentLimits, open_body, read_opened
from bailiwick.model.content import ContentKind, Unread
from bailiwick.model.layers import Layer2Results, Layer3Results, Proof
from bailiwick.model.material import PageLink, PageMaterial, SiteMaterial
from bailiwick.model.scoring import ScorePolicy
from bailiwick.model.words import words_of
from bailiwick.score.rules import assess_rules, likely_pages, links_to_check
from bailiwick.score.sophistication import assess_locally

_MOST_LINKS = 2000
_LINK_CHARS = 200
_EXCERPT_CHARS = 20_000
_EMBEDDED_WORDS = 2000


class Look(BaseModel):
    """What is wanted of a body."""

    model_config = ConfigDict(frozen=True)

    url: str
    content_type: str
    languages: tuple[str, ...] = ()
    policy: ScorePolicy | None = None
    """With a policy the page is assessed, without one it is only read."""
    site: dict[str, Any] | None = None


class Seen(BaseModel):
    """What a body holds: the first look, after which is known what else to fetch."""

    model_config = ConfigDict(frozen=True)

    is_empty: bool
    """There is nothing to look at: neither markup nor text."""
    why: str = ""
    title: str = ""
    language: str | None = None
    text: str = ""
    """The beginning of its main text."""
    html: str = ""
    content_hash: str | None = None
    simhash: int | None = None
    likely_pages: tuple[str, ...] = ()
    links_to_check: tuple[str, ...] = ()


class Assessed(BaseModel):
    """Layers 2 and 3 of a page. Without a layer 3 there was nothing to look at."""

    model_config = ConfigDict(frozen=True)

    layer2: Layer2Results
    proofs2: dict[str, tuple[Proof, ...]]
    layer3: Layer3Results | None = None
    proofs3: dict[str, tuple[Proof, ...]] = {}
    reasoning: str = ""
    by: str = ""
    embedding: str | None = None
    """float16, in base64."""

    @property
    def vector(self) -> bytes | None:
        return None if self.embedding is None else base64.b64decode(self.embedding)


@dataclass(frozen=True, slots=True)
class _Read:
    material: PageMaterial
    unread: Unread | None
    content_hash: bytes | None
    simhash: int | None


SITE: TypeAdapter[SiteMaterial] = TypeAdapter(SiteMaterial)


def see(look: Look, body: bytes, limits: ContentLimits) -> Seen:
    """The first look."""
    read = _read(look, body, limits)
    page = read.material
    return Seen(
        is_empty=not page.html.strip() and not page.text.strip(),
        why=read.unread.why if read.unread is not None else "",
        title=page.title,
        language=page.language,
        text=page.text[:_EXCERPT_CHARS],
        html=page.html[:_EXCERPT_CHARS],
        content_hash=read.content_hash.hex() if read.content_hash is not None else None,
        simhash=read.simhash,
        likely_pages=likely_pages(page, look.languages),
        links_to_check=links_to_check(page),
    )


def assess(look: Look, body: bytes, limits: ContentLimits) -> Assessed:
    """The second look, with all that is known of the site."""
    policy = look.policy or ScorePolicy()
    page = _read(look, body, limits).material
    site = SITE.validate_python(look.site or {})
    layer2, proofs2 = assess_rules(page, site, policy, look.languages)
    found = assess_locally(page, site, policy)
    assessed = Assessed(layer2=layer2, proofs2=dict(proofs2), embedding=_embedding(page))
    if found is None:
        return assessed
    return assessed.model_copy(
        update={"layer3": found.results, "proofs3": dict(found.proofs), "reasoning": found.reasoning, "by": found.by}
    )


def site_values(site: SiteMaterial) -> dict[str, Any]:
    """For the way to the child."""
    return asdict(site)


def _read(look: Look, body: bytes, limits: ContentLimits) -> _Read:
    opened = open_body(body, look.content_type, limits)
    if isinstance(opened, Unread):
        return _Read(PageMaterial(look.url, "", ""), opened, None, None)
    html = opened.text if opened.kind is ContentKind.HTML else ""
    content = read_opened(opened, look.url, limits)
    if isinstance(content, Unread):  # a page made by scripts still has markup, links and a head
        return _Read(PageMaterial(look.url, html, "", links=_links(html, look.url)), content, None, None)
    page = PageMaterial(
        url=look.url,
        html=html,
        text=content.text,
        title=content.title or "",
        language=content.language,
        links=_links(html, look.url),
        published=_day(content.published_at),
        modified=_day(content.modified_at),
    )
    return _Read(page, None, content.content_hash, content.simhash)


def _links(html: str, base: str) -> tuple[PageLink, ...]:
    if not html:
        return ()
    found = []
    for node in LexborHTMLParser(html).css("a[href]"):
        address = absolute(node.attributes.get("href"), base)
        if address is not None:
            text = " ".join(node.text().split())[:_LINK_CHARS] or (node.attributes.get("title") or "")[:_LINK_CHARS]
            found.append(PageLink(address, text, node.attributes.get("rel") or ""))
        if len(found) == _MOST_LINKS:
            break
    return tuple(found)


def _embedding(page: PageMaterial) -> str | None:
    embedder = shipped_embedder()
    words = words_of(f"{page.title} {page.text[:_EXCERPT_CHARS]}")[:_EMBEDDED_WORDS]
    if embedder is None or not words:
        return None
    import numpy as np

    return base64.b64encode(embedder.embed([words])[0].astype(np.float16).tobytes()).decode()


def _day(moment: datetime | None) -> date | None:
    return moment.date() if moment is not None else None
