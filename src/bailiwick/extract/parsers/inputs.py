"""Builds a page object from a stored page."""

from collections.abc import Callable

import andi
import web_poet
from web_poet.pages import is_injectable

from bailiwick.extract.parsers.facts import StoredPage
from bailiwick.extract.parsers.loading import INPUTS


def page_of(page: "type[web_poet.ItemPage[object]]", stored: StoredPage) -> "web_poet.ItemPage[object]":
    """With all that it asks for, other page objects included."""
    headers = {"Content-Type": stored.content_type} if stored.content_type else {}
    response = web_poet.HttpResponse(stored.url, stored.body, status=200, headers=headers)
    offered: dict[type, Callable[[], object]] = {
        web_poet.HttpResponse: lambda: response,
        web_poet.HttpResponseBody: lambda: response.body,
        web_poet.HttpResponseHeaders: lambda: response.headers,
        web_poet.ResponseUrl: lambda: web_poet.ResponseUrl(stored.url),
        web_poet.RequestUrl: lambda: web_poet.RequestUrl(stored.url),
        web_poet.PageParams: web_poet.PageParams,
        web_poet.AnyResponse: lambda: web_poet.AnyResponse(response=response),
        web_poet.Stats: web_poet.Stats,
    }
    made: dict[object, object] = {}
    plan = andi.plan(page, is_injectable=is_injectable, externally_provided=INPUTS, full_final_kwargs=True)
    for cls, wanted in plan:
        inputs = {name: made[given] for name, given in wanted.items()}
        made[cls] = offered[cls]() if isinstance(cls, type) and cls in offered else _made(cls, inputs)
    built: web_poet.ItemPage[object] = made[page]  # type: ignore[assignment]
    return built


def _made(cls: object, inputs: dict[str, object]) -> object:
    if not callable(cls):
        raise TypeError(f"{cls!r} cannot be made here")
    return cls(**inputs)
