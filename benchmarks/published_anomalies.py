"""Published anomalies replayed: faults made of the parameters that D-Bot's labelled cases were generated with.

X. Zhou et al., "D-Bot: Database Diagnosis System using Large Language Models", VLDB 2024, published with each case its
label and the program that made it (TsinghuaDatabaseGroup/DB-GPT, all_anomalies.jsonl). published_anomalies.csv has
three cases of each of the eight sets of labels, the first, the middle and the last: threads, columns, rows, size of a
column, indexes, warehouses. What is done with them is as there, by our own code, on a smaller scale: a quarter of the
threads, a twentieth of the rows of large tables. Tables have no key and no index but those that a case names.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from psycopg import sql
from warehouses import SCRIPTS, create_warehouses

from doctord.lab.dose import Dose
from doctord.lab.fault import Fault
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

CASES: Final = Path(__file__).with_suffix(".csv")
FEWER_THREADS: Final = 4
FEWER_ROWS: Final = 20
LARGE_ROWS: Final = 100_000
"""A table of fewer rows is one that threads meet on."""
JOINED_ROWS: Final = 20_000
ORDERS: Final = 150_000


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
    warehouses: int

    @property
    def clients(self) -> int:
        """Its threads, on our scale."""
        return max(self.threads // FEWER_THREADS, 2)

    @property
    def table_rows(self) -> int:
        """The rows of its table, on our scale; few rows are fewer as the threads are that meet on them."""
        return self.rows // (FEWER_ROWS if self.rows > LARGE_ROWS else FEWER_THREADS)

    @property
    def names(self) -> list[str]:
        """The columns of its table but for the number."""
        return [f"name{number}" for number in range(self.columns)]


def cases(parameters: Path = CASES) -> list[Case]:
    """The published cases, from a CSV of their parameters."""
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
    "VACUUM": ("autovacuum_behind", "bloat", "table_mostly_empty"),
    "REDUNDANT_INDEX": ("indexes_unused",),
    "MISSING_INDEXES": ("missing_index",),
    "INSERT_LARGE_DATA,IO_CONTENTION": ("commits_slow", "commits_too_frequent", "device_saturated", "reads_slow"),
    "POOR_JOIN_PERFORMANCE,CPU_CONTENTION": ("cpu_few_statements", "missing_index", "index_not_used"),
    "FETCH_LARGE_DATA,CORRELATED_SUBQUERY": ("statement_dominates", "cpu_few_statements", "missing_index"),
}
"""By kind of anomaly, the causes that name what its label names; written before the first run."""


def _inserts(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """As many sessions insert the case's rows, all by one statement, and commit."""
    _table(server, case, rows=0)
    yield from _run(server, dose, case, [f"{_insert(case, case.rows).as_string()};"])


def _updates(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """As many sessions change one column of one row each time; there is no index to find it by.

    As with any driver that is not told otherwise, BEGIN, UPDATE and COMMIT are statements of their own: the row stays
    locked until the rest of the table was read, the client has answered, and the commit is on the disk.
    """
    _table(server, case, rows=case.table_rows)
    yield from _run(server, dose, case, [f"begin;\n{one}\ncommit;" for one in _changes(case)])


def _deletes(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Four fifths of a table are deleted, and as many sessions look up single rows in it; there is no index."""
    _table(server, case, rows=case.table_rows)
    server.execute(sql.SQL("delete from published where id < {}").format(sql.Literal(case.table_rows * 4 // 5)))
    yield from _run(server, dose, case, [_LOOK_UP])


def _redundant(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """One column of one row is changed each time, in a table with an index on each of so many tenths of its columns."""
    _table(server, case, rows=case.table_rows)
    for name in [*case.names[: case.indexes * case.columns // 10], "id"]:
        server.execute(sql.SQL("create index on published ({})").format(sql.Identifier(name)))
    yield from _run(server, dose, case, [f"begin;\n{one}\ncommit;" for one in _changes(case)])


def _missing(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Single rows are looked up by a column that has no index."""
    _table(server, case, rows=case.table_rows)
    yield from _run(server, dose, case, [_LOOK_UP])


def _warehouses(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """As many sessions enter orders and payments in few warehouses, as the TPC's benchmark C has it."""
    warehouses = -(-case.warehouses // FEWER_THREADS)
    create_warehouses(server, warehouses)
    chosen = f"\\set warehouse random(1, {warehouses})\n"
    scripts = {name: (chosen + text, weight) for name, (text, weight) in SCRIPTS.items()}
    with workload(server, seed=dose.seed, clients=case.clients, scripts=scripts):
        yield


def _join(server: PrivateServer, dose: Dose, case: Case) -> Iterator[None]:
    """Tables are joined by columns that have few values, and by inequality."""
    server.execute(
        sql.SQL("create table joined as select i % 50 as kind, random() as worth from generate_series(1, {}) i").format(
            sql.Literal(JOINED_ROWS)
        )
    )
    server.execute("vacuum analyze joined")
    asked = (
        "select count(*), sum(a.worth * b.worth) from joined a join joined b on a.kind = b.kind"
        " where a.worth < b.worth;"
    )
    yield from _run(server, dose, case, [asked])


def _subquery(server: PrivateServer, dose: Dose, _case: Case) -> Iterator[None]:
    """One session counts the orders of three months that have a late line, as query 4 of the TPC's benchmark H does."""
    for made in (
        "create table sold as select number, date '1992-01-01' + number % 2400 as day, number % 5 as urgency,"
        " repeat('.', 80) as note from generate_series(1, {}) as number",
        "create table sold_lines as select number, line, date '1992-01-01' + (number + line) % 2400 as promised,"
        " date '1992-01-01' + (number + line * 3) % 2400 as received, repeat('.', 80) as note"
        " from generate_series(1, {}) as number, generate_series(1, 4) as line",
    ):
        server.execute(sql.SQL(made).format(sql.Literal(ORDERS)))
    server.execute("vacuum analyze sold")
    server.execute("vacuum analyze sold_lines")
    asked = (
        "select urgency, count(*) from sold where day >= date '1996-03-01' and day < date '1996-06-01' and exists"
        " (select * from sold_lines where sold_lines.number = sold.number and promised < received)"
        " group by urgency order by urgency;\n"
    )
    with workload(server, seed=dose.seed, clients=1, script=asked):
        yield


_REPLAYS: Final[Mapping[str, Callable[[PrivateServer, Dose, Case], Iterator[None]]]] = {
    "INSERT_LARGE_DATA": _inserts,
    "LOCK_CONTENTION": _updates,
    "VACUUM": _deletes,
    "REDUNDANT_INDEX": _redundant,
    "MISSING_INDEXES": _missing,
    "INSERT_LARGE_DATA,IO_CONTENTION": _warehouses,
    "POOR_JOIN_PERFORMANCE,CPU_CONTENTION": _join,
    "FETCH_LARGE_DATA,CORRELATED_SUBQUERY": _subquery,
}
_LOOK_UP: Final = "select * from published where id = :id;"


def _table(server: PrivateServer, case: Case, *, rows: int) -> None:
    """The case's table with its rows."""
    columns = sql.SQL(", ").join(sql.SQL("{} varchar(100)").format(sql.Identifier(name)) for name in case.names)
    server.execute(sql.SQL("create table published (id int, {}, at timestamp)").format(columns))
    if rows:
        server.execute(_insert(case, rows))
    server.execute("vacuum analyze published")


def _insert(case: Case, rows: int) -> sql.Composed:
    """So many rows by one statement; the texts, a digest or its beginning, are worked out once for all of them."""
    texts = sql.SQL(", ").join([sql.SQL(f"(select {_text(case)})")] * case.columns)  # type: ignore[arg-type]
    return sql.SQL("insert into published select generate_series(1, {}), {}, now()").format(sql.Literal(rows), texts)


def _changes(case: Case) -> list[str]:
    """An update of one row for each column."""
    change = "update published set {} = (select {}) where id = :id;"
    return [change.format(name, _text(case)) for name in case.names]


def _text(case: Case) -> str:
    return f"substr(md5(random()::text), 1, {case.column_size})"


def _run(server: PrivateServer, dose: Dose, case: Case, transactions: Sequence[str]) -> Iterator[None]:
    """As many clients as the case has, each time with one of the transactions and one of the rows."""
    chosen = f"\\set id random(1, {max(case.table_rows, 1)})\n"
    scripts = {f"transaction{number}": (f"{chosen}{text}\n", 1) for number, text in enumerate(transactions)}
    with workload(server, seed=dose.seed, clients=case.clients, scripts=scripts):
        yield


def _case(row: Mapping[str, str]) -> Case:
    given = ("threads", "columns", "rows", "column_size", "indexes", "warehouses")
    numbers = (int(row.get(name) or 0) for name in given)
    return Case(int(row["case"]), row["label"], row["anomaly"], *numbers)
