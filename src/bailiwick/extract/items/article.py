"""Items of kind `article`: pages that are one, by their own word or by their looks."""

from bailiwick.extract.addresses import absolute
from bailiwick.extract.linked_data import ARTICLE_TYPES
from bailiwick.extract.markdown import text_of_markdown
from bailiwick.model.content import Content, ContentKind
from bailiwick.model.items import Item, ItemKind
from bailiwick.model.schemas.article import Article, Author
from bailiwick.model.schemas.parts import Image

EXTRACTOR = "article"
VERSION = 1
_LEAST_WORDS_SAID, _LEAST_WORDS_SEEN = 30, 150
_PROSE_LINE = 200
"""Characters from which on a line is a paragraph."""
_LEAST_PROSE = 0.5
_SAID_TYPES = frozenset({"article", "blog", "news.article"})
_SAID_BY_DATA, _SAID_BY_META, _SEEN = 0.95, 0.8, 0.6


def article_of(content: Content, markdown: str | None, url: str) -> Item | None:
    """The article that a page is, with how sure that is; None for other pages."""
    if not _may_be_one(content):
        return None
    body = text_of_markdown(markdown) if markdown else content.text
    confidence = _confidence(content, body)
    if confidence is None:
        return None
    image = absolute(content.meta.get("ld:image") or content.meta.get("og:image"), url)
    names = [name.strip() for name in (content.author or "").split("; ")]
    article = Article(
        url=url,
        headline=content.meta.get("ld:headline") or content.meta.get("og:title") or content.title,
        datePublished=content.published_at,
        dateModified=content.modified_at,
        authors=[Author(name=name) for name in names if name] or None,
        inLanguage=content.language,
        description=content.description,
        articleBody=body or None,
        canonicalUrl=content.canonical,
        mainImage=Image(url=image) if image else None,
    )
    data = article.model_dump(mode="json", exclude_none=True)
    return Item(ItemKind.ARTICLE, 0, data, confidence, EXTRACTOR, VERSION)


def _may_be_one(content: Content) -> bool:
    """What needs no text: whether it says that it is one, or is signed or dated."""
    if ARTICLE_TYPES.intersection(content.meta.get("ld:type", "").split(",")):
        return True
    is_signed = content.published_at is not None or content.author is not None
    return is_signed or content.meta.get("og:type", "").lower() in _SAID_TYPES


def _confidence(content: Content, body: str) -> float | None:
    """None where it is no article. A page that says so is believed if it has more than a teaser's text."""
    words = len(body.split())
    if content.kind is not ContentKind.HTML or words < _LEAST_WORDS_SAID:
        return None
    if ARTICLE_TYPES.intersection(content.meta.get("ld:type", "").split(",")):
        return _SAID_BY_DATA
    is_dated = content.published_at is not None
    if content.meta.get("og:type", "").lower() in _SAID_TYPES:
        # WordPress calls every page an article; a date or an author tells one.
        return _SAID_BY_META if is_dated or content.author else _SEEN
    is_signed = is_dated or content.author is not None
    return _SEEN if is_signed and content.title and words >= _LEAST_WORDS_SEEN and _is_prose(body) else None


def _is_prose(body: str) -> bool:
    """Whether most of it stands in paragraphs rather than in lists and menus."""
    return sum(len(line) for line in body.split("\n") if len(line) >= _PROSE_LINE) >= _LEAST_PROSE * len(body)
