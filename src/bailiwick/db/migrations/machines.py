"""How a migration puts a state machine under the database's own guard.

A migration writes its moves down itself (they are history, the model goes on), and calls these to install the guard.
"""

from collections.abc import Iterable

from alembic import op
from sqlalchemy import text

Move = tuple[str, str, str]
"""(from, verb, to); from is empty for a birth."""


def guard_machine(machine: str, *, table: str, column: str, moves: Iterable[Move]) -> None:
    """Record the machine's moves, and refuse every other change of the column, whoever makes it.

    A birth that is permitted today passes by the trigger's own condition: calling the function for each row took half
    of the time of an import. Who takes a birth away later has to make the trigger anew.
    """
    moves = tuple(moves)
    add_moves(machine, moves)
    births = ", ".join(sorted({f"'{target}'" for source, _, target in moves if not source}))
    op.execute(f"""
        create function check_move_{machine}() returns trigger language plpgsql as $$
        declare
            came_from text := '';
        begin
            if tg_op = 'UPDATE' then
                came_from := old.{column};
            end if;
            if not exists (select 1 from state_moves as m
                           where m.machine = '{machine}'
                             and m.from_state = came_from and m.to_state = new.{column}) then
                raise exception '{machine} cannot go from "%" to "%"', came_from, new.{column}
                    using errcode = 'BW002', hint = 'state_moves lists the permitted moves';
            end if;
            return new;
        end
        $$;
        create trigger check_move_{machine}_update before update of {column} on {table}
            for each row when (old.{column} is distinct from new.{column}) execute function check_move_{machine}();
        create trigger check_move_{machine}_insert before insert on {table}
            for each row when (new.{column} not in ({births})) execute function check_move_{machine}();
    """)  # noqa: S608 - names of our own


def add_moves(machine: str, moves: Iterable[Move]) -> None:
    insert = text(
        "insert into state_moves (machine, from_state, verb, to_state) values (:machine, :source, :verb, :target)"
    )
    for source, verb, target in moves:
        op.execute(insert.bindparams(machine=machine, source=source, verb=verb, target=target))


def unguard_machine(machine: str, *, table: str) -> None:
    op.execute(f"""
        drop trigger check_move_{machine}_update on {table};
        drop trigger check_move_{machine}_insert on {table};
        drop function check_move_{machine}();
        delete from state_moves where machine = '{machine}';
    """)  # noqa: S608
