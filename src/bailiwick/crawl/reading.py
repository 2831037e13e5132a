"""What an answer means: its outcome, the body in the store, the links it holds; out comes a PageResult."""

import random
from hashlib import sha256

from bailiwick.crawl.addresses import own_url, redirect_target
from bailiwick.crawl.html import Parsed, header_directives, says_nofollow, says_noindex
from bailiwick.crawl.isolation import PoisonError, SlowPageError
from bailiwick.crawl.lookalikes import Lookalike, leads_to_login
from bailiwick.crawl.outcomes import DOCUMENT_TYPES, MEANINGS, Effect, Outcome, media_type, outcome_of
from bailiwick.crawl.results import Outlink, PageResult, Taken
from bailiwick.crawl.slice import Slice
from bailiwick.crawl.tools import Parse, Tools
from bailiwick.model.urls import LinkBase, PlainPage, UrlRules, hash_of
from bailiwick.net.gates import retry_seconds
from bailiwick.ports import FetchAnswer, FetchFailure, StoredBody

_OUTLINKS_A_PAGE = 500


def unexpected(part: Slice, page: Taken, tools: Tools, error: Exception) -> PageResult:
    """A fault of ours over one page counts against that page."""
    result = PageResult(page, Outcome.BROKEN, Effect.RETRY, error=f"unexpected {type(error).__name__}: {error}")
    _set_wait(part, page, tools, result)
    return result


async def understood(
    part: Slice, page: Taken, answer: FetchAnswer | FetchFailure, tools: Tools, parse: Parse
) -> PageResult:
    """What came of it, with the body kept and the links gathered."""
    outcome = outcome_of(answer)
    if outcome is Outcome.UNCHANGED and page.body_hash is None:
        outcome = Outcome.CLIENT_ERROR  # a 304 to a question that was not asked
    result = PageResult(page, outcome, MEANINGS[outcome].effect, milliseconds=answer.milliseconds)
    if isinstance(answer, FetchFailure):
        result.error = answer.message
    else:
        result.status = answer.status
        result.bytes_received = answer.bytes_received
        result.content_type = answer.headers.get("content-type")
        result.etag = answer.headers.get("etag") or (page.etag if answer.status == 304 else None)
        result.last_modified = answer.headers.get("last-modified") or (
            page.last_modified if answer.status == 304 else None
        )
        if outcome is Outcome.REDIRECTED:
            _redirected(part, page, answer, tools.rules, result)
        elif outcome is Outcome.OTHER_TYPE:
            part.gate.learned(page.path, None, is_new_content=page.state == "pending")
        elif answer.body is not None:
            await _read(part, page, answer, tools, parse, result)
    _set_wait(part, page, tools, result)
    return result


def _set_wait(part: Slice, page: Taken, tools: Tools, result: PageResult) -> None:
    """When the page may be fetched again; retries that are used up make it failed."""
    if result.effect is Effect.RETRY:
        if page.retries >= tools.max_retries:
            result.effect = Effect.FAILED
        else:
            result.wait_seconds = retry_seconds(tools.retry_backoff_seconds, page.retries, random.random())  # noqa: S311
    elif result.effect in (Effect.CHANGED, Effect.SAME):
        result.wait_seconds = part.known.revisit_seconds


async def _read(part: Slice, page: Taken, answer: FetchAnswer, tools: Tools, parse: Parse, result: PageResult) -> None:
    """The body: nothing new, new bytes with the same text, or new content."""
    body = answer.body or b""
    result.body_hash = sha256(body).digest()
    if result.body_hash == page.body_hash:
        result.end_as(Outcome.UNCHANGED)
        part.gate.learned(page.path, page.text_hash, is_new_content=False)
        return
    told = header_directives(answer.headers.get("x-robots-tag", ""))
    if media_type(answer.headers.get("content-type", "")) in DOCUMENT_TYPES:
        _keep_document(part, page, answer, tools, result)
        result.is_noindex = says_noindex(told)
        return
    try:
        parsed = await parse(body, answer.headers.get("content-type", ""), part.lease.name.host)
    except SlowPageError as error:
        result.end_as(Outcome.TIMEOUT, str(error))
        return
    except PoisonError as error:
        result.end_as(Outcome.POISON, str(error))
        return
    if (outcome := _in_place_of_content(page, parsed)) is not None:
        result.end_as(outcome)
        return
    result.text_hash = parsed.text_hash
    result.images = parsed.images
    result.is_noindex = parsed.is_noindex or says_noindex(told)
    result.canonical = parsed.canonical
    is_same_text = page.body_hash is not None and parsed.text_hash == page.text_hash
    if not is_same_text:
        # Before its links are remembered as seen: if the body cannot be kept now, the page is read once more.
        stored = StoredBody(part.lease.domain_id, page.path_hash, answer.head, body)
        result.ref = tools.store.put(stored, result.body_hash)
    part.gate.learned(page.path, parsed.text_hash, is_new_content=not is_same_text)
    if not (parsed.is_nofollow or says_nofollow(told)):
        _gather(part, page, answer.url, parsed, tools, result)
    result.feeds = [url for href in parsed.feeds if (url := own_url(part.lease.name, answer.url, href)) is not None]
    if is_same_text:
        result.end_as(Outcome.UNCHANGED)


def _keep_document(part: Slice, page: Taken, answer: FetchAnswer, tools: Tools, result: PageResult) -> None:
    """A PDF: kept for its text. Other bytes are other content, until it is parsed."""
    result.text_hash = int.from_bytes((result.body_hash or b"")[:8], "big", signed=True)
    stored = StoredBody(part.lease.domain_id, page.path_hash, answer.head, answer.body or b"")
    result.ref = tools.store.put(stored, result.body_hash)
    part.gate.learned(page.path, result.text_hash, is_new_content=True)


def _in_place_of_content(page: Taken, parsed: Parsed) -> Outcome | None:
    """A login, or words that there is no such page. The home page is there, whatever it says."""
    if parsed.looks_like == Lookalike.LOGIN_WALL:
        return Outcome.LOGIN
    if parsed.looks_like == Lookalike.NOT_FOUND and page.path != "/":
        return Outcome.SOFT_NOT_FOUND
    return None


def _gather(part: Slice, page: Taken, url: str, parsed: Parsed, tools: Tools, result: PageResult) -> None:
    """Links into the domain become pages, one level deeper; links out of it are kept with their text."""
    name, depth = part.lease.name.name, page.depth + 1
    base = tools.joiner.at(_base(url, parsed.base_href))
    hrefs = part.seen.unmet(parsed.hrefs, base, depth)
    if not hrefs:
        return
    found = {href: base.page(href) for href in hrefs}
    pages = dict.fromkeys(where for where in found.values() if where is not None)
    result.links, refused = part.admit([path for domain, path in pages if domain == name], depth, page.path)
    left = {(name, path) for path in refused}  # they may come again
    if out := [where for where in pages if where[0] != name]:
        left.update(out[_OUTLINKS_A_PAGE:])
        result.outlinks = _new_outlinks(part, out[:_OUTLINKS_A_PAGE], base, parsed.anchors)
    for href, where in found.items():
        if where not in left:
            part.seen.meet(href, base, depth)


def _new_outlinks(part: Slice, out: list[PlainPage], base: LinkBase, anchors: dict[str, str]) -> list[Outlink]:
    new = {where: _outside(where) for where in out}
    new = {where: address for where, address in new.items() if part.seen.add(address, 0)}
    texts = {where: text for href, text in anchors.items() if text and (where := base.page(href)) in new} if new else {}
    return [(hash_of(address), *where, texts.get(where)) for where, address in new.items()]


def _outside(where: PlainPage) -> str:
    return f"//{where[0]}{where[1]}"


def _base(url: str, base_href: str | None) -> str:
    if not base_href:
        return url
    from ada_url import join_url

    try:
        joined = join_url(url, base_href)
    except ValueError:
        return url
    return joined if joined.startswith(("https://", "http://")) else url


def _redirected(part: Slice, page: Taken, answer: FetchAnswer, rules: UrlRules, result: PageResult) -> None:
    """A target in the domain is known from here on, at the same depth; one outside is offered to its own domain."""
    target = redirect_target(answer, rules)
    location = answer.headers.get("location", "")
    if target is None:
        result.error = f"leads nowhere: {location[:200]}"
        return
    where = target[1]
    is_own = where.domain == part.lease.name
    result.error = f"to {where.path if is_own else str(where)}"[:300]
    if is_own and where.path == page.path:
        result.end_as(Outcome.REDIRECT_LOOP, f"leads to itself: {location[:200]}")
    elif leads_to_login(page.path, target[0]):
        result.end_as(Outcome.LOGIN)
    elif is_own:
        result.links, _ = part.admit([where.path], page.depth, page.path)
    else:
        result.offer = (where.domain.name, where.path)
        result.outlinks.append((hash_of(f"//{where}"), where.domain.name, where.path, None))
