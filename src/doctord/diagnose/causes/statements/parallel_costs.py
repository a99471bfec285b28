"""Parallel workers for statements of milliseconds: settings that make starting them seem free."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import severity
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened
from doctord.units import setting_number

# What a leader waits for while its workers are started, hand over their rows, and end.
WAITS: Final = ("BgWorkerStartup", "BgWorkerShutdown", "ExecuteGather", "MessageQueueInternal", "MessageQueueReceive",
                "ParallelFinish")  # fmt: skip
# The unit that the server tells them in, and the default; far below that is a tenth.
DEFAULTS: Final = {
    "parallel_setup_cost": (None, "1000"),
    "parallel_tuple_cost": (None, "0.1"),
    "min_parallel_table_scan_size": ("8kB", "8MB"),
    "min_parallel_index_scan_size": ("8kB", "512kB"),
}
FAR_BELOW: Final = 0.1
# To start two processes and to end them takes some milliseconds: a statement of more than a fifth of a second gains.
SHORT_MS: Final = 200.0
LEAST_SHARE: Final = 0.1
MOST_TOLD: Final = 3


@cause(explains=("other_waits", "cpu_saturated", "connection_churn", "parallel_workers_starved"))
def parallel_workers_for_short_statements(case: Case) -> Iterator[Claim]:
    """Statements of milliseconds are run by parallel workers, and starting these takes longer than the work.

    Looks like: sessions wait for BgWorkerShutdown, BgWorkerStartup, ExecuteGather and for message queues, in statements
        that are called often and read little; the host forks processes with each of them.
    Hurts because: parallel_setup_cost, parallel_tuple_cost and min_parallel_table_scan_size stand for what it takes to
        start a worker and to hand rows over: set to nothing, the planner takes workers for free, though each is a
        process that is forked, connected to shared memory and ended within the call.
    Speaks for it: the share of the time in these waits; statements that wait there and take less than 200 ms; settings
        that are a tenth of their default and less.
    Speaks against it: nothing here: statements of seconds wait for their workers too, and gain by them.
    Remedy: Set them back to their defaults: ALTER SYSTEM RESET parallel_setup_cost, parallel_tuple_cost,
        min_parallel_table_scan_size, min_parallel_index_scan_size, one after the other, and pg_reload_conf(). Where
        reports are to be parallel, set them for the reports' role alone (ALTER ROLE ... SET).
    Verify: explain of the statement shows no Gather; these waits are gone, and the host forks less.
    Source: PostgreSQL documentation, "How Parallel Query Works", "Planner Cost Constants", parallel_setup_cost,
        parallel_tuple_cost, min_parallel_table_scan_size; "Wait Events of Type IPC".
    """
    for db in case.dbs:
        rows = case.active.filter((pl.col("db") == db) & pl.col("event").is_in(WAITS))
        waited = float(rows["interval_s"].sum())
        total = case.database_time_s() if case.is_time_measured else 0.0
        if not total or waited < LEAST_SHARE * total:
            continue
        waiting = set(rows["statement_id"].drop_nulls())
        short = [
            one for one in case.statements
            if one.db == db and one.statement_id in waiting and (one.elapsed_ms or SHORT_MS) < SHORT_MS
        ]  # fmt: skip
        settings = _free(case, short[0]) if short else []
        if settings:
            yield _claim(case, db, waited / total, short, settings)


def _free(case: Case, one: Statement) -> list[tuple[str, str]]:
    """Settings far below their defaults, as who runs the statement has them."""
    told = ((name, case.setting_for(name, one.db, one.statement_id)) for name in DEFAULTS)
    return [(name, value) for name, value in told if value and _is_far_below(name, value)]


def _is_far_below(name: str, value: str) -> bool:
    unit, default = DEFAULTS[name]
    own, usual = setting_number(value, unit), setting_number(default)
    return own is not None and usual is not None and own <= FAR_BELOW * usual


def _claim(case: Case, db: str, share: float, short: list[Statement], settings: list[tuple[str, str]]) -> Claim:
    named = listed(*(f"{name} = {value}" for name, value in settings), by=", ")
    whole = min(sum(one.share for one in short), 1.0)
    return Claim(
        phrase("Parallel workers are started for statements of milliseconds: {}", named),
        impact=at_most(max(whole, share)),
        confidence=0.9,
        severity=severity(case, whole, slowed=True),
        for_=[
            *(Evidence("session", f"event = '{event}'", phrase("{:share of database} in {}", part, event),
                       "", "a leader waits for its workers")
              for event, part in _parts(case, db)),
            *(Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "",
                       phrase("the default is {}: a worker and its rows seem to be free", DEFAULTS[name][1]))
              for name, value in settings),
            *(Evidence("statement", f"statement_id = '{one.statement_id}'", per_call(one), "",
                       shortened(one.text or ""))
              for one in short[:MOST_TOLD]),
        ],
        first_steps=[phrase("First, in one session: {}; explain (analyze) of a statement before and after.",
                            "; ".join(f"SET {name} = '{DEFAULTS[name][1]}'" for name, _ in settings))],
        database=db,
    )  # fmt: skip


def _parts(case: Case, db: str) -> list[tuple[str, float]]:
    """Each of these waits with its share of the time."""
    total = case.database_time_s()
    sums = (
        case.active.filter((pl.col("db") == db) & pl.col("event").is_in(WAITS))
        .group_by("event", maintain_order=True)
        .agg(pl.col("interval_s").sum())
        .sort("interval_s", "event", descending=[True, False], maintain_order=True)
    )
    return [(event, seconds / total) for event, seconds in sums.select("event", "interval_s").iter_rows()]
