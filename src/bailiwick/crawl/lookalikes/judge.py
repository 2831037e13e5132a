"""Pages that look like content and are none: a login instead of a page, or words that there is no such page.

A page is one of them only if it is short, says so as a whole, and nothing contradicts it: to throw a real page away is
worse than to keep a wall. Ordinary pages leave after a few dozen nodes, with no query over the whole tree.
"""

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from bailiwick.crawl.lookalikes import login, not_found
from bailiwick.crawl.lookalikes.sight import look_at
from bailiwick.crawl.lookalikes.words import plain

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MOST_PARAGRAPHS = 1500
_FIRST_NODES = 90
_TITLE_CHARS = 200
_PASSED = frozenset(
    {"script", "style", "nav", "header", "footer", "aside", "svg", "noscript", "template", "dialog", "form", "li"}
)
_HEADINGS = frozenset({"h1", "h2"})
_READ = frozenset({"p", "pre", "blockquote", "dd"})
_REFRESH = re.compile(r"^\s*(\d{1,2})[\d.]*\s*[;,]\s*(?:url\s*=\s*)?['\"]?([^'\"]+)", re.I)
_SCRIPTED = re.compile(
    r"\blocation(?:\.href)?\s*=\s*['\"]([^'\"]{1,500})|\blocation\.(?:replace|assign)\(\s*['\"]([^'\"]{1,500})"
)
_HANDLER = re.compile(r"\bfunction\b|=>|\bif\b")
_SCRIPT_CHARS = 300
_SOON_SECONDS = 10


class Lookalike(StrEnum):
    LOGIN_WALL = "login_wall"
    NOT_FOUND = "not_found"


def looks_like(tree: "LexborHTMLParser") -> Lookalike | None:
    """What this page is instead of content, or None. The tree is not changed."""
    if tree.body is None or _is_ordinary(tree, tree.body):
        return None
    sight = look_at(tree)
    if sight.is_cut_short:
        return None
    title = _title(tree)
    if not_found.is_not_found(title, sight):
        return Lookalike.NOT_FOUND
    target = _target(tree) if sight.prose < 200 else ""
    return Lookalike.LOGIN_WALL if login.is_login_wall(title, sight, target) else None


def _is_ordinary(tree: "LexborHTMLParser", body: "LexborNode") -> bool:
    """By the first nodes: their paragraphs are more than a lookalike has, or there are many and no words of one."""
    chars = 0
    heads: list[str] = []
    stack = [body.iter()]
    for _ in range(_FIRST_NODES):
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if not stack:
                return False
            continue
        tag = node.tag
        if tag in _READ:
            chars += len(node.text_lexbor())
            if chars > _MOST_PARAGRAPHS:
                return True
        elif tag in _HEADINGS:
            heads.append(_text(node))
        elif tag not in _PASSED:
            stack.append(node.iter())
    text = plain(" ".join((_title(tree), *heads)))
    return not (not_found.may_be_in(text) or login.may_be_in(text))


def _title(tree: "LexborHTMLParser") -> str:
    return _text(tree.css_first("title"))


def _text(node: "LexborNode | None") -> str:
    return node.text_lexbor()[:_TITLE_CHARS] if node is not None else ""


def _target(tree: "LexborHTMLParser") -> str:
    """Where the page sends the browser on by itself, at once."""
    refresh = tree.css_first("meta[http-equiv=refresh i][content]")
    if refresh is not None and (found := _REFRESH.match(refresh.attributes["content"] or "")):
        # Later is the end of a session, on any page.
        return found[2].strip() if int(found[1]) <= _SOON_SECONDS else ""
    for script in tree.css("script:not([src])")[:5]:
        text = script.text_lexbor()
        # Whatever is longer or asks first does so on some event: every page of an application has such lines.
        if len(text) <= _SCRIPT_CHARS and not _HANDLER.search(text) and (found := _SCRIPTED.search(text)):
            return found[1] or found[2]
    return ""
