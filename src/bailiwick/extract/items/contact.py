"""Contacts: by which an organisation or a person is reached, with name and role where they stand beside."""

# ruff: noqa: RUF001 - pages write dashes and quotes of many kinds

import re
from dataclasses import dataclass, field

from bailiwick.extract.items.checked import Maker, checked
from bailiwick.extract.items.emails import emails_in, without_emails
from bailiwick.extract.items.evidence import LABELLED, MARKUP
from bailiwick.extract.items.lines import Line, Zone
from bailiwick.extract.items.persons import has_title, is_department, is_label, is_name, is_role, may_be_role
from bailiwick.extract.items.phones import e164
from bailiwick.extract.items.reach import Mark
from bailiwick.extract.items.source import Source
from bailiwick.extract.structured import Thing, everything_in
from bailiwick.model.items import Gathered, ItemKind

MAKER = Maker("contact", 1)
_MOST = 200
_MOST_BACK = 5
_PIECES = re.compile(
    r"\s[–—-]\s|[,;:|·/<>]\s*|\s?[()]\s?|"
    r"(?<!\b[A-Z])(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSr)(?<!\bMrs)(?<!\bProf)(?<!\bMag)\.\s|"
    r"\s(?:at|on|an|oder|or|unsere?|our|is|to|and|contact|would)\s"
)
_LEADING = re.compile(r"^(?:our|the|unsere?|notre|nuestr[oa]|onze|by|contact|ring|email|call)\s", re.IGNORECASE)
_FROM_TO = 3
_PLAIN_LETTERS = str.maketrans("äöüáàâéèêíìîóòôúùûñç", "aouaaaeeeiiiooouuunc")


@dataclass(slots=True)
class Found:
    """A contact in the making; `at` and `end` are its first and its last line."""

    at: int
    end: int
    email: str | None = None
    telephone: str | None = None
    name: str | None = None
    role: str | None = None
    sure: float = LABELLED
    is_named_by_markup: bool = False
    texts: list[str] = field(default_factory=list)


def contacts_of(source: Source) -> Gathered:
    """All contacts of a page, each once."""
    groups = _groups(source.lines, source.facts.marks)
    for group in groups:
        _read_around(source, group)
    found = _merged([*_by_markup(source), *groups])
    gathered = Gathered()
    for position, one in enumerate(found[:_MOST]):
        values = {"email": one.email, "telephone": one.telephone, "name": one.name, "role": one.role, "url": source.url}
        sure = {"email": one.sure, "telephone": one.sure, "name": one.sure - 0.1, "role": one.sure - 0.15}
        gathered.add(checked(ItemKind.CONTACT, values, sure, MAKER, position=position, confidence=one.sure))
    return gathered


def _groups(lines: list[Line], marks: list[Mark]) -> list[Found]:
    """Marks that belong together: near, without a heading between, one of each sort."""
    found: list[Found] = []
    for mark in sorted(marks, key=lambda one: (one.at, one.start)):
        last = found[-1] if found else None
        if last is not None and _belongs(lines, last, mark):
            last.email, last.telephone = last.email or mark.email, last.telephone or mark.telephone
            last.end = mark.at
        else:
            found.append(Found(mark.at, mark.at, mark.email, mark.telephone))
    return found


def _belongs(lines: list[Line], last: Found, mark: Mark) -> bool:
    if (mark.email and last.email) or (mark.telephone and last.telephone):
        return False
    first, line = lines[last.end], lines[mark.at]
    if first.zone is not line.zone or mark.at - last.end > _FROM_TO:
        return False
    if first.row or line.row:
        return first.row == line.row or (line.row > 0 and first.row > 0 and _is_label_row(lines, mark.at))
    between = lines[last.end + 1 : mark.at + 1]
    return not any(one.level and not is_label(one.text) for one in between) and not any(
        is_name(one.text) for one in between
    )


def _is_label_row(lines: list[Line], at: int) -> bool:
    """A row of two cells: a label and its value, so that neighbouring rows are of one thing."""
    return lines[at].cell == 2 and at > 0 and lines[at - 1].row == lines[at].row and is_label(lines[at - 1].text)


def _read_around(source: Source, group: Found) -> None:
    """Name and role out of the lines of a group and those just above."""
    lines = source.lines
    site = {word.casefold() for word in re.findall(r"\w{4,}", (source.facts.site or ("", 0))[0])}
    pieces = [
        piece for piece in _before(lines, group) if not (is_name(piece) and site.intersection(piece.casefold().split()))
    ]
    _assign(group, pieces)
    if group.name is not None and not _is_backed(source, group):
        group.name = None
    if group.name is None:
        return
    if group.role is None and (place := _place(pieces, group.name)) is not None:
        after = pieces[place + 1] if place + 1 < len(pieces) else ""
        before = pieces[place - 1] if place else ""
        if may_be_role(after) and not is_name(after):
            group.role = after
        elif may_be_role(before) and not is_name(before) and len(before.split()) <= 3:
            group.role = before


def _is_backed(source: Source, group: Found) -> bool:
    """Whether more than capital letters says that it is a person: a title, a role, the address, its own line."""
    name = group.name or ""
    if group.role is not None and is_role(group.role):
        return True
    words = re.findall(r"[a-z]{3,}", name.casefold().translate(_PLAIN_LETTERS))
    local = (group.email or "").partition("@")[0].translate(_PLAIN_LETTERS)
    if any(word in local for word in words) or has_title(name):
        return True
    near = source.lines[max(0, group.at - _MOST_BACK) : group.end + 1]
    return source.lines[group.at].zone is not Zone.FOOTER and (
        any(line.text == name or line.text.startswith(name) or name in line.text.split(": ") for line in near)
        or len(near[-1].text) < 200
    )


def _place(pieces: list[str], name: str) -> int | None:
    return pieces.index(name) if name in pieces else None


def _before(lines: list[Line], group: Found) -> list[str]:
    """Pieces of text, in reading order, that may tell whose it is."""
    first = lines[group.at]
    taken: list[str] = []
    if first.row and not _is_label_row(lines, group.at):
        texts = [line.text for line in lines[max(0, group.at - 8) : group.end + 8] if line.row == first.row]
        return [piece for text in texts for piece in _pieces(text)]
    for at in range(group.at, max(-1, group.at - 1 - _MOST_BACK), -1):
        line = lines[at]
        if line.zone is not first.zone:
            break
        if at < group.at and _has_mark(line.text) and not (first.row and line.row and line.row != first.row):
            break
        taken = [*_pieces(line.text), *taken]
        if line.level and (at < group.at) and not is_label(line.text):
            break
        if len(line.text) > 200 and at < group.at:
            break
    for at in range(group.at + 1, group.end + 1):
        taken += _pieces(lines[at].text)
    return taken


def _has_mark(text: str) -> bool:
    return "@" in text or bool(emails_in(text)) or bool(re.search(r"\d{3}[\d\s/-]{4,}", text))


def _pieces(text: str) -> list[str]:
    text = without_emails(text[:300])
    parts = (_LEADING.sub("", part.strip(" .,:–-&")) for part in _PIECES.split(text))
    return [piece for piece in parts if piece and not re.search(r"\d", piece)]


def _assign(group: Found, pieces: list[str]) -> None:
    """The last name before the mark is whose it is; so is the last role."""
    for piece in reversed(pieces):
        if group.name is None and (name := _name_in(piece)):
            group.name = name
            if (
                name != piece
                and (rest := piece.replace(name, "").strip(" ,"))
                and (is_role(rest) or is_department(rest))
            ):
                group.role = group.role or rest
        elif group.role is None and is_role(piece) and not is_name(piece):
            group.role = piece
    if group.role is None and group.name is None:
        group.role = next((piece for piece in reversed(pieces) if is_department(piece) and piece[0].isupper()), None)
    elif group.role is None:
        group.role = next((piece for piece in reversed(pieces) if is_department(piece) and not is_name(piece)), None)


def _name_in(piece: str) -> str | None:
    """A piece that is a name, or ends with one: "Principal Angela Ruiz", "Dossier à Mireille Aubort"."""
    if is_name(piece):
        return piece
    words = piece.split()
    for count in (4, 3, 2):
        tail = " ".join(words[-count:])
        if len(words) > count and is_name(tail) and (words[-count - 1].islower() or is_role(words[-count - 1])):
            return tail
    return None


def _by_markup(source: Source) -> list[Found]:
    found = []
    for thing in everything_in(source.things):
        if thing.is_a(("Product", "Offer", "Review", "Article", "NewsArticle", "BlogPosting")):
            continue
        one = _of_thing(source, thing)
        if one is not None:
            found.append(one)
    return found[:_MOST]


def _of_thing(source: Source, thing: Thing) -> Found | None:
    email = next(
        (address for text in thing.texts("email")[:3] for address in emails_in(text.removeprefix("mailto:"))), None
    )
    number = next(
        (
            number
            for text in thing.texts("telephone")[:3]
            if (number := e164(text, source.facts.country, is_trusted=True))
        ),
        None,
    )
    if email is None and number is None:
        return None
    is_person = thing.is_a(("Person", "Patient", "Physician"))
    name = thing.text("name") if is_person else None
    role = thing.text("jobTitle", "roleName") if is_person else thing.text("contactType")
    return Found(-1, -1, email, number, name, role, MARKUP, is_named_by_markup=is_person or role is not None)


def _merged(found: list[Found]) -> list[Found]:
    """Contacts that share an address or a number are one; what names a person comes before what does not."""
    kept: list[Found] = []
    for one in found:
        same = next((other for other in kept if _is_same(one, other)), None)
        if same is None:
            kept.append(one)
            continue
        same.email, same.telephone = same.email or one.email, same.telephone or one.telephone
        if not same.is_named_by_markup or same.name is None:
            same.name = same.name or one.name
        same.role = same.role or one.role
    return kept


def _is_same(one: Found, other: Found) -> bool:
    if one.email and other.email:
        return one.email == other.email
    if one.telephone and other.telephone:
        return one.telephone == other.telephone
    return False
