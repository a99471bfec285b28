"""Rights that are granted again and again, of tables that prepared statements read, and of another one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, LiteralString

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.effect import Figure
from doctord.lab.fault import fault
from doctord.lab.figures import answer
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_TABLES = 8
_TABLE: Final[tuple[LiteralString, ...]] = (
    "create table {} as select id, id % 90 as amount from generate_series(1, 500) id",
    "alter table {} add primary key (id)",
    "analyze {}",
)
_SCRIPT = (
    "\\set id random(1, 500)\nselect t1.amount from t1 "
    + " ".join(f"join t{number} using (id)" for number in range(2, _TABLES + 1))
    + " where t1.id = :id;\n\\sleep 20 ms\n"
)
_DEPLOYMENT = """
import sys, time
import psycopg
with psycopg.connect(sys.argv[1], application_name="deployment", autocommit=True) as session:
    while True:
        session.execute(f"grant select on {sys.argv[2]} to reporting", prepare=False)
        time.sleep(float(sys.argv[3]))
"""
_GRANTS = Figure(
    "commands that grant", "commands", 50,
    answer("select sum(calls) from pg_stat_statements where query like 'grant%'"),
)  # fmt: skip


@fault(cause="planning_slow", effect=_GRANTS, warm_up_s=4.0)
def plans_thrown_away(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A deployment grants a right twenty times a second, on a table that prepared statements read beside seven others.

    Each session keeps the plan for as long as nothing of it changes: here until its next execution.

    Seen: a look-up of one row that runs for a tenth of a millisecond and takes tens of them; total_plan_time is not
    counted.
    """
    with _deployed(server, "t1", dose, pause_s=dose.of(0.1, 0.05, 0.02)):
        yield


@fault(cause=None, warm_up_s=4.0)
def grants_elsewhere(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """The look-alike of plans_thrown_away: the same sessions, and the same right on a table that they do not read.

    All plans are kept.
    """
    with _deployed(server, "pgbench_branches", dose, pause_s=0.05):
        yield


@contextmanager
def _deployed(server: PrivateServer, table: str, dose: Dose, *, pause_s: float) -> Iterator[None]:
    server.execute("create role reporting")
    for number in range(1, _TABLES + 1):
        for statement in _TABLE:
            server.execute(sql.SQL(statement).format(sql.Identifier(f"t{number}")))
    deployment = [sys.executable, "-c", _DEPLOYMENT, server.dsn, table, str(pause_s)]
    with (
        running(deployment, server.folder / "deployment.log"),
        workload(server, seed=dose.seed, clients=4, script=_SCRIPT),
    ):
        yield
