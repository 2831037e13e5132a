"""Which parsers there are: found out apart, with clear words for what is wrong, and a mark that moves with the code."""

from pathlib import Path

import pytest

from bailiwick.extract.parsers.facts import Survey
from bailiwick.extract.parsers.survey import survey
from bailiwick.model.items import ItemKind
from tests.extract.parser_files import GOOD, returning, write


def told(found: Survey) -> list[str]:
    return [str(fault) for fault in found.faults]


def test_no_folder_no_parsers(tmp_path: Path) -> None:
    assert survey(tmp_path / "parsers") == survey(None)
    assert survey(write(tmp_path / "parsers")).parsers == ()


def test_what_is_known_of_a_parser(tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers", shop=GOOD, _helper="raise ValueError")
    found = survey(folder)
    [parser] = found.parsers
    assert (parser.name, parser.version, parser.kind) == ("shop.ShelfPage", 3, ItemKind.PRODUCT)
    assert (parser.patterns, parser.hosts) == (("shop.example/dp/",), ("shop.example",))
    assert (parser.where, parser.refused, found.faults) == (str(folder / "shop.py"), None, ())
    assert not (folder / "__pycache__").exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("def f(:\n    pass", ":1: invalid syntax"),
        ("x = 1\n\nprint(y)", ":3: NameError: name 'y' is not defined"),
        ("import no_such_module", ":1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("\nraise SystemExit", ":2: SystemExit"),
        ("import os\nos._exit(0)", ": it ends the process that loads it, or takes more than 3 s"),
        ("while True: pass", ": it ends the process that loads it, or takes more than 3 s"),
        ("from web_poet import WebPage, handle_urls\n@handle_urls('/x/')\nclass A(WebPage): ...",
         ":2: IncludePatternsWithoutDomainError"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_loaded_harms_no_other(tmp_path: Path, text: str, what: str) -> None:
    folder = write(tmp_path / "parsers", bad=text, shop=GOOD)
    found = survey(folder, seconds=3)
    [fault] = told(found)
    assert fault.startswith(f"{folder / 'bad.py'}{what}")
    assert [parser.name for parser in found.usable] == ["shop.ShelfPage"]
    assert found.sources.files == (str(folder / "shop.py"),)


def test_a_name_that_is_no_module(tmp_path: Path) -> None:
    folder = write(tmp_path / "parsers")
    (folder / "my-shop.py").write_text(GOOD)
    assert told(survey(folder)) == [
        f"{folder / 'my-shop.py'}: rename it: letters, digits and underscores, as in shop_example.py"
    ]


NETWORK = """
import attrs
from web_poet import HttpClient, BrowserPage, WebPage, handle_urls
from zyte_common_items import Product, ProductListPage

@handle_urls("a.example")
@attrs.define
class Client(WebPage):
    parser_kind = "product"
    http: HttpClient

@handle_urls("b.example")
class Browser(BrowserPage[Product]): ...

@handle_urls("c.example")
@attrs.define
class Through(WebPage[Product]):
    client: Client

@handle_urls("d.example")
class NoKind(WebPage): ...

@handle_urls("e.example")
class List(ProductListPage): ...

@handle_urls("f.example")
class WrongKind(WebPage):
    parser_kind = "thing"

@handle_urls("g.example")
class WrongVersion(WebPage[Product]):
    parser_version = "2.0"

@handle_urls("h.example")
@attrs.define
class Strange(WebPage[Product]):
    other: int
"""


def test_parsers_that_cannot_be_run_are_refused_with_the_reason(tmp_path: Path) -> None:
    found = survey(write(tmp_path / "parsers", net=NETWORK))
    refused = {parser.name.removeprefix("net."): parser.refused or "" for parser in found.parsers}
    assert found.usable == []
    assert refused["Client"].startswith("it wants HttpClient: parsers read the stored page")
    assert refused["Browser"].startswith("it wants BrowserResponse")
    assert refused["Through"].startswith("it wants HttpClient")
    assert refused["NoKind"].startswith("it returns dict, which has no kind: say parser_kind")
    assert refused["List"].startswith("it returns ProductList, which has no kind")
    assert refused["WrongKind"].startswith("parser_kind is one of article, business")
    assert refused["WrongVersion"] == "parser_version is a whole number from 1 to 1,000,000, not '2.0'"
    assert refused["Strange"].startswith("it cannot be made of a stored page")


def test_marks_move_with_the_code_of_a_parser_and_its_helpers_alone(tmp_path: Path) -> None:
    shop = GOOD + "\nfrom ._words import WORD\nfrom . import _more\n"
    folder = write(tmp_path / "parsers", shop=shop, _words="from ._deep import WORD", _deep="WORD = 1", _more="",
                   other=returning("return None", "other.example"))  # fmt: skip
    marks = [survey(folder).marks]
    for name, text in (("_deep", "WORD = 2"), ("_more", "# more"), ("shop", shop + "\n# a word"), ("_alone", "")):
        write(folder, **{name: text})
        marks.append(survey(folder).marks)
    shops = [found["shop.example"] for found in marks]
    assert len(set(shops)) == 4
    assert shops[-1] == shops[-2]
    assert len({found["other.example"] for found in marks}) == 1


def test_every_page(tmp_path: Path) -> None:
    found = survey(write(tmp_path / "parsers", all=returning("return None", "")))
    assert list(found.marks) == [""]


def test_packages_by_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package: a module, its metadata, and a second one that is broken."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    package = tmp_path / "acme_parsers"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "lamps.py").write_text(GOOD)
    (tmp_path / "acme_broken.py").write_text("1 / 0")
    info = tmp_path / "acme_parsers-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-parsers\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[bailiwick.parsers]\nacme = acme_parsers\nbroken = acme_broken\n")
    found = survey(None)
    [parser] = found.parsers
    assert (parser.name, parser.where) == ("acme_parsers.lamps.ShelfPage", "acme-parsers 1.2")
    assert told(found) == ["entry point broken: ZeroDivisionError: division by zero"]
    assert found.sources.entry_points == ("acme",)
    before = parser.mark
    (package / "lamps.py").write_text(GOOD + "\n# a word\n")
    assert survey(None).parsers[0].mark != before
