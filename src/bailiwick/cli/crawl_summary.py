"""What a crawl came to: one line a domain with its stop reason and the next step, then the sum."""

import json
import time
from typing import TYPE_CHECKING

import click

from bailiwick.base.amounts import size
from bailiwick.cli.output import printable

if TYPE_CHECKING:
    from bailiwick.crawl.progress import DomainProgress, Progress
    from bailiwick.pipeline.tally import Tally

_ROWS = 30

_NEXT = {
    "frontier_empty": "all known pages are fetched",
    "page_budget": "stopped at {page_budget:,} pages: run again or --max-pages 0",
    "request_budget": "stopped at its number of requests: run again or --max-requests 0",
    "depth_limit": "fetched to depth {max_depth}; {pages_waiting:,} deeper pages wait: --depth {deeper}",
    "known_pages_cap": "more pages than are kept of a domain: bailiwick settings set crawl.max_known_pages N",
    "time_budget": "the time is over: run again to go on",
    "shutdown": "stopped: run again to go on",
    "paused": "its job is paused: bailiwick job resume JOB",
    "cancelled": "its job was cancelled",
    "approval_withdrawn": "it may not be crawled any more: bailiwick explain {name}",
    "lease_lost": "its lease was lost; what was not written is fetched again",
    "storage_full": "the disk is full: make room and run again",
    "error_limit": "blocked: {why}; bailiwick domain reset {name} tries again",
    "rate_limited": "it asks us to stay away: {why}",
    "login_wall": "it wants a login: {why}",
    "robots_denied": "its robots.txt forbids it",
    "unreachable": "unreachable: {why}; bailiwick domain reset {name} tries again",
}
"""What is said of each stop reason, and the next step."""


def summarise(progress: "Progress", parsed: "Tally | None" = None, *, as_json: bool) -> None:
    """Tell it to people, or to machines (one object a domain)."""
    if as_json:
        for known in progress.domains.values():
            click.echo(json.dumps(_facts(known), ensure_ascii=False))
        return
    ended = list(progress.domains.values())
    width = max((len(known.name) for known in ended[:_ROWS]), default=0)
    for known in ended[:_ROWS]:
        click.echo(f"{printable(known.name):<{width}}  {known.pages_done:,} pages: {printable(next_step(known))}")
    if len(ended) > _ROWS:
        click.echo(f"… and {progress.count - _ROWS:,} more domains (bailiwick run list)")
    if not ended:
        click.echo("nothing is due")
        return
    seconds = time.monotonic() - progress.started
    click.echo(
        f"{progress.pages:,} pages of {progress.count:,} domains in {seconds:.1f} s "
        f"({progress.pages / max(seconds, 0.1):.1f}/s), {progress.errors:,} errors, {size(progress.bytes_received)}"
    )
    if parsed is not None and parsed.pages:
        summarise_parsed(parsed)
    if progress.images:
        summarise_images(progress)


def summarise_images(progress: "Progress") -> None:
    """Tell people what came of images."""
    stored = progress.images["stored"]
    others = [f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in sorted(progress.images.items())
              if outcome != "stored"]  # fmt: skip
    click.echo(f"{progress.images.total():,} images asked for: {', '.join([f'{stored:,} stored', *others])}")


def summarise_parsed(parsed: "Tally") -> None:
    """Tell people what parsing came to."""
    unread = f", {parsed.unread:,} not readable (bailiwick url list --unread)" if parsed.unread else ""
    click.echo(f"{parsed.pages:,} pages parsed: {parsed.relevant:,} relevant, {parsed.items:,} items{unread}")


def next_step(known: "DomainProgress") -> str:
    """Why it stopped, and what to do now."""
    if known.reason is None:
        if known.next_in_seconds and known.why:
            return f"{known.why}: tried again in {known.next_in_seconds / 60:.0f} min"
        if known.next_in_seconds:
            return f"{known.pages_waiting:,} pages wait for a retry in {known.next_in_seconds:.0f} s: run again"
        return "goes on: run again"
    return _NEXT[known.reason].format(
        name=known.name,
        why=known.why,
        page_budget=known.page_budget,
        max_depth=known.max_depth,
        deeper=known.max_depth + 1,
        pages_waiting=known.pages_waiting,
    )


def _facts(known: "DomainProgress") -> dict[str, object]:
    return {
        "domain": known.name,
        "pages": known.pages_done,
        "known": known.pages_known,
        "waiting": known.pages_waiting,
        "errors": known.errors,
        "bytes": known.bytes_received,
        "images_stored": known.images_stored,
        "depth": known.depth,
        "stop_reason": known.reason,
        "why": known.why,
        "next": next_step(known),
    }
