"""Organisation and programme out of titles of our own."""

import pytest

from bailiwick.judge.names import Names, names_in


@pytest.mark.parametrize(
    ("title", "host", "organisation", "programme"),
    [
        ("Coastal Grant | Linden Research Council", "linden.example", "Linden Research Council", "Coastal Grant"),
        ("Marigold Program - Embassy of Freedonia", "a.example", "Embassy of Freedonia", "Marigold Program"),
        ("Harbour Trust Small Projects Awards", "a.example", "Harbour Trust", "Harbour Trust Small Projects Awards"),
        ("Write for us | Ferrous", "ferrous.example", "Ferrous", None),
        ("Tidal Fund - Maintainer Fellowships", "tidalfund.example", "Tidal Fund", "Maintainer Fellowships"),
        ("Night Owl Fellowship (Freedonia)", "a.example", None, "Night Owl Fellowship"),
        ("Our grants \u2013 The Linden Foundation", "a.example", "The Linden Foundation", None),
        ("Quill Foundation", "a.example", "Quill Foundation", None),
        ("How to win a grant: ten tips", "a.example", None, None),
        ("Museum wins Linden Grant", "a.example", None, None),
        ("Open Call 2026", "a.example", None, None),
        ("25 scholarships for gardeners", "a.example", None, None),
        ("Home", "a.example", None, None),
        ("", "a.example", None, None),
        ("| - | :", "a.example", None, None),
        ("Grant " * 100, "a.example", None, None),
    ],
)  # fmt: skip
def test_names(title: str, host: str, organisation: str | None, programme: str | None) -> None:
    assert names_in(title, host) == Names(organisation, programme)
