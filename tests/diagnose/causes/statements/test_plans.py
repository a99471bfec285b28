"""An index that is there and not used."""

from typing import Any

import pytest

from diagnose.causes.tables.test_indexes import BUSY, IDLE, LOOKED, LOOKUP, PRIMARY_KEY, index
from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

TABLE = "bench.public.orders"
STALE = {
    (TABLE, "pg_stat_user_tables.n_live_tup"): 1e6,
    (TABLE, "pg_stat_user_tables.n_mod_since_analyze"): 900_000.0,
    (TABLE, "pg_class.reltuples"): 1e5,
    (TABLE, "pg_stat_user_tables.last_analyze_age_s"): 86400.0,
}
FRESH = STALE | {
    (TABLE, "pg_stat_user_tables.n_mod_since_analyze"): 100.0,
    (TABLE, "pg_class.reltuples"): 1e6,
}
SERVING = index("customer, created", name="orders_customer")


def found(tables: dict[tuple[str, str], float], statement: dict[str, Any] = LOOKUP, **more: Any) -> Finding:
    rows = {"setting": [PRIMARY_KEY, SERVING]}
    findings = diagnose(
        host(**({"time": BUSY} | more), statements=[statement], postgres=LOOKED | tables, extra=rows)
    ).findings
    assert "missing_index" not in {finding.cause for finding in findings}
    return next(finding for finding in findings if finding.cause == "index_not_used")


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_stale_statistics_and_a_scan_in_spite_of_an_index() -> None:
    finding = found(STALE)
    assert "although index orders_customer is there" in said(finding.title)
    assert finding.confidence == 0.85
    assert finding.severity == "critical"
    assert "90 % as many rows changed since the last ANALYZE" in figures(finding.for_)
    assert "10.0 times apart" in figures(finding.for_)
    assert "index orders_customer (customer, created) is valid" in figures(finding.for_)
    assert said(finding.remedy[0]).startswith("First: ANALYZE public.orders")
    assert finding.not_measured[0].what == "the plan of the statement"


def test_with_fresh_statistics_it_is_a_question_and_no_verdict() -> None:
    finding = found(FRESH)
    assert finding.severity == "note"
    assert finding.confidence <= 0.6
    assert "statistics are fresh" in " ".join(said(item.why) for item in finding.against)


HEAP = {(TABLE, "pg_statio_user_tables.heap_blks_hit"): 20 * 10_000.0}
SCANNING = LOOKUP | {"hit_blocks_per_s": 20 * 10_000.0, "read_blocks_per_s": 0.0}


def test_an_index_that_holds_all_that_is_asked_for_is_not_used_for_a_reason() -> None:
    finding = found(FRESH | HEAP, SCANNING)
    assert (finding.severity, finding.confidence) == ("critical", 0.85)
    assert "3.0 rows a call, by customer alone" in figures(finding.for_)
    further = SCANNING | {"text": "SELECT * FROM orders WHERE customer = $1 AND note LIKE $2"}
    assert found(FRESH | HEAP, further).severity == "note"


def test_a_statement_that_looks_at_few_blocks_is_not_the_one_that_scans() -> None:
    quick = SCANNING | {"hit_blocks_per_s": 20 * 4.0}
    rows = {"setting": [PRIMARY_KEY, SERVING]}
    seen = host(time=BUSY, statements=[quick], postgres=LOOKED | FRESH | HEAP, extra=rows)
    assert not {"index_not_used", "missing_index"} & {finding.cause for finding in diagnose(seen).findings}


def test_an_aggregate_does_not_tell_how_many_rows_it_looked_at() -> None:
    counted = LOOKUP | {"text": "SELECT count(*) FROM orders WHERE customer = $1", "rows_per_s": 20.0}
    assert found(STALE, counted).confidence == 0.75
    assert found(FRESH, counted).confidence == 0.4


COUNTED = SCANNING | {
    "text": "SELECT count(*) FROM orders WHERE customer = $1",
    "rows_per_s": 20.0,
    "calls_per_s": 8.0,
    "elapsed_s_per_s": 0.05,
}
GENERIC = {"plan_cache_mode": "force_generic_plan"}


def test_an_aggregate_of_an_idle_server_is_judged_where_a_setting_forces_its_plan() -> None:
    assert found(FRESH | HEAP, COUNTED, time=IDLE, settings=GENERIC).severity == "warning"


@pytest.mark.parametrize("before", ["prepare by_customer as ", "PREPARE by_customer (numeric(10, 2), text) AS\n"])
def test_a_statement_that_was_prepared_in_sql_is_known_by_what_it_executes(before: str) -> None:
    prepared = COUNTED | {"text": before + COUNTED["text"]}
    finding = found(FRESH | HEAP, prepared, time=IDLE, settings=GENERIC)
    assert finding.severity == "warning"
    assert "prepare" not in " ".join(said(item.why) for item in finding.for_).lower()


def test_an_aggregate_of_an_idle_server_may_look_at_all_rows_for_good() -> None:
    rows = {"setting": [PRIMARY_KEY, SERVING]}
    seen = host(time=IDLE, statements=[COUNTED], postgres=LOOKED | FRESH | HEAP, extra=rows)
    assert diagnose(seen).findings == ()


def test_a_statement_that_wants_much_of_the_table_is_served_well_by_a_scan() -> None:
    report = LOOKUP | {"rows_per_s": 20 * 400_000.0}
    finding = found(STALE, report)
    assert finding.confidence == 0.4
    assert "400,000 rows returned per call" in figures(finding.against)


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"enable_indexscan": "off"}, "enable_indexscan"), ({"plan_cache_mode": "force_generic_plan"}, "plan_cache_mode")],
)
def test_settings_that_keep_the_planner_from_an_index(settings: dict[str, str], word: str) -> None:
    finding = found(FRESH, settings=settings)
    assert finding.confidence == 0.85
    assert finding.severity == "critical"
    assert word in figures(finding.for_)
    assert word in said(finding.remedy[0])


def test_a_random_page_that_is_said_to_cost_much_is_told() -> None:
    costs = {"random_page_cost": "40", "seq_page_cost": "1"}
    assert "40.0 times what a page in sequence costs" in figures(found(FRESH, settings=costs).for_)
    assert "times what a page" not in figures(found(FRESH, settings=costs | {"random_page_cost": "4"}).for_)


def test_tables_that_nobody_reads_whole_say_nothing() -> None:
    quiet = {key: value / 1000 if key[1].endswith("tup_read") else value for key, value in LOOKED.items()}
    seen = host(time=BUSY, statements=[LOOKUP], postgres=quiet | STALE, extra={"setting": [SERVING]})
    assert "index_not_used" not in {finding.cause for finding in diagnose(seen).findings}


def column(name: str, of: str) -> dict[str, str]:
    return {"component": "pg_attribute", "db": DB, "name": f"{TABLE} {name}", "value": of}


def told(text: str, *settings: dict[str, str]) -> Finding:
    """The first finding on a statement of that text, whose table has an index of customer."""
    rows = {"setting": [PRIMARY_KEY, SERVING, *settings]}
    return diagnose(
        host(time=BUSY, statements=[LOOKUP | {"text": text}], postgres=LOOKED | FRESH, extra=rows)
    ).findings[0]


@pytest.mark.parametrize(
    ("condition", "of", "words", "step"),
    [
        ("customer = $1::numeric", "bigint", "customer is compared with a value of type numeric", "$1::bigint"),
        ("customer::text = $1", "bigint", "customer::text casts the column", "customer = $1::bigint"),
        ("lower(customer) = $1", "text", "customer stands in lower()", "expression with lower()"),
        ("customer LIKE $1", "text", "customer LIKE, by an index in the order of a language", "text_pattern_ops"),
        ("customer ILIKE $1", "text, patterns", "customer ILIKE", "gin_trgm_ops"),
        ("customer = $1 OR shop = $2", "bigint", "customer stands in an OR with shop, which no index begins with",
         "(shop)"),
    ],
)  # fmt: skip
def test_what_the_text_does_to_the_column_is_the_reason(condition: str, of: str, words: str, step: str) -> None:
    finding = told(f"SELECT * FROM orders WHERE {condition}", column("customer", of))
    assert (finding.cause, finding.confidence) == ("index_not_used", 0.9)
    assert said(finding.title).endswith(f"although index orders_customer is there: {words}")
    assert step in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("condition", "settings"),
    [
        ("customer = $1::bigint", [column("customer", "integer")]),  # one family of operators
        ("customer = $1::numeric", []),  # nobody told the column's type
        ("customer = $1", [column("customer", "bigint")]),  # what the driver binds, no text tells
    ],
)
def test_where_nothing_tells_for_certain_the_question_stays(condition: str, settings: list[dict[str, str]]) -> None:
    finding = told(f"SELECT * FROM orders WHERE {condition}", *settings)
    assert finding.cause == "index_not_used"
    assert said(finding.title).endswith("although index orders_customer is there")


def test_the_type_of_the_column_is_told_beside_the_question() -> None:
    finding = told("SELECT * FROM orders WHERE customer = $1", column("customer", "bigint"))
    assert "customer is of type bigint" in figures(finding.for_)


def test_a_pattern_that_an_index_may_serve_leaves_the_index_missing_or_not() -> None:
    finding = told("SELECT * FROM orders WHERE customer LIKE $1", column("customer", "text, patterns"))
    assert finding.cause == "missing_index"
    assert "a wildcard" in " ".join(said(item.why) for item in finding.against)


def test_a_cast_that_keeps_the_order_is_no_reason() -> None:
    finding = told("SELECT * FROM orders WHERE customer::text = $1", column("customer", "character varying"))
    assert "casts the column" not in said(finding.title)


def test_where_another_index_would_serve_what_is_done_to_a_column_is_no_reason() -> None:
    """The planner could go by customer, and look at `shop` in the rows that it finds."""
    shop = index("shop", name="orders_shop")
    finding = told("SELECT * FROM orders WHERE customer = $1 AND lower(shop) = $2", column("shop", "text"), shop)
    assert finding.cause == "index_not_used"
    assert said(finding.title).endswith("although index orders_customer is there")


def by_hand(options: str | None, statement: dict[str, Any] = LOOKUP) -> list[Finding]:
    option = {"component": "pg_attribute.attoptions", "db": DB, "name": f"{TABLE} customer", "value": options}
    rows = {"setting": [PRIMARY_KEY, SERVING, option]}
    findings = diagnose(host(time=BUSY, statements=[statement], postgres=LOOKED | FRESH, extra=rows)).findings
    return [finding for finding in findings if finding.cause == "index_not_used"]


def test_a_number_of_values_set_by_hand_is_the_reason() -> None:
    (finding,) = by_hand("n_distinct=2")
    assert (finding.severity, finding.confidence) == ("critical", 0.85)
    assert "n_distinct = 2 of column customer, set by hand: 500,000 rows for each value" in figures(finding.for_)
    assert "RESET (n_distinct)" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ("random_page_cost=11", "critical"),
        ("random_page_cost=1.1, seq_page_cost=0.1", "critical"),
        ("random_page_cost=1.1", "note"),
        ("effective_io_concurrency=200", "note"),
        (None, "note"),
    ],
)
def test_what_a_page_costs_in_a_tablespace(options: str | None, severity: str) -> None:
    elsewhere = {"component": "pg_tablespace", "db": DB, "name": "archive", "value": "random_page_cost=20"}
    option = elsewhere | {"name": "pg_default", "value": options}
    rows = {"setting": [PRIMARY_KEY, SERVING, option, elsewhere]}
    found = diagnose(
        host(
            time=BUSY,
            statements=[LOOKUP],
            postgres=LOOKED | FRESH,
            extra=rows,
            settings={"seq_page_cost": "1", "random_page_cost": "4"},
        )
    ).findings
    finding = next(one for one in found if one.cause == "index_not_used")
    assert finding.severity == severity
    told = "First: ALTER TABLESPACE pg_default RESET" in said(finding.remedy[0])
    assert told == (severity == "critical")


@pytest.mark.parametrize("options", [None, "n_distinct=200000", "n_distinct=-0.5", "n_distinct_inherited=2"])
def test_a_number_of_values_that_fits_is_no_reason(options: str | None) -> None:
    assert [finding.severity for finding in by_hand(options)] == ["note"]


@pytest.mark.parametrize(
    ("condition", "language", "reason"),
    [
        ("customer = pick($1)", "plpgsql", "customer is compared with what pick() gives, which is volatile"),
        ("customer = app.pick($1)", "plpgsql", "customer is compared with what pick() gives, which is volatile"),
        ("customer = (random() * $1)::int", None, "customer is compared with what random() gives, which is volatile"),
        ("customer = pick($1)", None, None),
        ("customer = (SELECT pick($1))", "plpgsql", None),
    ],
)
def test_a_volatile_function_is_called_for_each_row(condition: str, language: str | None, reason: str | None) -> None:
    pick = {"component": "pg_proc.provolatile", "db": DB, "name": "bench.public.pick", "value": language}
    rows = {"setting": [PRIMARY_KEY, SERVING, pick]}
    statement = LOOKUP | {"text": f"SELECT * FROM orders WHERE {condition}"}
    findings = diagnose(host(time=BUSY, statements=[statement], postgres=LOOKED | FRESH, extra=rows)).findings
    titles = [said(finding.title) for finding in findings if finding.cause == "index_not_used"]
    assert any(title.endswith(reason) for title in titles) if reason else not any("volatile" in one for one in titles)


def test_an_or_over_two_tables_leaves_no_row_out() -> None:
    text = "SELECT * FROM orders o JOIN clients c ON c.id = o.client WHERE o.customer = $1 OR c.name = $2"
    rows = {"setting": [PRIMARY_KEY, SERVING]}
    findings = diagnose(
        host(time=BUSY, statements=[LOOKUP | {"text": text}], postgres=LOOKED | FRESH, extra=rows)
    ).findings
    titles = [said(finding.title) for finding in findings if finding.cause == "index_not_used"]
    assert any(title.endswith("customer stands in an OR with c.name of another table") for title in titles)
