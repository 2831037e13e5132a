"""Login walls: short pages whose main thing is a form to log in with, or the demand to do so."""

from bailiwick.crawl.lookalikes.page import Page, is_told_of_others
from bailiwick.crawl.lookalikes.redirects import leads_to_login
from bailiwick.crawl.lookalikes.sight import Field, Sight
from bailiwick.crawl.lookalikes.words import Lists, Wording, weight

_LISTS = Lists("shared_words.txt", "login_words.txt")
_HEADING_WORDS = 12
_DENSE_HEADING = 16
_MOST_NAME_WORDS = 3
_MOST_PROSE = 700
_MOST_LEAD = 220
_MOST_LINKS = 25
_TEXTS = frozenset({"text", "email", "tel"})
_MOST_TEXTS = 3


def is_login_wall(title: str, sight: Sight, target: str) -> bool:
    """`target` is where the page sends the browser on by itself."""
    if target and sight.prose < 200 and leads_to_login("/", target):
        return True
    page = Page.of(title, sight, _LISTS)
    if sight.prose > _MOST_PROSE or sight.link_count > 2 * _MOST_LINKS or sight.code:
        return False
    form = _form(sight)
    demand = _demand(page)
    if demand is not None and demand <= _MOST_LEAD and sight.sections < 3:
        if page.explains:
            return _is_paywall(page) and _has_way_in(page)
        return form > 0 or _has_way_in(page) or sight.prose < 200
    if page.explains or sight.steps or sight.sections > 1 or sight.prices or _is_other_business(page):
        return False
    return _is_login_page(page, form)


def heads(wording: Wording) -> bool:
    """As a whole, this heading asks to log in: `Log in`, `Sign in to Acme`, `Acme login`."""
    if len(wording.words) > _HEADING_WORDS or wording.has("explains", "other_purpose"):
        return False
    if wording.has("log_in", "heads"):
        if wording.is_dense:
            return len(wording.text) <= _DENSE_HEADING
        return wording.words_beside("log_in", "heads", "filler") <= _MOST_NAME_WORDS
    return wording.has("bare") and wording.words_beside("bare", "filler") == 0


may_be_in = _LISTS.quick_look("log_in", "heads", "bare", "gates")
"""Whether it is worth asking what a plain text says."""


def _is_login_page(page: Page, form: int) -> bool:
    sight = page.sight
    beside = sight.prose - sight.form_prose
    in_title, in_heading = any(map(heads, page.title)), any(map(heads, page.headings[:3]))
    is_asked = any(map(_asks, (*page.sentences, *page.headings)))
    is_named = in_title or in_heading
    # The heading of another page, beside which there is a form.
    has_topic = page.top is not None and not in_heading and (page.has_topic or not in_title)
    welcomes = page.top is not None and page.top.has("welcome", "aids")
    if form > 1:
        if has_topic and not (welcomes or is_asked):
            return not page.has_topic and beside < 40 and sight.link_count <= 12
        if is_named or is_asked or welcomes:
            return beside < (300 if is_named or is_asked else 120) and sight.link_count <= _MOST_LINKS
        return beside < 60 and sight.link_count <= 12
    has_aid = any(part.has("aids") for part in (*page.sentences, *map(_LISTS.read, (text for text, _ in sight.links))))
    if form:
        return (
            (is_named + has_aid + is_asked > 0) and beside < 250 and not (has_topic and not welcomes and not is_named)
        )
    return in_title and not sight.lines and sight.link_count <= 10 and not has_topic


def _form(sight: Sight) -> int:
    """2 for a password or two services that know you, 1 for a name with a button that says so or one service."""
    passwords = [field for field in sight.fields if field.type == "password"]
    if any("samlrequest" in field.names for field in sight.fields):
        return 2
    texts_asked = sum(field.type in _TEXTS for field in sight.fields)
    if (
        len(passwords) > 1
        or texts_asked > _MOST_TEXTS
        or any(field.autocomplete == "new-password" for field in passwords)
    ):
        return 0
    buttons = [_LISTS.read(text) for text in sight.buttons]
    has_button = any(text.starts_with("button") and not text.has("other_purpose") for text in buttons)
    has_user = any(map(_names_user, sight.fields))
    if passwords:
        return 2 if has_button or has_user or leads_to_login("/", passwords[0].action) else 1
    texts = [_LISTS.read(text) for text in (*sight.buttons, *(text for text, _ in sight.links[:12]))]
    providers = sum(len(text.text) < 80 and text.has("provider") for text in texts)
    if providers > 1:
        return 2
    return int(providers > 0 or (has_button and has_user and texts_asked == 1))


def _names_user(field: Field) -> bool:
    return any(word in field.autocomplete for word in ("username", "one-time-code", "webauthn")) or (
        field.type not in ("hidden", "checkbox", "radio", "search", "select") and _LISTS.read(field.names).has("user")
    )


def _demand(page: Page) -> int | None:
    """How much there is to read before the sentence that makes a login the condition of seeing the page."""
    if any(map(_demands, page.headings)):
        return 0
    lead = 0
    for sentence in page.sentences:
        if _demands(sentence):
            return lead
        lead += weight(sentence.raw)
    return None


def _demands(wording: Wording) -> bool:
    """ "Log in to comment" does not."""
    if is_told_of_others(wording) or wording.has("other_purpose"):
        return False
    names = wording.names
    if "gates" in names or {"subscribe", "read_on"} <= names or {"people", "only", "content"} <= names:
        return True
    is_clear, must = "log_in" in names, "must" in names
    if is_clear and must and not wording.is_dense:
        return True
    return (is_clear or "enter" in names) and (must or "please" in names) and "to_see" in names


def _is_paywall(page: Page) -> bool:
    """Its demand is one that may stand below the title of any article."""
    return any(
        {"subscribe", "read_on"} <= part.names or {"people", "only", "content"} <= part.names
        for part in (*page.headings, *page.sentences)
    )


def _asks(wording: Wording) -> bool:
    """`Bitte melden Sie sich an`: enough above a form."""
    if wording.has("other_purpose") or is_told_of_others(wording):
        return False
    return wording.has("credentials") or (wording.has("log_in", "enter") and wording.has("must", "please"))


def _has_way_in(page: Page) -> bool:
    links = [*page.sight.links, *((text, "") for text in page.sight.buttons)]
    return any(
        (len(wording.words) < 6 and wording.has("log_in", "bare", "subscribe", "provider")) or leads_to_login("/", href)
        for wording, href in ((_LISTS.read(text), href) for text, href in links)
    )


def _is_other_business(page: Page) -> bool:
    """Registration, or a password forgotten: forms with passwords, and no login."""
    parts = (*page.headings[:1], *page.title[:1])
    return any(part.starts_with("other_account_business") and not heads(part) for part in parts)
