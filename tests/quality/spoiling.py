"""Pages made worse in one respect, in their source: all that is not meant stays as it was, letter for letter.

Nothing here knows what the scorer looks at. Each way to spoil a page is what happens to real ones: the stylesheets are
lost, the text is taken from elsewhere or said again and again, nobody signs or can be reached, a template breaks.
"""

# ruff: noqa: RUF001, SIM905 - words of other alphabets; word lists read best as lines of words

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

Tag = re.Match[str]

_MARKUP = re.compile(
    r"<!--.*?-->|<(?P<raw>script|style|textarea|title)\b(?P<given>[^>]*)>(?P<inside>.*?)</(?P=raw)\s*>"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][\w:-]*)(?P<attributes>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>",
    re.DOTALL | re.IGNORECASE,
)


def rewritten(html: str, tag: Callable[[Tag], str], words: Callable[[str], str] = lambda text: text) -> str:
    """The source with each tag and each piece of text between tags put through a function."""
    parts, end = [], 0
    for found in _MARKUP.finditer(html):
        parts += [words(html[end : found.start()]), tag(found)]
        end = found.end()
    return "".join([*parts, words(html[end:])])


def name_of(tag: Tag) -> str:
    return (tag["name"] or "").lower()


# Without styles.

_STYLE_LINK = re.compile(r"stylesheet|\bas\s*=\s*[\"']?(?:style|font)|\.css\b|fonts\.g", re.IGNORECASE)
_STYLE_ATTRIBUTE = re.compile(r"\sstyle\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)


def without_styles(html: str) -> str:
    """No stylesheet, no style element, no style attribute. Classes stay: they mean nothing now."""

    def undressed(tag: Tag) -> str:
        if (tag["raw"] or "").lower() == "style" or (name_of(tag) == "link" and _STYLE_LINK.search(tag[0])):
            return ""
        return _STYLE_ATTRIBUTE.sub("", tag[0]) if name_of(tag) else tag[0]

    return rewritten(html, undressed)


# With text that is not its own.

_LEAF = re.compile(r"<(p|li|td|div|dd|span)\b[^<>]*>(?:[^<]|</?(?:b|i|em|strong|a|br)\b[^<>]*>){60,}?</\1\s*>")


def repeated(html: str, *, times: int = 3, every: int = 1) -> str:
    """Each passage, or one of so many, several times over, as pages do that are to look long."""
    head, opening, body = html.partition("<body")
    leaves = count()
    return head + opening + _LEAF.sub(lambda leaf: leaf[0] * (1 if next(leaves) % every else times), body)


def altered(text: str) -> str:
    """What a copyist makes of it: every twelfth sentence is left out."""
    sentences = re.split(r"(?<=[.!?。])\s+|\n+", text)
    return " ".join(sentence for position, sentence in enumerate(sentences) if position % 12 != 5)


def likeness(one: str, other: str) -> float:
    """The share of shingles of four words that both have."""
    first, second = _shingles(one), _shingles(other)
    return len(first & second) / max(1, len(first | second))


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3))}


# Without contact, author and citations.

_SIGNED = re.compile(
    r"(?<![a-z])(?:author|authors|byline|by-line|bio|contributor|writer|reporter|autor|auteur|kontakt|contact)(?![a-z])"
)
_REACHED = (
    "contact|kontakt|contatt|contato|contacto|about|impressum|imprint|ueber-uns|über uns|"
    "quienes-somos|quem somos|chi siamo|qui-sommes|mentions|a-propos|o-nas|o nas|yhteys|"
    "asiakaspalvelu|help|ayuda|ajuda|hilfe|aiuto|support|customer|atencion|atención|servicio|"
    "service|press|masthead|editorial|team|staff|corporate|company|privacy|legal|terms|"
    "datenschutz|privac|condi|контакт|о нас|о компании|о проекте|о сайте|редакц|реклам|соглаш|"
    "помощь|회사소개|고객센터|고객|개인정보|이용약관|聯絡|聯繫|關於|客服|服務|צור קשר|אודות|שירות|байланыс|kapcsolat|"
    "despre|ajutor|par mums|kontakti|meist|abi|polityka|pomoc|regulamin|podmienky|obchod|"
    "zasady|pogoji|tietosuoja|ehdot|advertis|mailto:|tel:|whatsapp|wa.me"
).split("|")
_KEPT_WHOLE = frozenset({"html", "body", "main", "article", "head", "form"})
_SIGNING = frozenset(
    "author creator publisher contactpoint telephone email address sameas editor contributor copyrightholder "
    "sourceorganization reviewedby".split()
)
_SIGNING_META = re.compile(
    r"(?:name|property|itemprop)\s*=\s*[\"']?[^\"'>]*(?:author|creator|publisher|byl|contact|reply-to)", re.IGNORECASE
)
_HOST = re.compile(r"href\s*=\s*[\"']?\s*(?:https?:)?//([^\s/\"'?#:>]+)", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+")
_PHONE = re.compile(r"\+?\d[\d ()/.-]{8,}\d")
_SIGNED_LINE = re.compile(r"\b(?:By|Von|Por|Par|Di|Автор:?)\s+(?:[A-ZÀ-ÖØ-ÞА-Я][\w.'’-]+\s*){2,4}")


def unsigned(html: str, site: str) -> str:
    """Nobody stands for it: no author, no way to reach anybody, nothing said of who they are, nothing cited."""
    html = _without_elements(html, _is_signature)
    html = rewritten(html, partial(_unlinked, site=site), _unsigned_words)
    return re.sub(r"</?cite\b[^<>]*>", "", html)


def _unsigned_words(text: str) -> str:
    if text.isspace():
        return text
    return _SIGNED_LINE.sub("", _PHONE.sub("", _EMAIL.sub("", text)))


def _is_signature(tag: Tag, inside: str) -> bool:
    name, given = name_of(tag), tag["attributes"] or ""
    if name == "address":
        return True
    if name == "a":
        said = f"{given[:400]} {inside if len(inside) < 400 else ''}".lower()
        return any(word in said for word in _REACHED)
    if name in _KEPT_WHOLE or len(inside) > 5_000 or _SIGNED.search(given.lower()) is None:
        return False
    said = " ".join(re.findall(r"(?:class|id|rel|itemprop)\s*=\s*[\"']?([^\"'>]*)", given)).lower()
    return _SIGNED.search(said) is not None


def _without_elements(html: str, is_unwanted: Callable[[Tag, str], bool]) -> str:
    """Without these elements and all that is in them."""
    parts, end = [], 0
    for tag, closing in _elements(html):
        if tag.start() >= end and is_unwanted(tag, html[tag.end() : closing.start()]):
            parts.append(html[end : tag.start()])
            end = closing.end()
    return "".join([*parts, html[end:]])


def _elements(html: str) -> list[tuple[Tag, Tag]]:
    """Each start tag that has an end, with it, in the order of the starts."""
    open_tags: dict[str, list[Tag]] = defaultdict(list)
    found = []
    for tag in _MARKUP.finditer(html):
        if not tag["name"]:
            continue
        if not tag["close"]:
            open_tags[name_of(tag)].append(tag)
        elif open_tags[name_of(tag)]:
            found.append((open_tags[name_of(tag)].pop(), tag))
    return sorted(found, key=lambda pair: pair[0].start())


def _unlinked(tag: Tag, *, site: str) -> str:
    if (tag["raw"] or "").lower() == "script" and "ld+json" in tag["given"]:
        return f"<script{tag['given']}>{_unsigned_data(tag['inside'])}</script>"
    if name_of(tag) == "meta" and _SIGNING_META.search(tag[0]):
        return ""
    if name_of(tag) == "a" and not tag["close"]:
        return "<a>" if (leads := _HOST.search(tag[0])) and not f".{leads[1].lower()}".endswith(f".{site}") else tag[0]
    if name_of(tag) == "link" and re.search(r"rel\s*=\s*[\"']?(?:author|me|publisher)\b", tag[0]):
        return ""
    return tag[0]


def _unsigned_data(text: str) -> str:
    try:
        return json.dumps(_without_names(json.loads(text)), ensure_ascii=False)
    except ValueError:
        return text


def _without_names(value: object) -> object:
    if isinstance(value, list):
        return [_without_names(one) for one in value]
    if isinstance(value, dict):
        return {name: _without_names(one) for name, one in value.items() if name.lower() not in _SIGNING}
    return value


# With a broken layout.

_PAIRED = frozenset("div span section ul ol table h1 h2 h3 h4 strong b em i figure nav form button".split())
_HREF = re.compile(r"(\shref\s*=\s*)(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
_SOURCES = re.compile(r"(\s[\w-]*src(?:set)?\s*=\s*)(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)


def broken(html: str) -> str:
    """A template gone wrong: ends of elements are missing or stray, links and images empty, letters garbled."""
    closings, links, images, texts = count(), count(), count(), count()

    def broken_tag(tag: Tag) -> str:
        name = name_of(tag)
        if tag["close"] and name in _PAIRED:
            return _gone(closings, tag[0])
        if name == "a" and not tag["close"]:
            return _HREF.sub(r'\1""', tag[0]) if next(links) % 3 == 0 else tag[0]
        if name == "img":
            return _SOURCES.sub(r'\1""', tag[0]) if next(images) % 2 == 0 else tag[0]
        return tag[0]

    def broken_words(text: str) -> str:
        return garbled(text) if not text.isspace() and next(texts) % 2 else text

    return rewritten(html, broken_tag, broken_words)


def unclosed(html: str, *, every: int = 12) -> str:
    """One end of an element of so many is missing, and nothing else is wrong."""
    closings = count()

    def tag_of(tag: Tag) -> str:
        is_lost = tag["close"] and name_of(tag) in _PAIRED and next(closings) % every == 0
        return "" if is_lost else tag[0]

    return rewritten(html, tag_of)


def _gone(closings: Iterator[int], closing: str) -> str:
    """Every fourth is missing, another fourth comes with one that closes nothing."""
    return ("", closing, f"{closing}</em></div>", closing)[next(closings) % 4]


def garbled(text: str) -> str:
    """UTF-8 read as if it were Windows' own letters."""
    return text.replace("'", "’").replace(" - ", " – ").encode("utf-8", "replace").decode("cp1252", "replace")
