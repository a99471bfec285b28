"""Published anomalies replayed: faults made of the parameters that D-Bot's labelled cases were generated with.

X. Zhou et al., "D-Bot: Database Diagnosis System using Large Language Models", VLDB 2024, published with each case its
label and the parameters of its generator: threads, columns, rows, size of a column, indexes. What is done with them
here is our own, on a smaller scale: a quarter of the threads, a twentieth of the rows of large tables.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from psycopg import sql

from doctord.lab.dose import Dose
from doctord.lab.fault import Fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

FEWER_THREADS: Final = 4
FEWER_ROWS: Final = 20
LARGE_ROWS: Final = 100_000
"""A table of fewer rows is one that threads meet on."""
LONGEST_TEXT: Final = 100
JOINED_ROWS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Case:
    """One published case: its number, label and kind of anomaly, and what it was generated with; 0 where not given."""

    number: int
    label: str
    anomaly: str
    threads: int
    columns: int
    rows: int
    column_size: int
    indexes: int

    @property
    def clients(self) -> int:
        """Its threads, on our scale."""
        return max(self.threads // FEWER_THREADS, 2)

    @property
    def table_rows(self) -> int:
        """The rows of its table, on our scale; few rows are fewer as the threads are that meet on them."""
        return self.rows // (FEWER_ROWS if self.rows > LARGE_ROWS else FEWER_THREADS)


def cases(parameters: Path) -> list[Case]:
    """The published cases, from a CSV of their parameters (case, label, anomaly, threads, columns, rows, ...)."""
    with parameters.open(newline="") as file:
        return [_case(row) for row in csv.DictReader(file)]


def replay(case: Case) -> Fault:
    """A case as a fault of the lab; which causes are right follows from its label, in `RIGHT`."""
    inject = contextmanager(_REPLAYS[case.anomaly])
    return Fault(
        name=f"published_{case.number}",
        description=f"{case.label} (case {case.number})",
        cause=RIGHT[case.anomaly][0],
        inject=lambda server, dose: inject(server, dose, case),
        warm_up_s=3.0,
    )


RIGHT: Final[Mapping[str, tuple[str, ...]]] = {
    "INSERT_LARGE_DATA": ("commits_slow", "commits_too_frequent", "cpu_saturated"),
    "LOCK_CONTENTION": ("row_locks",),
    "REDUNDANT_INDEX": ("indexes_unused",),
    "MISSING_INDEXES": ("missing_index",),
    "POOR_JOIN_PERFORMANCE,CPU_CONTENTION": ("cpu_few_statements", "missing_index", "index_not_used"),
}
"""By kind of anomaly, the causes that name what its label names; written before the first run."""


def _inserts(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """As many sessions insert single rows, and commit each."""
    names = _table(server, case, rows=0)
    values = sql.SQL(", ").join([sql.Literal("x" * case.column_size)] * len(names))
    insert = sql.SQL("insert into published ({}) values ({});").format(_listed(names), values)
    yield from _run(server, dose, case, insert)


def _updates(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """As many sessions change columns of the same few rows."""
    names = _table(server, case, rows=case.table_rows)
    changed = sql.SQL("update published set {} = {} where id = :id;").format(
        sql.Identifier(names[0]), sql.Literal("y" * case.column_size)
    )
    yield from _run(server, dose, case, changed, row=case.table_rows)


def _redundant(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Rows are changed in columns that have indexes nobody asks for."""
    names = _table(server, case, rows=case.table_rows)
    for name in names[: case.indexes]:
        server.execute(sql.SQL("create index on published ({})").format(sql.Identifier(name)))
    texts = sql.SQL(", ").join(
        sql.SQL("{} = md5(random()::text)").format(sql.Identifier(name)) for name in names[: case.indexes]
    )
    changed = sql.SQL("update published set {} where id between :id and :id + 100;").format(texts)
    yield from _run(server, dose, case, changed, row=case.table_rows)


def _missing(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Rows are looked up by a column that has no index."""
    names = _table(server, case, rows=case.table_rows)
    asked = sql.SQL("select count(*) from published where {} = {};").format(
        sql.Identifier(names[0]), sql.Literal("z" * case.column_size)
    )
    yield from _run(server, dose, case, asked)


def _join(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Tables are joined by columns that have few values, and by inequality."""
    server.execute(
        sql.SQL("create table joined as select i % 50 as kind, random() as worth from generate_series(1, {}) i").format(
            sql.Literal(JOINED_ROWS)
        )
    )
    server.execute("vacuum analyze joined")
    asked = sql.SQL("select count(*), sum(a.worth * b.worth) from joined a join joined b on a.kind = b.kind"
                    " where a.worth < b.worth;")  # fmt: skip
    yield from _run(server, dose, case, asked)


_REPLAYS: Final[Mapping[str, Callable[[PrivateServer, Dose, Case], Iterator[None]]]] = {
    "INSERT_LARGE_DATA": _inserts,
    "LOCK_CONTENTION": _updates,
    "REDUNDANT_INDEX": _redundant,
    "MISSING_INDEXES": _missing,
    "POOR_JOIN_PERFORMANCE,CPU_CONTENTION": _join,
}


def _table(server: PrivateServer, case: Case, *, rows: int) -> list[str]:
    """The case's table with its rows; the names of its columns but for the key."""
    names = [f"name{number}" for number in range(case.columns)]
    columns = sql.SQL(", ").join(sql.SQL("{} text").format(sql.Identifier(name)) for name in names)
    server.execute(sql.SQL("create table published (id bigserial primary key, {})").format(columns))
    if rows:
        text = sql.SQL("left(md5(i::text) || repeat('.', {0}), {0})").format(
            sql.Literal(min(case.column_size, LONGEST_TEXT))
        )
        server.execute(
            sql.SQL("insert into published ({}) select {} from generate_series(1, {}) i")
            .format(_listed(names), sql.SQL(", ").join([text] * len(names)), sql.Literal(rows))
        )  # fmt: skip
    server.execute("vacuum analyze published")
    return names


def _run(
    server: PrivateServer, dose: Dose, case: Case, statement: sql.Composed | sql.SQL, row: int | None = None
) -> Iterator[None]:
    chosen = "" if row is None else f"\\set id random(1, {max(row, 1)})\n"
    with workload(server, seed=dose.seed, clients=case.clients, script=f"{chosen}{statement.as_string()}\n"):
        yield


def _listed(names: list[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _case(row: Mapping[str, str]) -> Case:
    numbers = (int(row[name] or 0) for name in ("threads", "columns", "rows", "column_size", "indexes"))
    return Case(int(row["case"]), row["label"], row["anomaly"], *numbers)
