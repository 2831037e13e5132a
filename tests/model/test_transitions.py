"""The tables of moves themselves."""

import pytest

from bailiwick.base.errors import IllegalMoveError
from bailiwick.model.states import BIRTH, Machine, Role
from bailiwick.model.transitions import APPROVAL, CRAWL, MACHINES, STANDING

MACHINE = pytest.mark.parametrize("machine", MACHINES, ids=lambda m: m.name)


@MACHINE
def test_every_state_can_be_reached_from_birth(machine: Machine) -> None:
    reached, frontier = {BIRTH}, [BIRTH]
    while frontier:
        for transition in machine.moves(frontier.pop()):
            if transition.target not in reached:
                reached.add(transition.target)
                frontier.append(transition.target)
    assert reached == {BIRTH, *machine.states}


@MACHINE
def test_no_move_is_written_twice_and_everybody_named_exists(machine: Machine) -> None:
    keys = [(t.source, t.verb, t.target) for t in machine.transitions]
    assert len(keys) == len(set(keys))
    assert {t.source for t in machine.transitions} <= {BIRTH, *machine.states}
    assert all(t.who and Role.VIEWER not in t.who for t in machine.transitions)


def test_crawl_permits_exactly_the_pairs_of_specification_002() -> None:
    permitted = {
        "pending": {"active", "unreachable"},
        "active": {"exhausted", "blocked", "unreachable"},
        "exhausted": {"pending", "active"},
        "blocked": {"pending", "active"},
        "unreachable": {"pending", "active"},
    }
    found = {state: {t.target for t in CRAWL.moves(state)} for state in CRAWL.states}
    assert found == permitted


def test_states_are_those_of_the_design() -> None:
    assert set(APPROVAL.states) == {"pending_review", "approved", "rejected", "suspended"}
    assert set(STANDING.states) == {
        "discovered", "processing", "processed_high_quality", "processed_low_quality",
        "blacklisted", "no_funds_this_year", "processing_failed",
    }  # fmt: skip
    assert set(CRAWL.states) == {"pending", "active", "exhausted", "blocked", "unreachable"}


def test_a_verb_with_several_ends_needs_a_target() -> None:
    with pytest.raises(IllegalMoveError, match="needs a target"):
        STANDING.transition("blacklisted", "lift")
    assert STANDING.transition("blacklisted", "lift", to="discovered").target == "discovered"


def test_an_impossible_verb_names_the_possible_ones() -> None:
    with pytest.raises(IllegalMoveError) as raised:
        APPROVAL.transition("rejected", "suspend")
    assert raised.value.hint == "possible from here: resubmit"
