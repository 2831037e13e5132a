"""Judges by name: our eight, and those of third parties through the entry-point group `bailiwick.plugins`.

A third party's entry point is called `judge:NAME` and names a class or function that takes a profile and the day, and
gives a `Judge`. It is imported only when a profile seats it.
"""

from collections.abc import Callable
from datetime import date
from importlib.metadata import entry_points
from typing import TypeAlias

from bailiwick.base.errors import ProfileError
from bailiwick.judge.agreement import AgreementJudge
from bailiwick.judge.credibility import CredibilityJudge
from bailiwick.judge.geography import GeographyJudge
from bailiwick.judge.history import HistoryJudge
from bailiwick.judge.keywords import KeywordJudge
from bailiwick.judge.meaning import MeaningJudge
from bailiwick.judge.organisation import OrganisationJudge
from bailiwick.judge.recency import RecencyJudge
from bailiwick.model.profiles import Profile
from bailiwick.ports import Judge

PLUGINS = "bailiwick.plugins"
MakeJudge: TypeAlias = Callable[[Profile, date], Judge]

_OURS: dict[str, MakeJudge] = {
    "keywords": KeywordJudge,
    "meaning": MeaningJudge,
    "recency": RecencyJudge,
    "organisation": OrganisationJudge,
    "credibility": CredibilityJudge,
    "geography": GeographyJudge,
    "history": HistoryJudge,
    "agreement": AgreementJudge,
}
_PREFIX = "judge:"


def judge_named(name: str, profile: Profile, today: date) -> Judge:
    """Ours, or a third party's. Raises ProfileError for one that is unknown or cannot be made."""
    if (make := _OURS.get(name)) is not None:
        return make(profile, today)
    found = next(iter(entry_points(group=PLUGINS, name=_PREFIX + name)), None)
    if found is None:
        known = ", ".join(judge_names())
        raise ProfileError(f"profile {profile.name}: there is no judge {name}", hint=f"known judges: {known}")
    try:
        judge: Judge = found.load()(profile, today)
    except Exception as error:  # a stranger's code: whatever it raises, the user must learn whose it was
        why = f"{type(error).__name__}: {error}"
        raise ProfileError(
            f"judge {name} of {found.value} cannot be made: {why}", hint="mend or uninstall it"
        ) from error
    return judge


def judge_names() -> list[str]:
    """Of all judges that a profile can seat."""
    theirs = (entry.name for entry in entry_points(group=PLUGINS))
    return [*_OURS, *sorted(name.removeprefix(_PREFIX) for name in theirs if name.startswith(_PREFIX))]
