"""How examples are parted for cross-validation: pages of one host never stand on both sides."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FOLDS = 5


def folds_of(hosts: Sequence[str], wanted: Sequence[bool], *, seed: int, folds: int = FOLDS) -> NDArray[np.intp]:
    """The fold of each example: hosts in a drawn order, the large ones first, each to where its kind is rarest.

    Where so few hosts hold a kind that some fold would lack it, examples are parted one by one.
    """
    parted = _by_group(hosts, wanted, seed=seed, folds=folds)
    if _is_fair(parted, wanted, folds):
        return parted
    return _by_group([str(number) for number in range(len(hosts))], wanted, seed=seed, folds=folds)


def are_hosts_apart(hosts: Sequence[str], parted: NDArray[np.intp]) -> bool:
    """No host is in two folds."""
    return len(set(zip(hosts, parted.tolist(), strict=True))) == len(set(hosts))


def _by_group(groups: Sequence[str], wanted: Sequence[bool], *, seed: int, folds: int) -> NDArray[np.intp]:
    members: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    names = list(members)
    drawn = [names[n] for n in np.random.default_rng(seed).permutation(len(names))]
    parted = np.zeros(len(groups), dtype=np.intp)
    held = [[0, 0] for _ in range(folds)]
    for name in sorted(drawn, key=lambda name: -len(members[name])):
        kinds = [0, 0]
        for number in members[name]:
            kinds[wanted[number]] += 1
        into = min(range(folds), key=lambda fold: (held[fold][0] * kinds[0] + held[fold][1] * kinds[1], fold))
        held[into] = [held[into][0] + kinds[0], held[into][1] + kinds[1]]
        parted[members[name]] = into
    return parted


def _is_fair(parted: NDArray[np.intp], wanted: Sequence[bool], folds: int) -> bool:
    """Every fold holds both kinds."""
    return len(set(zip(parted.tolist(), wanted, strict=True))) == 2 * folds
