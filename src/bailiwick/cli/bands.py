"""Bands as commands need them: those of each profile, and what others would have done."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from pydantic import JsonValue

from bailiwick.base.bands import DEFAULT_BANDS, Band, Bands
from bailiwick.base.settings import check_value

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from bailiwick.app import App
    from bailiwick.review.preview import Preview


def bands_of(app: "App") -> Callable[[str], Bands]:
    """The bands of a profile, by its name: its own, or those of the settings."""
    general = Bands.of(app.settings.review.bands)
    own = {name: Bands.of(profile.bands) for name, profile in app.profiles().items() if profile.bands}
    return lambda profile: own.get(profile, general)


def with_own_bands(app: "App") -> list[str]:
    """Profiles that the setting `review.bands` does not concern."""
    return [name for name, profile in app.profiles().items() if profile.bands]


def checked_bands(value: JsonValue) -> Bands:
    """Bands as somebody typed them. SettingsError says what is wrong with them."""
    checked = check_value("review.bands", value)
    return Bands.of(Band.model_validate(one) for one in (checked if isinstance(checked, list) else []))


def bands_preview(app: "App", conn: "Connection", value: JsonValue) -> "Preview":
    """How past evaluations would have gone with these; None: with the default."""
    from bailiwick.review.preview import preview

    wanted = Bands.of(DEFAULT_BANDS) if value is None else checked_bands(value)
    return preview(conn, wanted, own=with_own_bands(app))
