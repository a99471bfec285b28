"""A foreign key that no index serves: deletes of the other table read all of this one."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

# A quarter of a session at work, on a host that has room.
TIME = {("CPU", "CPU"): 0.25, ("Commit", "WALSync"): 0.1}
KEY = {
    "component": "pg_constraint", "db": DB, "name": "bench.public.orders orders_customer_fkey",
    "value": "(customer) references public.customers",
}  # fmt: skip
DELETE = {
    "statement_id": "7", "text": "delete from customers where id = $1", "calls_per_s": 5.0, "elapsed_s_per_s": 0.2,
    "rows_per_s": 5.0, "hit_blocks_per_s": 40_000.0, "read_blocks_per_s": 0.0,
}  # fmt: skip


def tables(rows: float = 600_000.0, deleted: float = 5.0, scans: float = 5.0) -> dict[tuple[str | None, str], float]:
    return {
        ("bench.public.orders", "pg_stat_user_tables.seq_tup_read"): scans * rows,
        ("bench.public.orders", "pg_stat_user_tables.seq_scan"): scans,
        ("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): scans * rows / 75,
        ("bench.public.customers", "pg_stat_user_tables.n_tup_del"): deleted,
    }


def found(
    postgres: dict[tuple[str | None, str], float],
    *statements: dict[str, Any],
    keys: tuple[dict[str, str], ...] = (KEY,),
) -> dict[str, Finding]:
    seen = host(time=TIME, postgres=postgres, statements=statements or (DELETE,), extra={"setting": keys})
    return {finding.cause: finding for finding in diagnose(seen).findings}


def test_each_delete_reads_the_other_table() -> None:
    findings = found(tables())
    assert next(iter(findings)) == "foreign_key_without_index"
    finding = findings["foreign_key_without_index"]
    assert (finding.confidence, finding.against) == (0.95, ())
    assert finding.severity == "warning"  # more than half of the time, but of hardly any
    assert said(finding.remedy[0]) == "First: CREATE INDEX CONCURRENTLY ON public.orders (customer);"
    told = " | ".join(said(item.figure) for item in finding.for_)
    assert "5.0 rows/s of public.customers are deleted" in told
    assert "100 % of the 8,000 blocks that each call looks at" in told
    assert findings["few_rows_of_many_blocks"].explained_by == "foreign_key_without_index"


def test_it_is_said_however_little_of_the_time_it_is() -> None:
    seldom = DELETE | {"calls_per_s": 0.6, "elapsed_s_per_s": 0.024, "rows_per_s": 0.6, "hit_blocks_per_s": 4800.0}
    finding = found(tables(deleted=0.6, scans=0.6), seldom)["foreign_key_without_index"]
    assert finding.impact.share is not None
    assert finding.impact.share < 0.1
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("postgres", "statement", "keys"),
    [
        (tables(rows=500.0), DELETE, (KEY,)),  # a small table: no index would help
        (tables(), DELETE, ()),  # an index serves the key
        (tables(deleted=0.0), DELETE, (KEY,)),  # nobody deletes: it is somebody else who reads the table
        (tables(), DELETE | {"calls_per_s": 0.01, "elapsed_s_per_s": 0.001}, (KEY,)),  # once in a while
        ({}, DELETE, (KEY,)),
    ],
)
def test_else_it_is_silent(
    postgres: dict[tuple[str | None, str], float], statement: dict[str, Any], keys: tuple[dict[str, str], ...]
) -> None:
    assert "foreign_key_without_index" not in found(postgres, statement, keys=keys)


def test_a_delete_that_names_the_other_table_reads_it_itself() -> None:
    own = DELETE | {"text": "delete from customers where id in (select customer from orders where note = $1)"}
    assert "foreign_key_without_index" not in found(tables(scans=50.0), own)


def test_a_table_that_others_read_more_often_speaks_against_it() -> None:
    finding = found(tables(scans=50.0), DELETE | {"hit_blocks_per_s": 300_000.0})["foreign_key_without_index"]
    assert finding.confidence < 0.9
    assert "others read the table whole as well" in [said(item.why) for item in finding.against]


def test_without_statements_it_is_less_sure_and_costs_what_nobody_knows() -> None:
    seen = host(time=TIME, postgres=tables(), extra={"setting": [KEY]}, without=["statement"])
    finding = next(it for it in diagnose(seen).findings if it.cause == "foreign_key_without_index")
    assert (finding.confidence, finding.impact.known) == (0.7, "not_measured")
