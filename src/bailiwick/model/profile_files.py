"""Profiles as files: six inside the package, a user's own in `profiles/` beside `bailiwick.toml`.

A file of one's own may lie over another profile (`extends = "funding"`). One that has a built-in's name must extend
that very built-in: nobody's crawl changes its meaning because a file happened to be called `products.toml`.
"""

import difflib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias, get_args

from pydantic import BaseModel, JsonValue, ValidationError

from bailiwick.base.errors import NotFoundError, ProfileError
from bailiwick.model.profile_lines import line_of
from bailiwick.model.profiles import PROFILE_NAME, Profile

DIRECTORY = "profiles"
Tree: TypeAlias = dict[str, JsonValue]
Location: TypeAlias = tuple[str | int, ...]

_MERGED = ("keywords", "negative_keywords", "examples", "organisations", "images", "model")
"""Tables that are laid over the extended profile's key by key; everything else is replaced."""
_MAX_DEPTH = 10


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A profile's text and where it came from."""

    name: str
    text: str
    where: str
    is_builtin: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A line of the list: the profile, or why it cannot be read."""

    name: str
    where: str
    is_builtin: bool
    profile: Profile | None
    error: ProfileError | None = None


def load_profile(name: str, directory: Path | None) -> Profile:
    """The profile of that name, of one's own (in `directory`) or built in.

    NotFoundError names the known ones; ProfileError has file, line and what is wrong there.
    """
    file = _own(name, directory) or _builtin(name)
    if file is None:
        raise unknown_profile(name, profile_names(directory))
    return _load(file, directory)


def check_file(path: Path) -> Profile:
    """The profile in a file, wherever it lies; what it extends is looked for beside it. ProfileError, OSError."""
    return _load(_read(path), path.parent)


def list_profiles(directory: Path | None) -> list[Listed]:
    """All of them by name, the broken ones too. One's own of a built-in's name stands in the built-in's place."""
    return [_listed(name, directory) for name in profile_names(directory)]


def profile_names(directory: Path | None) -> list[str]:
    own = {path.stem for path in _own_files(directory) if re.match(PROFILE_NAME, path.stem)}
    return sorted(own | {path.name.removesuffix(".toml") for path in _package() if path.name.endswith(".toml")})


def unknown_profile(name: str, known: list[str]) -> NotFoundError:
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    return NotFoundError(f"there is no profile {name!r}", hint=f"{meant}known: {', '.join(known)}")


def _listed(name: str, directory: Path | None) -> Listed:
    file = _own(name, directory) or _builtin(name)
    if file is None:  # it went away meanwhile
        raise unknown_profile(name, [])
    try:
        return Listed(name, file.where, file.is_builtin, _load(file, directory))
    except ProfileError as error:
        return Listed(name, file.where, file.is_builtin, None, error)


def _load(file: ProfileFile, directory: Path | None) -> Profile:
    tree = _parsed(file)
    _check_name(file, tree)
    whole = _extended(file, tree, directory, seen=(file.where,))
    try:
        return Profile.model_validate({**whole, "name": file.name})
    except ValidationError as error:
        raise _explained(file, error) from None


def _parsed(file: ProfileFile) -> Tree:
    try:
        return tomllib.loads(file.text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else file.text.count("\n") + 1
        what = re.sub(r" \(at .*\)$", "", str(error))
        raise ProfileError(f"{file.where}:{line}: {what}", hint="a profile is TOML: name = value") from None


def _check_name(file: ProfileFile, tree: Tree) -> None:
    if not re.match(PROFILE_NAME, file.name):
        raise ProfileError(
            f"{file.where}: a profile is called by lower-case letters, digits and hyphens, not {file.name!r}",
            hint="rename the file",
        )
    if "name" in tree:
        raise _at(file, ("name",), "a profile has the name of its file", hint="remove this line, or rename the file")
    if not file.is_builtin and _builtin(file.name) and tree.get("extends") != file.name:
        raise ProfileError(
            f"{file.where}: there is a built-in profile {file.name}",
            hint=f'rename the file, or build on the built-in one: extends = "{file.name}"',
        )


def _extended(file: ProfileFile, tree: Tree, directory: Path | None, seen: tuple[str, ...]) -> Tree:
    """The tree with what it extends below it."""
    if "extends" not in tree:
        return tree
    below = _extended_file(file, tree["extends"], directory)
    if below.where in seen or len(seen) > _MAX_DEPTH:
        raise _at(file, ("extends",), f"{tree['extends']} extends this one in turn")
    under = _parsed(below)
    _check_name(below, under)
    return _laid_over(_extended(below, under, directory, (*seen, below.where)), tree)


def _extended_file(file: ProfileFile, name: JsonValue, directory: Path | None) -> ProfileFile:
    if not isinstance(name, str):
        raise _at(file, ("extends",), "the name of a profile is wanted")
    found = _builtin(name) if name == file.name else _own(name, directory) or _builtin(name)
    if found is None:
        error = unknown_profile(name, profile_names(directory))
        raise _at(file, ("extends",), error.message, hint=error.hint)
    return found


def _laid_over(below: Tree, above: Tree) -> Tree:
    merged = {**below, **above}
    for key in _MERGED:
        under, over = below.get(key), above.get(key)
        if isinstance(under, dict) and isinstance(over, dict):
            # A weight of 0 takes a keyword of the extended profile away.
            merged[key] = {name: value for name, value in {**under, **over}.items() if name not in over or value != 0}
    return merged


def _explained(file: ProfileFile, error: ValidationError) -> ProfileError:
    """The first fault, with its line; one of the extended profile is told with the nearest line of this one."""
    faults = error.errors(include_url=False, include_input=False)
    # A misspelt key first: it is why another one is missing.
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    location: Location = tuple(part for part in first["loc"] if part != "[key]")
    if first["type"] == "extra_forbidden":
        names = _field_names(location[:-1])
        near = difflib.get_close_matches(str(location[-1]), names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
        return _at(file, location, f"there is no {location[-1]} in a profile", hint=hint)
    what = first["msg"].removeprefix("Value error, ")
    shown = ".".join(str(part) for part in location)
    return _at(file, location, f"{shown}: {what}" if shown else what)


def _field_names(location: Location) -> list[str]:
    """The names that may stand in the table at a location."""
    part: type[BaseModel] = Profile
    for key in location:
        if isinstance(key, str) and key in part.model_fields:
            part = next(_parts_in(part.model_fields[key].annotation), part)
    return [name for name in part.model_fields if name != "name" or part is not Profile]


def _parts_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The models that a field is made of, however deep: `tuple[Band, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _parts_in(inner)


def _at(file: ProfileFile, location: Location, what: str, *, hint: str | None = None) -> ProfileError:
    return ProfileError(f"{file.where}:{line_of(file.text, location)}: {what}", hint=hint)


def _package() -> Iterator[Path]:
    for entry in files("bailiwick").joinpath(DIRECTORY).iterdir():
        yield Path(str(entry))


def _builtin(name: str) -> ProfileFile | None:
    for path in _package():
        if path.name == f"{name}.toml":
            return ProfileFile(name, path.read_text(encoding="utf-8"), f"built-in {name}", is_builtin=True)
    return None


def _own(name: str, directory: Path | None) -> ProfileFile | None:
    return next((_read(path) for path in _own_files(directory) if path.stem == name), None)


def _own_files(directory: Path | None) -> list[Path]:
    return sorted(directory.glob("*.toml")) if directory is not None and directory.is_dir() else []


def _read(path: Path) -> ProfileFile:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise ProfileError(f"{path}:{line}: this is not valid UTF-8") from None
    except OSError as error:
        raise ProfileError(f"cannot read {path}: {error.strerror}") from None
    return ProfileFile(path.stem, text, str(path), is_builtin=False)
