"""Text of strangers made plain: no markup, no hidden characters, bounded. Linear in its length, whatever it is."""

import re
from html import unescape

_MARKUP_FACTOR = 10
"""How much of a longer text is read: markup may be most of it."""

# In each of them `<` ends what is no tag after all, so that no text is read twice.
_TAG = re.compile(r"<(?:(/?)([a-zA-Z][a-zA-Z0-9:-]*)|[!?])[^<>]*>")
_WITHIN_WORDS = frozenset(
    "a abbr b bdi bdo cite code dfn em font i kbd mark q s small span strong sub sup u wbr".split()  # noqa: SIM905
)
_UNREAD = ("script", "style", "template", "noscript", "iframe")
# Controls that are no space, text direction, invisible marks, hidden letters (tags) and halves of characters.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"
)


def plain_text(text: str, max_chars: int) -> str:
    """Text without markup, entities, control characters and needless space, cut at so many characters."""
    text = text[: max_chars * _MARKUP_FACTOR]
    if "<" in text:
        text = _without_tags(text)
    if "&" in text:
        text = unescape(text)
        if "<" in text:
            text = _without_tags(text)
    if not text.isprintable():
        text = _UNSEEN.sub("", text)
    text = " ".join(text.split())
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}…"


def _without_tags(text: str) -> str:
    lowered = text.lower()
    if any(name in lowered for name in _UNREAD):
        text = _without_unread(text)
    text = _TAG.sub(_in_its_place, text)
    # What was a tag in pieces is one now: then no angle is trusted.
    return text.replace("<", " ").replace(">", " ") if "<" in text and _TAG.search(text) else text


def _in_its_place(tag: re.Match[str]) -> str:
    return "" if (tag[2] or "").lower() in _WITHIN_WORDS else " "


def _without_unread(text: str) -> str:
    """Without scripts, styles and their like, contents and all. One that is not closed goes to the end."""
    parts, at, unread = [], 0, ""
    for tag in _TAG.finditer(text):
        closes, name = tag[1], (tag[2] or "").lower()
        if unread and closes and name == unread:
            at, unread = tag.end(), ""
        elif not unread and not closes and name in _UNREAD:
            parts += [text[at : tag.start()], " "]
            unread = name
    return "".join(parts) if unread else "".join([*parts, text[at:]])
