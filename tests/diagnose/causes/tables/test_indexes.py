"""A missing index; sorts that spill."""

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

BUSY = {("CPU", "CPU"): 1.6, ("User I/O", "DataFileRead"): 0.4}
LOOKUP = {
    "statement_id": "7",
    "text": "SELECT * FROM orders WHERE customer = $1",
    "calls_per_s": 20.0,
    "elapsed_s_per_s": 1.9,
    "rows_per_s": 60.0,
}
SCANS = {
    ("bench.public.orders", "pg_stat_user_tables.seq_tup_read"): 20e6,
    ("bench.public.orders", "pg_stat_user_tables.seq_scan"): 20.0,
}


def index(columns: str, more: str = "", name: str = "orders_idx") -> dict[str, str]:
    named = {"component": "pg_index", "db": DB, "name": f"bench.public.orders {name}"}
    return named | {"value": f"btree ({columns}){more}"}


PRIMARY_KEY = index("id", name="orders_pkey")
LOOKED = SCANS | {("bench.public.orders", "pg_index.valid_indexes"): 1.0}


@pytest.mark.parametrize(
    ("text", "examined", "without_index", "is_found"),
    [
        ("SELECT COUNT(*) FROM `o` WHERE `c` = ?", 131072.0, 1.0, True),
        ("SELECT COUNT(*) FROM `o`", 131072.0, 1.0, False),
        ("SELECT COUNT(*) FROM `o` WHERE `c` = ?", 2000.0, 1.0, False),
        ("SELECT COUNT(*) FROM `o` WHERE `c` = ?", 131072.0, 0.0, False),
    ],
)
def test_a_digest_of_mysql_that_uses_no_index(
    text: str, examined: float, without_index: float, *, is_found: bool
) -> None:
    db, calls = "mysql:3306", 36.0
    statement = {"db": db, "statement_id": "d", "text": text, "calls_per_s": calls, "elapsed_s_per_s": 0.94,
                 "rows_per_s": calls}  # fmt: skip
    view = "events_statements_summary_by_digest"
    common = {"component": "mysql", "db": db, "entity": "d", "kind": "rate"}
    rates = {"sum_rows_examined": examined * calls, "sum_no_index_used": without_index * calls}
    rows = [common | {"name": f"{view}.{name}", "value": value} for name, value in rates.items()]
    working = {"db": db, "sid": 8, "wait_class": "CPU", "event": "CPU", "statement_id": "d"}
    seen = host(time={}, sessions=[working], statements=[statement], extra={"statistic": rows})
    found = [one for one in diagnose(seen).findings if one.cause == "missing_index"]
    assert bool(found) == is_found
    if is_found:
        assert "131,072 rows in each call, without an index" in said(found[0].title)
        assert found[0].severity != "note"


def test_a_statement_that_scans_a_large_table_for_a_few_rows() -> None:
    seen = host(time=BUSY, statements=[LOOKUP], postgres=LOOKED, extra={"setting": [PRIMARY_KEY]})
    finding = diagnose(seen).findings[0]
    assert finding.cause == "missing_index"
    assert "public.orders" in said(finding.title)
    assert finding.confidence >= 0.9
    assert any("1,000,000 rows a scan" in said(item.figure) for item in finding.for_)
    assert any("1 index: orders_pkey (id)" in said(item.figure) for item in finding.for_)
    assert not finding.against


def test_a_table_without_any_index() -> None:
    finding = diagnose(host(time=BUSY, statements=[LOOKUP], postgres=LOOKED)).findings[0]
    assert (finding.cause, finding.confidence) == ("missing_index", 0.9)


def test_where_nobody_looked_for_indexes_it_is_less_sure() -> None:
    finding = diagnose(host(time=BUSY, statements=[LOOKUP], postgres=SCANS)).findings[0]
    assert finding.cause == "missing_index"
    assert 0.6 < finding.confidence < 0.9
    assert [item.what for item in finding.not_measured] == ["whether the table has an index that could serve"]


@pytest.mark.parametrize("useless", [index("customer", " invalid"), index("seller, customer"), index("id")])
def test_an_invalid_index_and_one_that_begins_otherwise_serve_nobody(useless: dict[str, str]) -> None:
    seen = host(time=BUSY, statements=[LOOKUP], postgres=LOOKED, extra={"setting": [useless]})
    finding = diagnose(seen).findings[0]
    assert (finding.cause, finding.confidence) == ("missing_index", 0.9)


@pytest.mark.parametrize("doubtful", [index("(expression)"), index("customer", " partial")])
def test_an_index_that_may_serve_makes_the_plan_the_question(doubtful: dict[str, str]) -> None:
    seen = host(time=BUSY, statements=[LOOKUP], postgres=LOOKED, extra={"setting": [doubtful]})
    finding = diagnose(seen).findings[0]
    assert (finding.cause, finding.confidence) == ("missing_index", 0.6)
    assert "look at the plan first" in " ".join(said(item.why) for item in finding.against)


def test_a_report_that_wants_much_of_the_table_lowers_the_confidence() -> None:
    report = LOOKUP | {"rows_per_s": 20 * 400_000.0}
    finding = diagnose(host(time=BUSY, statements=[report], postgres=SCANS)).findings[0]
    assert finding.confidence < 0.9
    assert finding.against


def test_scans_of_a_small_table_are_right() -> None:
    small = {key: value / 1000 if key[1].endswith("read") else value for key, value in SCANS.items()}
    found = diagnose(host(statements=[LOOKUP], postgres=small)).findings
    assert "missing_index" not in [finding.cause for finding in found]


def test_a_statement_on_another_table_is_not_blamed() -> None:
    other = LOOKUP | {"text": "SELECT * FROM orders_archive WHERE customer = $1"}
    found = diagnose(host(time=BUSY, statements=[other], postgres=SCANS)).findings
    assert "missing_index" not in [finding.cause for finding in found]


def test_sorts_that_spill_to_disk() -> None:
    time = {("CPU", "CPU"): 1.0, ("User I/O", "BufFileWrite"): 0.6, ("User I/O", "BufFileRead"): 0.4}
    sort = {
        "statement_id": "9",
        "text": "SELECT * FROM events ORDER BY payload",
        "calls_per_s": 4.0,
        "elapsed_s_per_s": 1.8,
        "temp_bytes_per_s": 160e6,
    }
    spilled = {(None, "pg_stat_database.temp_bytes"): 80e6}
    finding = diagnose(host(time=time, statements=[sort], postgres=spilled, settings={"work_mem": "64"})).findings[0]
    assert finding.cause == "sort_spill"
    assert finding.impact.share is not None
    assert finding.impact.share > 0.8


def test_a_little_spilling_is_no_finding() -> None:
    assert diagnose(host(postgres={(None, "pg_stat_database.temp_bytes"): 1000.0})).healthy


# Three calls a second of 20 ms each, on a server that has room.
IDLE = {("CPU", "CPU"): 0.06, ("Commit", "WALSync"): 0.2}
SELDOM = LOOKUP | {"calls_per_s": 3.0, "elapsed_s_per_s": 0.06, "rows_per_s": 9.0, "hit_blocks_per_s": 30_000.0}
SELDOM_SCANS = {
    ("bench.public.orders", "pg_stat_user_tables.seq_tup_read"): 3e6,
    ("bench.public.orders", "pg_stat_user_tables.seq_scan"): 3.0,
    ("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 30_000.0,
    ("bench.public.orders", "pg_index.valid_indexes"): 1.0,
}


def test_a_lookup_that_is_slow_while_the_server_is_idle() -> None:
    seen = host(time=IDLE, statements=[SELDOM], postgres=SELDOM_SCANS, extra={"setting": [PRIMARY_KEY]})
    finding = diagnose(seen).findings[0]
    assert (finding.cause, finding.severity) == ("missing_index", "warning")


def test_a_quick_scan_on_an_idle_server_is_well() -> None:
    quick = SELDOM | {"elapsed_s_per_s": 0.009}
    seen = host(time=IDLE, statements=[quick], postgres=SELDOM_SCANS, extra={"setting": [PRIMARY_KEY]})
    assert diagnose(seen).healthy


@pytest.mark.parametrize(("component", "way"), [("pg_rewrite", "view"), ("pg_proc", "function")])
def test_a_table_that_is_read_by_a_view_or_a_function(component: str, way: str) -> None:
    uses = {"component": component, "db": DB, "name": "bench.public.open_orders", "value": "public.orders"}
    text = "SELECT * FROM open_orders WHERE customer = $1" if way == "view" else "SELECT open_orders($1)"
    through = LOOKUP | {"text": text, "hit_blocks_per_s": 200_000.0}
    heap = {("bench.public.orders", "pg_statio_user_tables.heap_blks_hit"): 200_000.0}
    seen = host(
        time=BUSY, statements=[through], postgres=LOOKED | heap, extra={"setting": [PRIMARY_KEY, uses]}
    )  # fmt: skip
    finding = diagnose(seen).findings[0]
    assert (finding.cause, finding.confidence) == ("missing_index", 0.6)
    assert said(finding.title).endswith(f"for one statement, by {way} public.open_orders")
    assert f"by {way} public.open_orders" in [said(item.figure) for item in finding.for_]


def test_a_child_without_the_index_of_its_parent() -> None:
    child = "bench.public.orders_2019"
    reads = {(child, name): value for (_, name), value in LOOKED.items() if not name.startswith("pg_index")}
    heap = {(child, "pg_statio_user_tables.heap_blks_hit"): 200_000.0, (child, "pg_index.valid_indexes"): 0.0}
    told = {"component": "pg_inherits", "db": DB, "name": child, "value": "public.orders"}
    asked = LOOKUP | {"text": "SELECT amount FROM orders WHERE id = $1", "hit_blocks_per_s": 200_000.0}
    seen = host(time=BUSY, statements=[asked], postgres=reads | heap, extra={"setting": [PRIMARY_KEY, told]})
    finding = diagnose(seen).findings[0]
    assert (finding.cause, finding.confidence) == ("missing_index", 0.9)
    assert "reads all of table public.orders_2019 for one statement, by parent public.orders" in said(finding.title)
    assert "a child of public.orders" in [said(item.figure) for item in finding.for_]


@pytest.mark.parametrize(
    "text",
    [
        "COPY orders FROM stdin",
        "INSERT INTO orders VALUES ($1, $2)",
        "CREATE INDEX i ON orders (customer)",
        "SELECT count(*) FROM orders WHERE day = $1",
        "SELECT * FROM orders",
    ],
)
def test_who_wants_all_of_a_child_or_none_of_it_wants_no_index(text: str) -> None:
    child = "bench.public.orders_2019"
    reads = {(child, name): value for (_, name), value in LOOKED.items()}
    told = {"component": "pg_inherits", "db": DB, "name": child, "value": "public.orders"}
    asked = LOOKUP | {"text": text, "hit_blocks_per_s": None}
    seen = host(time=BUSY, statements=[asked], postgres=reads, extra={"setting": [PRIMARY_KEY, told]})
    assert "missing_index" not in {finding.cause for finding in diagnose(seen).findings}


def test_a_join_that_takes_its_time_after_the_scan_wants_no_index() -> None:
    join = LOOKUP | {"text": "SELECT sum(a.worth * b.worth) FROM orders a JOIN orders b ON a.kind = b.kind"}
    rows = {("bench.public.orders", name): value for (_, name), value in LOOKED.items()} | {
        ("bench.public.orders", "pg_stat_user_tables.seq_tup_read"): 200_000.0,
        ("bench.public.orders", "pg_stat_user_tables.seq_scan"): 5.0,
    }
    seen = host(time=BUSY, statements=[join], postgres=rows, extra={"setting": [PRIMARY_KEY]})
    assert "missing_index" not in {finding.cause for finding in diagnose(seen).findings}
    nested = host(time=BUSY, statements=[join], postgres=LOOKED, extra={"setting": [PRIMARY_KEY]})
    assert "missing_index" in {finding.cause for finding in diagnose(nested).findings}


def test_where_thirty_sessions_share_two_cpus_the_scan_is_still_most_of_the_join() -> None:
    text = "SELECT i.name FROM orders o JOIN items i ON i.id = o.item WHERE o.customer = $1"
    join = LOOKUP | {"text": text, "calls_per_s": 5.0, "rows_per_s": 5.0, "elapsed_s_per_s": 29.0}
    rows = LOOKED | {
        ("bench.public.orders", "pg_stat_user_tables.seq_tup_read"): 5e6,
        ("bench.public.orders", "pg_stat_user_tables.seq_scan"): 5.0,
    }
    queueing = {"usr_pct": 6.0, "sys_pct": 0.6, "run_wait_pct": 93.0}
    seen = host(
        time={("CPU", "CPU"): 30.0}, backends=30, backend=queueing, cpu={"idle_pct": 0.2, "run_queue": 31.0},
        statements=[join], postgres=rows, extra={"setting": [PRIMARY_KEY]},
    )  # fmt: skip
    assert "missing_index" in {finding.cause for finding in diagnose(seen).findings}
