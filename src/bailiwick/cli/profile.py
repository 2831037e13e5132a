"""`bailiwick profile`: what can be looked for, and whether one's own files say it rightly."""

import json
from pathlib import Path

import click
from pydantic import JsonValue

from bailiwick.base.errors import ProfileError
from bailiwick.cli.context import Session, json_option, pass_session
from bailiwick.cli.output import Row, show_facts, show_rows
from bailiwick.model.profile_files import Listed, check_file, list_profiles, load_profile
from bailiwick.model.profiles import Profile


@click.group()
def profile() -> None:
    """See and check profiles: what one use of Bailiwick looks for.

    A profile names a topic with its keywords and examples, the items that are extracted, and where scores lead. Six
    are built in. Your own are files profiles/NAME.toml beside bailiwick.toml:

    \b
      extends = "funding"                  start from another profile
      title = "Funding for music schools"
      [keywords]
      "music school" = 1.5                 a word or phrase and its weight
      [examples]
      positive = ["Grants for instruments, apply by May."]
    \b
      bailiwick profile check profiles/music.toml
      bailiwick crawl example.org --profile music
    """


@profile.command("list")
@json_option
@pass_session
def list_(session: Session, *, as_json: bool) -> None:
    """List all profiles, the built-in and your own."""
    rows = [_row(listed, session.place.root) for listed in list_profiles(session.place.profiles)]
    show_rows(rows, ("name", "from", "relevant", "items", "title"), as_json=as_json, empty="no profiles")


@profile.command()
@click.argument("name")
@json_option
@pass_session
def show(session: Session, *, name: str, as_json: bool) -> None:
    """Show one profile whole, with what it extends."""
    found = load_profile(name, session.place.profiles)
    facts: dict[str, JsonValue] = found.model_dump(mode="json", exclude_none=True)
    facts["mark"] = found.mark
    show_facts(facts if as_json else {key: _told(value) for key, value in facts.items()}, as_json=as_json)


@profile.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@json_option
def check(*, files: tuple[Path, ...], as_json: bool) -> int:
    """Check files of your own before they are used; ends with 1 if one is wrong, and says in which line."""
    rows = [_checked(path) for path in files]
    if as_json:
        show_rows(rows, (), as_json=True, empty="")
    else:
        for row in rows:
            click.echo(f"{row['file']}: ok" if row["ok"] else f"error: {row['error']}", err=not row["ok"])
            for key in ("hint", "note"):
                if row[key]:
                    click.echo(f"{key}: {row[key]}", err=True)
    return 0 if all(row["ok"] for row in rows) else 1


def _row(listed: Listed, root: Path) -> Row:
    found = listed.profile
    return {
        "name": listed.name,
        "from": "built in" if listed.is_builtin else str(Path(listed.where).relative_to(root)),
        "relevant": None if found is None else _relevant(found),
        "items": None if found is None else ", ".join(found.extractors),
        "title": found.title if found else f"error: {listed.error}",
    }


def _relevant(found: Profile) -> str:
    return "everything" if found.takes_everything else f"from {found.relevance_threshold:g}"


def _checked(path: Path) -> Row:
    try:
        found = check_file(path)
    except ProfileError as error:
        return {"file": str(path), "ok": False, "error": error.message, "hint": error.hint, "note": None}
    return {"file": str(path), "ok": True, "error": None, "hint": None, "note": _note(found)}


def _note(found: Profile) -> str | None:
    """What is allowed and yet seldom meant."""
    if found.topic is not None and not found.examples.positive:
        return "without positive examples, keywords judge alone"
    return None


def _told(value: JsonValue) -> JsonValue:
    """A list or a table on one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_told(part)}" for key, part in value.items()) or "none"
    if isinstance(value, list):
        return "; ".join(str(_told(part)) for part in value) or "none"
    return " ".join(value.split()) if isinstance(value, str) else json.loads(json.dumps(value))
