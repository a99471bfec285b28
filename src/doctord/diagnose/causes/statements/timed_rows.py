"""Executions that are measured row by row, for plans that are logged or may be."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import phrase

LEAST_MS: Final = "auto_explain.log_min_duration"
# Those that must be on for it, beside a least duration; a value that is not told is the default's.
TIMED: Final = {"auto_explain.log_analyze": "off", "auto_explain.log_timing": "on"}
PART: Final = "auto_explain.sample_rate"
ROWS: Final = ("pg_stat_user_tables.seq_tup_read", "pg_stat_user_tables.idx_tup_fetch")
# Each row that a node of a plan hands on has the clock read twice; where it costs no system call a reading takes some
# 25 ns, and the timers that do take 700 and more (PostgreSQL documentation, pg_test_timing).
READINGS: Final = 2
QUICK_NS, SLOW_NS = 25.0, 700.0
QUICK_CLOCKS: Final = ("tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "tod")
# A plan of a scan, an aggregate and a sort or a join: what is known are the rows of its scans alone.
NODES: Final = 3
UNTIMED: Final = NotMeasured(
    "what timing takes of an execution",
    "nobody counts the rows that the upper nodes of plans hand on",
    "explain (analyze, timing off) beside explain (analyze) of the statement with most time; pg_test_timing",
)


@cause(explains=("cpu_saturated", "cpu_few_statements", "statement_slower_than_before", "statement_dominates"))
def rows_timed(case: Case) -> Iterator[Claim]:
    """auto_explain has each row of each node of every plan timed, whether the plan is logged or not.

    Looks like: statements that read many rows take two or three times as long as explain (analyze, timing off) of them,
        on a CPU; nothing in the log, where auto_explain.log_min_duration is high.
    Hurts because: what a plan took is known at its end alone, so that all executions are measured; the clock is read
        twice for each row that each node hands on.
    Speaks for it: auto_explain.log_analyze and log_timing are on and log_min_duration is not -1; rows that are read a
        second, times two readings of this host's clock, beside the database time.
    Speaks against it: few rows a second; a sample_rate far below 1.
    Remedy: auto_explain.log_timing = off keeps the counts of rows, which is what most look for;
        auto_explain.sample_rate = 0.01 measures one of a hundred statements; log_analyze = off logs the plans alone. A
        reload is enough.
    Verify: The time of a call of the statement with most rows falls at the same rows (pg_stat_statements).
    Source: PostgreSQL documentation, auto_explain (log_analyze: "can have an extremely negative impact on
        performance"), pg_test_timing.
    """
    for db in case.dbs:
        part = _part_timed(case, db)
        rows_per_s = sum(one.mean for name in ROWS for one in case.figures(name) if one.db == db)
        reading_ns = QUICK_NS if case.setting("cpu.clocksource") in (None, *QUICK_CLOCKS) else SLOW_NS
        whole_s = case.time.seconds_per_second if case.time.of == "database" else 0.0
        if not part or not whole_s:
            continue
        least = rows_per_s * part * READINGS * reading_ns / 1e9 / whole_s
        cost = min(NODES * least, case.time.kind_share("cpu", "run queue"), 1.0)
        if least < WORTH_SAYING_SHARE or not case.worth_saying(cost):
            continue
        yield Claim(
            phrase("auto_explain times each row of all plans: {:,.0f} rows/s are read", rows_per_s),
            impact=at_most(cost),
            confidence=0.75,
            for_=[
                *(
                    Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "", why)
                    for name, value, why in _settings(case, db)
                ),
                Evidence("statistic", f"name in {ROWS} and db = '{db}'", phrase("{:,.0f} rows/s", rows_per_s), "",
                         phrase("two readings of the clock for each, {:.0f} ns: {:share} of database time for the "
                                "scans alone", reading_ns, min(least, 1.0))),
            ],
            not_measured=[UNTIMED],
            database=db,
        )  # fmt: skip


def _part_timed(case: Case, db: str) -> float:
    """The part (0 to 1) of all statements that is timed row by row."""
    least_ms = case.setting(LEAST_MS, db)
    if least_ms in (None, "-1") or any((case.setting(name, db) or usual) != "on" for name, usual in TIMED.items()):
        return 0.0
    return float(case.setting(PART, db) or 1.0)


def _settings(case: Case, db: str) -> Iterator[tuple[str, str, str]]:
    yield LEAST_MS, f"{case.setting(LEAST_MS, db)} ms", "what is logged; what is quicker is measured all the same"
    for name, usual in TIMED.items():
        yield name, case.setting(name, db) or usual, "all executions are measured, row by row"
    yield PART, case.setting(PART, db) or "1", "the part of the statements that are"
