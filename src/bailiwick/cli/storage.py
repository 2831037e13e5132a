"""`bailiwick storage`: how much is kept of what was fetched, whether it can be read, and how to make room."""

from contextlib import closing
from dataclasses import asdict

import click

from bailiwick.app import App
from bailiwick.base.amounts import size
from bailiwick.cli.acting import find_named
from bailiwick.cli.context import Session, json_option, pass_session, text
from bailiwick.cli.output import Row, show_facts, show_rows
from bailiwick.cli.progress import progress
from bailiwick.registry.workers import machine_id
from bailiwick.store.image_upkeep import (
    ImageStatus,
    ImagesVerified,
    image_status,
    sweep_images,
    verify_images,
)
from bailiwick.store.packs import PackStore
from bailiwick.store.shelf import Shelf
from bailiwick.store.status import StorageStatus
from bailiwick.store.status import status as look
from bailiwick.store.sweep import Swept
from bailiwick.store.sweep import sweep as run_sweep
from bailiwick.store.verify import Verified
from bailiwick.store.verify import verify as run_verify

_FAULT = ("kind", "domain", "path", "why")


@click.group()
def storage() -> None:
    """Look after stored bodies and images, and the room they take."""


@storage.command()
@json_option
@pass_session
def status(session: Session, *, as_json: bool) -> None:
    """Show how much is stored, and how much of it pages refer to."""
    shelf = _shelf(session.app)
    with shelf.database.read() as conn:
        found = look(conn, shelf.directory)
        images = image_status(conn, session.app.image_files)
    facts: dict[str, str | int | bool] = {"directory": str(shelf.directory)}
    told = asdict(found) | asdict(images) if as_json else _for_people(found) | _images_for_people(images)
    show_facts(facts | told, as_json=as_json)


@storage.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@json_option
@pass_session
def sweep(session: Session, *, dry_run: bool, as_json: bool) -> None:
    """Remove bodies and images that no page refers to any more.

    Packs younger than storage.sweep_after_hours, and packs in use, are left alone. A pack goes as a whole when nothing
    refers to it. One that is mostly dead, or holds bodies of purged pages, is written anew without them. May run
    beside crawls, and be broken off at any time.
    """
    shelf = _shelf(session.app)
    with shelf.database.read() as conn:
        total = look(conn, shelf.directory).disk_bytes
    age_seconds = shelf.settings.sweep_after_hours * 3600
    with progress("sweeping", total=total) as advance:
        swept = run_sweep(shelf, is_dry=dry_run, advance=advance)
        images = sweep_images(shelf.database, session.app.image_files, age_seconds=age_seconds, is_dry=dry_run)
    if as_json:
        facts: dict[str, int | bool] = asdict(swept) | {f"image_{name}": n for name, n in asdict(images).items()}
        show_facts(facts | {"freed_bytes": swept.freed_bytes, "dry_run": dry_run}, as_json=True)
        return
    click.echo(_swept(swept, dry_run=dry_run))
    if images.images or images.files:
        would = "would be " if dry_run else ""
        click.echo(f"{_count(images.images, 'image')} {would}removed ({size(images.file_bytes)})")
    for line in _left_alone(swept, shelf.settings.sweep_after_hours):
        click.echo(line, err=True)


@storage.command()
@click.option("--domain", "name", type=text, metavar="NAME", help="Only the bodies of this domain.")
@json_option
@pass_session
def verify(session: Session, *, name: str | None, as_json: bool) -> int:
    """Read every stored body and image again and compare them. Ends with 1 if one is damaged or missing."""
    app = session.app
    shelf = _shelf(app)
    with shelf.database.read() as conn:
        domain_id = find_named(conn, name, app).id if name else None
        total = look(conn, shelf.directory).bodies if domain_id is None else None
    tally = Verified()
    with closing(PackStore(shelf)) as store, progress("reading bodies", total=total) as advance:
        for tally in run_verify(shelf.database, store, machine=shelf.machine, domain_id=domain_id):
            advance(tally.checked)
    images = _verified_images(app, shelf) if domain_id is None else ImagesVerified()
    rows: list[Row] = [asdict(fault) for fault in tally.faults]
    rows += [{"kind": f.kind, "domain": None, "path": f.path, "why": f"image {f.id}"} for f in images.faults]
    if rows:
        show_rows(rows, _FAULT, as_json=as_json, empty="")
    _show_verified(tally, images, as_json=as_json)
    return 0 if tally.is_sound and images.is_sound else 1


def _verified_images(app: App, shelf: Shelf) -> ImagesVerified:
    tally = ImagesVerified()
    with progress("reading images", total=None) as advance:
        for tally in verify_images(shelf.database, app.image_files, machine=shelf.machine):
            advance(tally.checked)
    return tally


def _shelf(app: App) -> Shelf:
    return Shelf(app.database, app.place.data / "packs", machine_id(), app.settings.storage)


def _for_people(found: StorageStatus) -> dict[str, str | int | bool]:
    about = "about " if found.is_estimate else ""
    facts: dict[str, str | int | bool] = {
        "packs": f"{found.packs:,} ({found.sealed:,} sealed)",
        "on_disk": size(found.disk_bytes),
        "bodies": f"{about}{found.bodies:,}",
        "live": f"{about}{size(found.live_bytes)}",
    }
    if found.elsewhere:
        facts["elsewhere"] = f"{found.elsewhere:,} packs are not in this directory"
    if found.orphans:
        facts["orphans"] = f"{found.orphans:,} files that the database does not know, {size(found.orphan_bytes)}"
    return facts


def _images_for_people(found: ImageStatus) -> dict[str, str | int | bool]:
    if not (found.images or found.image_files):
        return {}
    facts: dict[str, str | int | bool] = {"images": f"{found.images:,}, {size(found.image_bytes)}"}
    if found.image_orphans:
        facts["image_orphans"] = f"{found.image_orphans:,} files that the database does not know"
    return facts


def _swept(swept: Swept, *, dry_run: bool) -> str:
    if not swept.removed:
        return "nothing to remove"
    would = "would be " if dry_run else ""
    parts = [f"{_count(swept.removed, 'pack')} {would}removed ({size(swept.removed_bytes)})"]
    if swept.rewritten:
        parts.append(
            f"{swept.rewritten:,} of them after copying out {_count(swept.copied, 'live body', 'live bodies')}"
        )
    if swept.orphans:
        parts.append(f"{swept.orphans:,} of them unknown to the database")
    return f"{', '.join(parts)}; {size(max(0, swept.freed_bytes))} {would}freed"


def _left_alone(swept: Swept, hours: float) -> list[str]:
    left = {
        f"younger than {hours:g} hours": swept.young,
        "in use by a process": swept.busy,
        "mostly alive": swept.kept,
        "of another database": swept.foreign,
        "with bodies that could not be moved (bailiwick storage verify tells why)": swept.stuck,
    }
    return [f"left alone: {_count(count, 'pack')} {why}" for why, count in left.items() if count]


def _count(count: int, one: str, many: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _show_verified(tally: Verified, images: ImagesVerified, *, as_json: bool) -> None:
    counts: dict[str, int] = {
        "checked": tally.checked,
        "body_bytes": tally.body_bytes,
        "damaged": tally.damaged,
        "missing": tally.missing,
        "elsewhere": tally.elsewhere,
        "images_checked": images.checked,
        "images_damaged": images.damaged,
        "images_missing": images.missing,
    }
    if as_json:
        show_facts(counts, as_json=True)
        return
    found = "all sound" if tally.is_sound else f"{tally.damaged:,} damaged, {tally.missing:,} missing"
    click.echo(f"{_count(tally.checked, 'body', 'bodies')} read ({size(tally.body_bytes)}): {found}")
    if images.checked:
        told = "all sound" if images.is_sound else f"{images.damaged:,} damaged, {images.missing:,} missing"
        click.echo(f"{_count(images.checked, 'image')} read: {told}")
    if len(tally.faults) < tally.damaged + tally.missing:
        click.echo(f"only the first {len(tally.faults):,} are listed", err=True)
    if tally.elsewhere + images.elsewhere:
        click.echo(f"on other machines, to be verified there: {tally.elsewhere + images.elsewhere:,}", err=True)
