"""Every labelled page comes out as it is labelled. `tests/quality` holds the floors for those that may not."""

import pytest

from bailiwick.model.layers import FLAGS
from tests.score.rules.cases import CASES
from tests.score.rules.fresh_cases import FRESH
from tests.score.rules.pages import assessed, detected


@pytest.mark.parametrize("flag", FLAGS)
def test_labelled_pages(flag: str) -> None:
    mine = [case for case in CASES if case.flag == flag]
    wrong = [case.name for case in mine if (flag in detected(assessed(*case.material())[0])) != case.is_there]
    assert wrong == []


def test_no_case_is_there_twice() -> None:
    assert len({(case.flag, case.html, case.url, case.pages, case.kinds) for case in (*CASES, *FRESH)}) == len(
        CASES
    ) + len(FRESH)
