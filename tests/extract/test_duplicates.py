"""Near duplicates: what brute force finds is found, and nothing else."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.extract.duplicates import NEAR_BITS, clusters

BITS = st.integers(0, 2**64 - 1)


@st.composite
def families(draw: st.DrawFn) -> list[int]:
    """A few numbers, and others a few bits away from them."""
    found: list[int] = []
    for base in draw(st.lists(BITS, min_size=1, max_size=5)):
        found.append(base)
        flips = draw(st.lists(st.sets(st.integers(0, 63), max_size=6), max_size=4))
        found.extend(base ^ sum(1 << bit for bit in bits) for bits in flips)
    return found


@given(families())
def test_as_by_comparing_all_with_all(hashes: list[int]) -> None:
    leader = list(range(len(hashes)))

    def top(n: int) -> int:
        while leader[n] != n:
            n = leader[n]
        return n

    for a, b in combinations(range(len(hashes)), 2):
        if (hashes[a] ^ hashes[b]).bit_count() <= NEAR_BITS:
            leader[top(a)] = top(b)
    groups: dict[int, set[int]] = {}
    for n in range(len(hashes)):
        groups.setdefault(top(n), set()).add(n)
    expected = {frozenset(group) for group in groups.values() if len(group) > 1}
    signed = [(n, value - 2**64 if value >= 2**63 else value) for n, value in enumerate(hashes)]
    assert {frozenset(group) for group in clusters(signed)} == expected
