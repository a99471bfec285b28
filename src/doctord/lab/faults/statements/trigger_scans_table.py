"""A trigger that counts anew."""

from collections.abc import Iterator
from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import statement_ms
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLES: Final[tuple[LiteralString, ...]] = (
    "create table movements (account int, amount int)",
    "create table totals (account int primary key, total bigint)",
    "insert into totals select account, 0 from generate_series(1, 1000) as account",
)
_MOVEMENTS = sql.SQL("insert into movements select 1 + id % 1000, 1 from generate_series(1, {}) as id")
_TRIGGER: Final[tuple[LiteralString, ...]] = (
    "create function add_up() returns trigger language plpgsql as $$ begin"
    " update totals set total = (select sum(amount) from movements where account = new.account)"
    " where account = new.account; return null; end $$",
    "create trigger add_up after insert on movements for each row execute function add_up()",
)
_SCRIPT = """
\\set account random(1, 1000)
insert into movements values (:account, 1);
\\sleep 100 ms
"""
_INSERT = Figure("an insert of a movement", "ms", 5.0, statement_ms("insert into movements values (1, 1)"))


@fault(cause="trigger_reads_table", effect=_INSERT)
def trigger_scans_table(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """Each insert has a trigger add up all movements of an account, by reading the whole table.

    The statement itself is a plain insert of one row.

    Seen: 7 inserts a second at 25 ms each, a fifth of a session; the light load hardly feels it.
    """
    yield from _inserting(server, dose, rows=dose.of(150_000, 400_000, 1_500_000))


@fault(cause=None)
def trigger_finds_rows(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The same with an index that the trigger's function finds its rows by.

    It looks like `trigger_scans_table`: the same trigger, the same function. It takes a fraction of a millisecond.
    """
    yield from _inserting(server, dose, "create index on movements (account)", rows=400_000)


def _inserting(server: PrivateServer, dose: Dose, *further: LiteralString, rows: int) -> Iterator[None]:
    _execute(server, *_TABLES)
    server.execute(_MOVEMENTS.format(rows))
    _execute(server, *_TRIGGER, *further, "vacuum analyze movements", "vacuum analyze totals")
    with workload(server, seed=dose.seed, clients=1, script=_SCRIPT):
        yield


def _execute(server: PrivateServer, *statements: LiteralString) -> None:
    for statement in statements:
        server.execute(statement)
