"""Marks from -1 to 1 out of what was counted, and the words for it."""


def between(value: float, worst: float, best: float) -> float:
    """-1 at the worst and beyond, 1 at the best and beyond, a straight line between."""
    return max(-1.0, min(1.0, 2 * (value - worst) / (best - worst) - 1))


def merit(value: float, best: float) -> float:
    """0 for nothing, 1 at the best and beyond."""
    return max(0.0, min(1.0, value / best))


def fault(value: float, worst: float) -> float:
    """0 for nothing, -1 at the worst and beyond."""
    return -merit(value, worst)


def yes(is_so: bool) -> float:  # noqa: FBT001 - reads as what it is
    return 1.0 if is_so else -1.0


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def counted(count: int, one: str, many: str = "") -> str:
    return f"{f'{count:,}' if count else 'no'} {one if count == 1 else many or one + 's'}"


def has(is_so: bool, what: str) -> str:  # noqa: FBT001
    return what if is_so else f"no {what.removeprefix('a ').removeprefix('an ')}"


def one_line(text: str, most: int) -> str:
    """Words of a stranger as they can be shown and stored: no controls, no halves of letters, no more than so many."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"
