"""Ways in which pages misbehave, or behave well. Each function makes a Behaviour: an answer in, another one out.

site.behave("/news/", validators(), encoded("gzip"))
site.behave("/old", redirect("/new"))
site.behave_everywhere(status(500))      # and site.behave_everywhere() to end it
"""

import zlib
from collections.abc import Callable
from dataclasses import replace
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b

from bailiwick.demo.web.answers import Answer, Behaviour, Delivery, Request, short_answer


def redirect(to: str, *, status: int = 301, host: str | None = None) -> Behaviour:
    """Elsewhere: `to` as it stands or, with a host, that path of another host of the local web."""

    def behave(request: Request, _: Answer) -> Answer:
        location = to if host is None else request.url(host, to)
        return short_answer(status, "It is somewhere else.", {"Location": location})

    return behave


def at_origin(*, scheme: str | None = None, www: bool | None = None, status: int = 301) -> Behaviour:
    """Only this origin answers; a request to the other scheme, with or without `www.`, is sent there."""

    def behave(request: Request, answer: Answer) -> Answer:
        bare = request.host.removeprefix("www.")
        host = request.host if www is None else f"www.{bare}" if www else bare
        if host == request.host and scheme in (None, request.scheme):
            return answer
        location = request.url(host, scheme=scheme)
        return short_answer(status, "It is at another origin.", {"Location": location})

    return behave


def status(code: int, *, headers: dict[str, str] | None = None) -> Behaviour:
    """No page, but this status."""
    return lambda _request, _answer: short_answer(code, "There is no page for you.", headers)


def too_many_requests(retry_after: str = "2") -> Behaviour:
    """429 with Retry-After: seconds, or a date."""
    return status(429, headers={"Retry-After": retry_after})


def for_first(count: int, behaviour: Behaviour) -> Behaviour:
    """Only for the first requests of a page; after these it is as it was."""
    return lambda request, answer: behaviour(request, answer) if request.number <= count else answer


def with_header(name: str, value: str) -> Behaviour:
    return lambda _, answer: replace(answer, headers={**answer.headers, name: value})


def noindex_header() -> Behaviour:
    return with_header("X-Robots-Tag", "noindex")


def noindex_meta() -> Behaviour:
    return _inserting('<meta name="robots" content="noindex">', before="</head>")


def linking(*hrefs: str) -> Behaviour:
    """More links on the page, as written here."""
    links = "".join(f'<p><a href="{href.replace("&", "&amp;")}">One more</a></p>\n' for href in hrefs)
    return _inserting(links, before="</main>")


def mentioning(text: str, *, host: str, path: str) -> Behaviour:
    """A paragraph that names another host of the local web: `{…}` in it is the link."""

    def behave(request: Request, answer: Answer) -> Answer:
        before, _, rest = text.partition("{")
        anchor, _, after = rest.partition("}")
        link = f'<p>{before}<a href="{request.url(host, path)}">{anchor}</a>{after}</p>\n'
        return _inserting(link, before="</main>")(request, answer)

    return behave


def validators(*, etag: bool = True, last_modified: bool = True) -> Behaviour:
    """The page has these validators, and a request that knows them is answered with 304 (RFC 9110 section 13)."""

    def behave(request: Request, answer: Answer) -> Answer:
        if answer.status != 200:
            return answer
        given = dict(answer.headers)
        if etag:
            given["ETag"] = f'"{blake2b(answer.payload(), digest_size=8).hexdigest()}"'
        if last_modified:
            given["Last-Modified"] = format_datetime(answer.modified, usegmt=True)
        if _is_known(request, given):
            return replace(answer, status=304, headers=given)
        return replace(answer, headers=given)

    return behave


def encoded(coding: str) -> Behaviour:
    """Compressed: gzip, deflate, br or zstd. Whatever the request accepts, as some servers do."""
    return lambda _, answer: replace(answer, coding=coding)


def gzip_bomb(size: int = 100_000_000) -> Behaviour:
    """A page of so many bytes that are a thousandth of it on the wire."""
    packer = zlib.compressobj(9, wbits=31)
    blank = b"<p>" + b" " * 999_997
    packed = b"".join(packer.compress(blank) for _ in range(max(1, size // len(blank)))) + packer.flush()
    return lambda _, answer: replace(answer, body=packed, headers={**answer.headers, "Content-Encoding": "gzip"})


def in_charset(charset: str, text: str, *, told_by: str) -> Behaviour:
    """A paragraph of this text, encoded so; `told_by` is header, meta, bom, or nothing."""

    def behave(_: Request, answer: Answer) -> Answer:
        meta = f'<meta charset="{charset}">' if told_by == "meta" else ""
        body = _text(answer).replace('<meta charset="utf-8">', meta)
        body = _put_before(body, "</main>", f"<p>{text}</p>\n")
        kind = f"text/html; charset={charset}" if told_by == "header" else "text/html"
        return replace(answer, body=f"\ufeff{body}" if told_by == "bom" else body, content_type=kind, charset=charset)

    return behave


def content(content_type: str, body: bytes) -> Behaviour:
    """Something that is no HTML page, there or not until now: see PDF, PNG and JSON below."""
    return lambda _, answer: replace(answer, status=200, body=body, content_type=content_type)


def delayed(seconds: float) -> Behaviour:
    """Thinks for so long before the first byte."""
    return _delivering(lambda old: replace(old, delay_seconds=seconds))


def held(until: Callable[[], bool]) -> Behaviour:
    """No answer before this says yes: `held(threading.Event().is_set)`."""
    return _delivering(lambda old: replace(old, until=until))


def slow_body(seconds: float) -> Behaviour:
    """Takes so long from the first byte of the body to the last."""
    return _delivering(lambda old: replace(old, body_seconds=seconds))


def chunked() -> Behaviour:
    return _delivering(lambda old: replace(old, chunked=True))


def truncated(after_bytes: int = 100) -> Behaviour:
    """Promises the whole body by Content-Length and hangs up after so many bytes of it."""
    return _delivering(lambda old: replace(old, cut_after_bytes=after_bytes))


def endless() -> Behaviour:
    """The body goes on until the client hangs up."""
    return _delivering(lambda old: replace(old, endless=True))


def dropped() -> Behaviour:
    """Hangs up without an answer."""
    return _delivering(lambda old: replace(old, silent=True))


PDF = content("application/pdf", b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
PNG = content(
    "image/png",
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
        "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    ),
)
JSON = content("application/json", b'{"pages": 3, "next": "/not-a-link"}\n')


def _delivering(change: Callable[[Delivery], Delivery]) -> Behaviour:
    return lambda _, answer: replace(answer, delivery=change(answer.delivery or Delivery()))


def _inserting(markup: str, *, before: str) -> Behaviour:
    return lambda _, answer: replace(answer, body=_put_before(_text(answer), before, markup))


def _put_before(body: str, mark: str, markup: str) -> str:
    return body.replace(mark, markup + mark, 1) if mark in body else body + markup


def _text(answer: Answer) -> str:
    if isinstance(answer.body, bytes):
        raise TypeError("this behaviour needs a page of text")
    return answer.body


def _is_known(request: Request, given: dict[str, str]) -> bool:
    """Whether the client has this very content. If-None-Match wins over If-Modified-Since."""
    tags = request.headers.get("if-none-match")
    if tags is not None:
        known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return "ETag" in given and ("*" in known or given["ETag"] in known)
    since = request.headers.get("if-modified-since")
    if since is None or "Last-Modified" not in given:
        return False
    try:
        return parsedate_to_datetime(given["Last-Modified"]) <= parsedate_to_datetime(since)
    except (ValueError, TypeError):
        return False
