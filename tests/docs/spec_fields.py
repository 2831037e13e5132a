"""Finds what a specification declares: text in; fields with defaults, named objects and listed values out.

It reads SQL (CREATE, ALTER, INSERT, loose column lines), field tables, TypeScript types and index mappings.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

# Where the page gathers under one heading what a specification calls by several names.
_SAME_ENTITY = {
    ("001", "domain"): "Domain",
    ("001", "funding_source_candidate"): "FundingSourceCandidate",
    ("002", ""): "domains",
    ("003", "ReviewDecisionDto"): "ReviewDecision",
    ("003", "url_results"): "UrlResult",
}
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_STATEMENT = re.compile(r"\b(?:CREATE|ALTER|INSERT|SELECT|UPDATE)\b")
_CREATE = re.compile(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+) \((.*?)\n\);", re.DOTALL)
_ALTER = re.compile(r"ALTER TABLE (\w+)\s+(?:ADD|ALTER) COLUMN (?:IF NOT EXISTS )?(\w+)([^;]*);")
_INSERT = re.compile(r"INSERT INTO (\w+) \(([^)]*)\)")
_COLUMN_LINE = re.compile(r"^ *(?!UNIQUE|PRIMARY|FOREIGN|CHECK|CONSTRAINT)(\w+) +([A-Za-z_]\w*\b.*)$", re.MULTILINE)
_DEFAULT = re.compile(r"DEFAULT\s+('[^']*'|[\w.]+(?:\(\))?)")
_HEADING = re.compile(r"^#{2,5} (?:\d+\. )?(.+?)(?: \(.*\))?$|^\*\*Nested: (\w+)\*\*")
_TYPE = re.compile(r"(?:interface|class) (\w+) \{")
_TYPE_TOKEN = re.compile(r"(\w+)\??:|([{}])")
_OBJECTS = re.compile(
    r"\b(idx_\w+|ENABLE_\w+)\b|(?:ADD CONSTRAINT|CREATE TRIGGER|REPLACE FUNCTION|CREATE TYPE)\s+(\w+)"
)
_VALUE_LIST = re.compile(r"(?:ENUM|CHECK \(\w+ IN) \(([^)]*)\)")
_VALUE_BULLET = re.compile(r"^- `(\w+)`(?: -|:)", re.MULTILINE)


class Declared(NamedTuple):
    entity: str
    name: str
    default: str | None


def fields(spec: str, text: str) -> set[Declared]:
    """Fields as (entity, snake_case path, default); the entity is the heading that the page uses."""
    found = [*_from_blocks(text), *_from_tables(text)]
    return {Declared(_SAME_ENTITY.get((spec, f.entity), f.entity), snake(f.name), f.default) for f in found}


def objects(text: str) -> set[str]:
    """Indexes, feature flags, constraints, triggers, functions and enum types."""
    return {one or other for one, other in _OBJECTS.findall(text)}


def index_names(text: str) -> set[str]:
    return {name for name in objects(text) if name.startswith("idx_")}


def values(text: str) -> set[str]:
    """Values of enums, of CHECK … IN lists, of TypeScript unions and of bulleted lists; in lower case."""
    lists = [
        *_VALUE_LIST.findall(text),
        *(_uncommented(body) for kind, body in _BLOCK.findall(text) if kind == "typescript"),
    ]
    quoted = {value for one in lists for value in re.findall(r"'(\w+)'", one)}
    return {value.lower() for value in quoted | set(_VALUE_BULLET.findall(text))}


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _from_blocks(text: str) -> Iterator[Declared]:
    for kind, body in _BLOCK.findall(text):
        if kind == "sql":
            yield from _from_sql(re.sub(r"--.*", "", body))
        elif kind == "typescript":
            yield from _from_typescript(_uncommented(body))
        elif kind == "json" and '"mappings"' in body:
            properties = json.loads(body)["mappings"]["properties"]
            yield from (Declared("Index: products", name, None) for name in properties)


def _from_sql(body: str) -> Iterator[Declared]:
    for table, columns in _CREATE.findall(body):
        yield from (Declared(table, name, _default(rest)) for name, rest in _COLUMN_LINE.findall(columns))
    for table, name, rest in _ALTER.findall(body):
        yield Declared(table, name, _default(rest))
    for table, columns in _INSERT.findall(body):
        yield from (Declared(table, name, None) for name in re.findall(r"\w+", columns))
    if not _STATEMENT.search(body):
        yield from (Declared("", name, _default(rest)) for name, rest in _COLUMN_LINE.findall(body))


def _default(rest: str) -> str | None:
    """Times are `now` and generated ids `random`, as the page writes them."""
    if not (found := _DEFAULT.search(rest)):
        return None
    value = found[1].strip("'").lower()
    if "uuid" in value:
        return "random"
    return "now" if value in {"now()", "current_timestamp"} else value


def _from_tables(text: str) -> Iterator[Declared]:
    entity, inside = "", False
    for line in text.splitlines():
        if heading := _HEADING.match(line):
            entity = heading[1] or heading[2]
        if re.match(r"\| (?:Field|Column) \| Type \|", line):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and (row := re.match(r"\| (\w+) \|(.*)", line)):
            yield Declared(entity, row[1], _default(row[2]))


def _from_typescript(body: str) -> Iterator[Declared]:
    for start in _TYPE.finditer(body):
        path: list[str] = []
        last = ""
        for key, brace in _TYPE_TOKEN.findall(body, start.end()):
            if key:
                last = key
                yield Declared(start[1], ".".join([*path, key]), None)
            elif brace == "{":
                path.append(last)
            elif path:
                path.pop()
            else:
                break


def _uncommented(body: str) -> str:
    return re.sub(r"//.*", "", body)
