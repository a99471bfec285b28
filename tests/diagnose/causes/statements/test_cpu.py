"""The few statements that take the CPUs from all others; and sessions that are more than the CPUs."""

from typing import Any

from diagnose.causes.host.test_cpu import FULL
from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

JOINS = [
    {"sid": 3000 + number, "pid": 3000 + number, "statement_id": "77", "in_state_s": 8.0, "user": "report"}
    for number in range(2)
]
SHORT = [{"sid": 1000, "pid": 1000, "statement_id": "5", "in_state_s": 0.001, "interval_s": 0.3}]
LIGHT = {("Commit", "WALSync"): 0.1}
QUEUEING = {"usr_pct": 1.0, "sys_pct": 1.0, "run_wait_pct": 30.0}
TEXT = "SELECT count(*) FROM a, b WHERE a.x > $1 AND b.y > $2"


def found(**more: Any) -> dict[str, Finding]:
    seen = {"cpu": FULL, "time": LIGHT, "backend": QUEUEING, "sessions": [*JOINS, *SHORT]} | more
    return {finding.cause: finding for finding in diagnose(host(**seen)).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(item.figure) for item in side)


def test_two_long_joins_take_the_cpus() -> None:
    findings = found()
    assert next(iter(findings)) == "cpu_few_statements"
    finding = findings["cpu_few_statements"]
    assert findings["cpu_saturated"].explained_by == "cpu_few_statements"
    assert said(finding.title) == "Statement 77 takes 87 % of the sessions' CPU time while others wait for a CPU"
    assert "in 2 sessions (pid 3000, 3001)" in figures(finding.for_)
    assert "query_id = 77" in said(finding.not_measured[0].grant)


def test_a_product_of_tables_is_named_with_their_rows() -> None:
    rows = {
        ("bench.public.a", "pg_stat_user_tables.n_live_tup"): 1e5,
        ("bench.public.b", "pg_stat_user_tables.n_live_tup"): 2e5,
    }
    stale = {("bench.public.b", "pg_stat_user_tables.n_mod_since_analyze"): 1e5}
    finding = found(statements=[{"statement_id": "77", "text": TEXT}], postgres=rows | stale)["cpu_few_statements"]
    assert "2 tables without a condition between them" in figures(finding.for_)
    assert any("20,000,000,000 pairs" in said(item.why) for item in finding.for_)
    assert "100,000 rows of bench.public.b changed" in figures(finding.for_)
    assert not finding.not_measured


TILES = [
    {"sid": 3000 + number, "pid": 3000 + number, "statement_id": str(70 + number), "in_state_s": 8.0,
     "program": "dashboard", "user": "analyst"}
    for number in range(6)
]  # fmt: skip


def test_many_long_statements_of_one_program_are_its_own() -> None:
    finding = found(sessions=[*TILES, *SHORT], statements=[{"statement_id": "70", "text": TEXT}])["cpu_few_statements"]
    title = said(finding.title)
    assert title.startswith("6 sessions of dashboard (role analyst) take 95 % of the sessions' CPU time")
    assert title.endswith(": tables are joined without a condition")
    assert "by 6 statements" in figures(finding.for_)
    untold = found(sessions=[*TILES, *SHORT])["cpu_few_statements"]
    assert "pg_stat_activity" in said(untold.not_measured[0].grant)


def test_a_program_that_is_alone_keeps_nobody_waiting() -> None:
    assert "cpu_few_statements" not in found(sessions=TILES, time={})


def test_a_text_that_was_seen_while_it_ran_is_the_statements() -> None:
    seen = {"statement_id": "77", "text": TEXT, "db": DB, "interval_s": None}
    finding = found(extra={"statement": [seen]})["cpu_few_statements"]
    assert "2 tables without a condition between them" in figures(finding.for_)


CLIMB = "WITH RECURSIVE up AS (SELECT id FROM t WHERE id = $1 UNION ALL SELECT t.id FROM t JOIN up ON t.id = up.parent)"


def test_a_recursion_that_the_data_alone_ends() -> None:
    finding = found(statements=[{"statement_id": "77", "text": f"{CLIMB} SELECT * FROM up"}])["cpu_few_statements"]
    assert "a recursion by UNION ALL, without CYCLE" in figures(finding.for_)
    assert said(finding.remedy[0]).startswith("First: look whether the data has a circle")
    for text in (
        f"{CLIMB} CYCLE id SET is_cycle USING path SELECT * FROM up",
        f"{CLIMB[:-1]} WHERE NOT t.id = ANY(path)) SELECT * FROM up",
        f"{CLIMB[:-1]} WHERE n < 100) SELECT * FROM up",
    ):
        ends = found(statements=[{"statement_id": "77", "text": text}])["cpu_few_statements"]
        assert "a recursion by UNION ALL" not in figures(ends.for_)


def test_a_sort_whose_work_is_the_moving_of_its_blocks_to_files_and_back() -> None:
    sort = {"statement_id": "77", "text": "SELECT * FROM a ORDER BY b", "calls_per_s": 0.5, "elapsed_s_per_s": 1.8,
            "rows_per_s": 5e5, "temp_bytes_per_s": 160e6, "read_blocks_per_s": 0.0}  # fmt: skip
    spilled = {(None, "pg_stat_database.temp_bytes"): 80e6}
    findings = found(statements=[sort | {"hit_blocks_per_s": 9000.0}], postgres=spilled)
    assert next(iter(findings)) == "sort_spill"
    assert findings["cpu_few_statements"].explained_by == "sort_spill"
    a_little = found(statements=[sort | {"hit_blocks_per_s": 90_000.0}], postgres=spilled)
    assert a_little["cpu_few_statements"].explained_by is None


def test_where_the_server_tells_no_statement_the_sessions_are_named() -> None:
    unnamed = [row | {"statement_id": None} for row in (*JOINS, *SHORT)]
    finding = found(sessions=unnamed)["cpu_few_statements"]
    assert said(finding.title).startswith("The statements of sessions 3000 and 3001 take 87 %")
    assert "pid = 3000" in said(finding.not_measured[0].grant)


def test_many_short_calls_are_not_few_statements() -> None:
    assert "cpu_few_statements" not in found(sessions=[row | {"in_state_s": 0.01} for row in (*JOINS, *SHORT)])


def test_a_statement_that_takes_long_because_so_many_share_the_cpus_is_not_heavy() -> None:
    queueing = {"usr_pct": 4.0, "sys_pct": 0.5, "run_wait_pct": 95.0}

    def crowd(runs_s: float, calls: float) -> dict[str, Finding]:
        rows = [{"sid": 1000 + n, "pid": 1000 + n, "statement_id": "77", "in_state_s": runs_s} for n in range(40)]
        counted = {
            "statement_id": "77",
            "text": TEXT,
            "calls_per_s": calls,
            "elapsed_s_per_s": 40.0,
            "rows_per_s": calls,
        }
        return found(sessions=rows, statements=[counted], backends=40, backend=queueing)

    assert "cpu_few_statements" not in crowd(0.1, 200.0), "9 ms of CPU each"
    assert "cpu_few_statements" not in crowd(0.8, 25.0), "72 ms of CPU each"
    assert "cpu_few_statements" in crowd(30.0, 0.7)


def test_beside_a_long_line_for_a_row_they_are_still_a_warning() -> None:
    waiting = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 1000, "in_state_s": 0.2}
    line = [waiting | {"sid": 7000 + number} for number in range(90)]
    findings = found(sessions=[*JOINS, *SHORT, *line])
    assert findings["row_locks"].severity == "critical"
    assert (findings["cpu_few_statements"].impact.share or 1.0) < 0.1
    assert findings["cpu_few_statements"].severity == "warning"


def test_where_nobody_waits_for_a_cpu_a_long_statement_may_compute() -> None:
    assert "cpu_few_statements" not in found(cpu={}, backend={})


CROWD = {"backends": 50, "backend": {"ppid": 7, "usr_pct": 2.0, "sys_pct": 2.0, "run_wait_pct": 46.0}, "sessions": []}
COMMITS = {("bench", "pg_stat_database.xact_commit"): 10_000.0, (None, "pg_stat_activity.connections"): 203.0}


def test_more_sessions_than_cpus_are_told_the_size_of_a_pool() -> None:
    time = {("CPU", "CPU"): 0.4}
    finding = found(**CROWD, time=time, postgres=COMMITS)["cpu_saturated"]
    assert finding.explained_by is None
    assert finding.impact.share is not None
    assert finding.impact.share > 0.9
    assert said(finding.remedy[0]).startswith("First: a pool of 2 connections over all clients together")
    assert "25.0 sessions on a CPU or waiting for one" in figures(finding.for_)
    assert "203 are connected" in [said(item.why) for item in finding.for_]


def test_a_crowd_queues_behind_itself_whoever_else_is_there() -> None:
    beside = [{"command": "sha256sum", "user": "root", "usr_pct": 60.0, "run_wait_pct": 30.0}]
    findings = found(**CROWD, time={("CPU", "CPU"): 0.4}, other_processes=beside)
    assert next(iter(findings)) == "cpu_saturated"
    other = findings["cpu_other_processes"]
    assert findings["cpu_saturated"].explained_by is None
    assert other.impact.share is not None
    assert other.impact.share < 0.1


def test_without_transactions_no_pool_is_sized_and_without_a_crowd_none_is_named() -> None:
    time = {("CPU", "CPU"): 0.4}
    assert "pool of" not in said(found(**CROWD, time=time)["cpu_saturated"].remedy[0])
    few = found(backends=4, backend=QUEUEING, sessions=[], time={("CPU", "CPU"): 1.0}, postgres=COMMITS)
    assert "pool of" not in said(few["cpu_saturated"].remedy[0])


def test_users_of_the_cpus_are_named_where_there_are_several() -> None:
    finding = found()["cpu_saturated"]
    assert "user report: 87 % of the CPU time" in figures(finding.for_)
