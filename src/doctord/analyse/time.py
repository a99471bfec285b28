"""The time model: where every second of the sessions went.

Active sessions, sampled, are database time (the sum of `session.interval_s`); each sample names what its session was
waiting for. A session that waits for nothing is on a CPU or queueing for one: which, the host's processes tell. Where
the sessions' own processes run on the host, the kernel's count of both stands (`doctord.analyse.processor_time`), and
what is far beyond it is sleep where the server has no wait event.
Method: time-based tuning as in Oracle's Automatic Database Diagnostic Monitor (Dias, Ramacher, Shaft, Venkataramani,
Wood: "Automatic Performance Diagnosis and Tuning in Oracle", CIDR 2005) and active session history.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

import polars as pl

from doctord.analyse.capacity.contradictions import CONTRADICTS
from doctord.analyse.latency.counted import are_alone, counted_waits
from doctord.analyse.processor_time import ON_CPU, PLANNING, ProcessorTime, is_untold, processor_time
from doctord.analyse.spells import covered_s
from doctord.analyse.storage.missed_pages import missed_pages_s
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import WORKING
from doctord.dataset.waits.events import kind_of
from doctord.dataset.waits.kernel import OFF_CPU

RUN_QUEUE = ("Scheduler", "run queue")
# Of Oracle's database time neither the CPU nor a wait accounts for: the run queue, and what is not instrumented.
UNACCOUNTED = ("Unaccounted", "run queue, or not instrumented")
DB_TIME = "v$sys_time_model.DB time"
CLASS_WAITED, EVENTS_NOT_TOLD = "wait_class.waited", "(which events, is not told)"
BACKGROUND = ("Idle", "System I/O")
# Sessions that work or wait on a user's behalf: their time is database time.
AT_WORK = pl.col("kind").is_in(WORKING) & (pl.col("state") == "active") & (pl.col("wait_class") != "Idle")
# What sampling tells in every interval, also while no session is active: their time on a CPU (see `wait.event`).
SAMPLED = "event = 'CPU' AND kind IS NULL AND waits_per_s IS NULL AND interval_s IS NOT NULL"


class Spent(NamedTuple):
    """What time was spent on: the key of the parts of a time model."""

    wait_class: str
    event: str
    wait_kind: str | None = None


CPU, QUEUEING = Spent("CPU", "CPU", "cpu"), Spent(*RUN_QUEUE, "run queue")
ASLEEP = Spent("Other", OFF_CPU, "other")
NOT_TOLD = Spent("Database time", "(what it went into, is not told)")
MISSED_PAGES = Spent("User I/O", "Innodb_buffer_pool_reads", "single read")


@dataclass(frozen=True, slots=True)
class TimeShare:
    """One part of the time model: seconds per second spent in a wait class and event, and its share of the whole.

    `wait_kind` is one of KINDS (`dataset/waits/kinds.py`); null where it is not known what the event waits for.
    """

    wait_class: str
    event: str
    seconds_per_second: float
    share: float
    wait_kind: str | None = None


@dataclass(frozen=True, slots=True)
class TimeModel:
    """Where time went, largest share first.

    `of` is `database` when sessions were sampled, `processes` when only the host was seen, and of a call trace `pass`
    or `busy`; `seconds_per_second` is the average number of active sessions (or of processes that ran or waited), and
    `seconds` how long they were looked at; 0 where that is not told.
    """

    of: Literal["database", "processes", "pass", "busy"]
    seconds_per_second: float
    shares: tuple[TimeShare, ...]
    seconds: float = 0.0

    def share(self, wait_class: str | None = None, *events: str) -> float:
        """Share (0 to 1) of a wait class, of some events, or of those events in that class."""
        return sum(
            part.share
            for part in self.shares
            if (wait_class is None or part.wait_class == wait_class) and (not events or part.event in events)
        )

    def kind_share(self, *kinds: str) -> float:
        """Share (0 to 1) of some kinds of wait (`dataset/waits/kinds.py`), whoever the vendor is."""
        return sum(part.share for part in self.shares if part.wait_kind in kinds)

    def events_of(self, *kinds: str) -> list[str]:
        """The vendors' events of some kinds of wait, the longest waited for first."""
        return [part.event for part in self.shares if part.wait_kind in kinds]


def seconds_observed(dataset: Dataset) -> float:
    """Seconds that were observed, gaps left out: from the whole-host CPU rows, else from first to last row.

    Of what one table tells, `seconds_of` is the time: another source may have looked for longer.
    """
    covered = dataset.derived("cpu", _of_host_s)
    if covered:
        return covered
    if dataset.since and dataset.until:
        return (dataset.until - dataset.since).total_seconds()
    return 0.0


def _of_host_s(cpu: pl.DataFrame) -> float:
    return covered_s(cpu.filter(pl.col("cpu").is_null()))


def seconds_of(dataset: Dataset, table: str) -> float:
    """Seconds that one table tells of; all that were observed, where its rows are of single moments."""
    return dataset.derived(table, covered_s) or seconds_observed(dataset)


@lru_cache(maxsize=2)  # a dataset under examination, and its past: every analysis starts here
def active_sessions(dataset: Dataset) -> pl.DataFrame:
    """Samples of sessions that worked or waited on a user's behalf: their time is database time.

    Columns: ts, interval_s, db, sid, pid, wait_class, event, wait_kind, statement_id, in_state_s.
    """
    columns = ("ts", "interval_s", "db", "sid", "pid", "wait_class", "event", "wait_kind", "statement_id", "in_state_s")
    return dataset.rows("session", AT_WORK, *columns)


@lru_cache(maxsize=2)  # who asks what a share is of, asks for all of it
def time_model(dataset: Dataset) -> TimeModel:
    """The time model of a dataset.

    Of the database when sessions were sampled, or when its own sums of waits or their histograms are known, or its time
    as a whole at least (ADDM); else of the host's processes.
    """
    waits = foreground_waits(dataset)
    is_counted = any(one.unsampled_s for one in processor_times(dataset).values())
    if waits.height and not active_sessions(dataset).height and not is_counted:
        # Sums without an interval (a list of top events) tell shares only.
        seconds = covered_s(waits)
        return replace(_model("database", _wait_parts(dataset, waits), seconds or 1.0), seconds=seconds)
    if dataset.frame("session").height or is_counted:
        return _model("database", _database_parts(dataset), _sampled_s(dataset))
    if are_alone(dataset) and (counted := counted_waits(dataset)):
        spent = {Spent(it.wait_class, it.event, it.wait_kind): it.seconds_per_second for it in counted.values()}
        return replace(_model("database", spent, 1.0), seconds=0.0)
    if told := _told_in_sum(dataset):
        return told
    return _model("processes", _process_parts(dataset), seconds_of(dataset, "process"))


def _sampled_s(dataset: Dataset) -> float:
    """Seconds over which sessions were sampled, as the sampling tells; else all that were observed.

    It tells once a second: samples since it did so last are told by their own rows alone.
    """
    told = dataset.frame("wait").filter(pl.sql_expr(SAMPLED))
    if told.is_empty():
        return seconds_observed(dataset)
    since = dataset.rows("session", pl.col("ts") > told["ts"].max(), "ts", "interval_s")
    return covered_s(told) + covered_s(since)


@lru_cache(maxsize=2)
def foreground_waits(dataset: Dataset) -> pl.DataFrame:
    """Rows of `wait` that are part of database time, CPU among them.

    Where a source adds foreground and background up, waits of the class System I/O are left out: background processes
    make them. Rows that contradict themselves are left out too.
    """
    added_up = pl.col("kind").is_null() & ~pl.col("wait_class").fill_null("Other").is_in(BACKGROUND)
    foreground = (pl.col("kind") == "foreground") & (pl.col("wait_class").fill_null("Other") != "Idle")
    of_a_database = pl.col("db").is_not_null() & pl.col("average_active_sessions").is_not_null()
    rows = dataset.frame("wait").filter((foreground | added_up) & of_a_database)
    return rows.filter(~pl.sql_expr(CONTRADICTS).fill_null(value=False))


def _model(of: Literal["database", "processes"], parts: dict[Spent, float], seconds: float) -> TimeModel:
    total = sum(parts.values())
    if not total or not seconds:
        return TimeModel(of, 0.0, (), seconds)
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    shares = tuple(
        TimeShare(key.wait_class, key.event, value / seconds, value / total, key.wait_kind)
        for key, value in ordered
        if value > 0
    )
    return TimeModel(of, total / seconds, shares, seconds)


def _wait_parts(dataset: Dataset, waits: pl.DataFrame) -> dict[Spent, float]:
    """Seconds by wait, and what is left of database time where the database tells its whole.

    Source: Oracle Database Performance Tuning Guide, "Time model statistics": DB time is CPU time and time in non-idle
    waits of foreground sessions.
    """
    seconds = pl.col("average_active_sessions") * pl.col("interval_s").fill_null(1.0)
    parts = _by_event(waits.with_columns(pl.col("wait_class").fill_null("Other")), seconds)
    if {part.wait_class for part in parts} == {"CPU"}:
        parts |= _class_parts(dataset)
    told = dataset.frame("statistic").filter(pl.col("name") == DB_TIME)
    whole = float(told.select((pl.col("value") * pl.col("interval_s")).sum()).item() or 0.0)
    if whole > sum(parts.values()):
        parts[Spent(*UNACCOUNTED)] = whole - sum(parts.values())
    return parts


def _told_in_sum(dataset: Dataset) -> TimeModel | None:
    """Database time of which no waits are told."""
    told = dataset.frame("statistic").filter(pl.col("name") == DB_TIME)
    if told.is_empty():
        return None
    spent = float(told.select((pl.col("value") * pl.col("interval_s")).sum()).item() or 0.0)
    return _model("database", {NOT_TOLD: spent}, covered_s(told))


def _class_parts(dataset: Dataset) -> dict[Spent, float]:
    """Seconds by wait class, of a source that sums up no single events (AWR-miner before version 4)."""
    classes = dataset.frame("statistic").filter(
        (pl.col("name") == CLASS_WAITED) & ~pl.col("entity").is_in([*BACKGROUND, "CPU", "DB CPU"])
    )
    sums = classes.group_by("entity", maintain_order=True).agg((pl.col("value") * pl.col("interval_s")).sum())
    return {Spent(str(row[0]), EVENTS_NOT_TOLD): float(row[1]) for row in sums.iter_rows()}


def _by_event(rows: pl.DataFrame, seconds: pl.Expr) -> dict[Spent, float]:
    """Seconds by class and event of `wait` or `session`, with the kind of each.

    A lake or file that was written before kinds were has none: it is that of the event.
    """
    grouped = rows.group_by("wait_class", "event", maintain_order=True).agg(
        seconds.sum(), pl.col("wait_kind").drop_nulls().first()
    )
    return {
        Spent(str(wait_class), str(event), kind or kind_of(event, wait_class)): float(spent)
        for wait_class, event, spent, kind in grouped.iter_rows()
    }


@lru_cache(maxsize=2)
def processor_times(dataset: Dataset) -> dict[str | None, ProcessorTime]:
    """CPU and run queue of the sessions of each server whose sessions were sampled."""
    active = active_sessions(dataset).select("ts", "interval_s", "db", "pid", "wait_class", "event", "wait_kind")
    looks = _looks(dataset)
    return {
        db: processor_time(dataset, db, active.filter(_of(db)), looks.filter(_of(db)))
        for db in sorted({*active["db"].unique(maintain_order=True), *looks["db"].unique(maintain_order=True)}, key=str)
    }


def _of(db: str | None) -> pl.Expr:
    return pl.col("db").eq_missing(pl.lit(db))


def _looks(dataset: Dataset) -> pl.DataFrame:
    """Rows that tell when sessions were sampled: what the sampling tells of each second, and the samples themselves."""
    columns = ("db", "ts", "interval_s")
    waits = dataset.frame("wait").filter(pl.sql_expr(SAMPLED)).select(*columns, is_told=pl.lit(True))  # noqa: FBT003
    return pl.concat([waits, dataset.frame("session").select(*columns, is_told=pl.lit(False))])  # noqa: FBT003


def _database_parts(dataset: Dataset) -> dict[Spent, float]:
    """Waits as sampled, less what was run queue of them; CPU and run queue as the kernel counted them, where it did."""
    parts = dict[Spent, float]()
    active = active_sessions(dataset).select("interval_s", "db", "wait_class", "event", "wait_kind")
    for db, processor in processor_times(dataset).items():
        not_queueing_s = pl.when(PLANNING).then(1 - processor.queueing).otherwise(1.0) * pl.col("interval_s")
        waits = _by_event(active.filter(_of(db) & ~ON_CPU), not_queueing_s)
        missed_s = (missed_pages_s(dataset, db) or 0.0) * _sampled_s(dataset)
        waits = _told_after_all(waits, missed_s, processor.in_untold_s)
        waited_s = sum(waits.values())
        kept = 1 - processor.in_waits_s / waited_s if waited_s else 1.0
        own = {spent: seconds * kept for spent, seconds in waits.items()}
        own[CPU] = own.get(CPU, 0.0) + processor.cpu_s
        own[QUEUEING] = own.get(QUEUEING, 0.0) + processor.run_queue_s
        own[ASLEEP] = own.get(ASLEEP, 0.0) + processor.off_cpu_s
        parts = {key: parts.get(key, 0.0) + own.get(key, 0.0) for key in (*parts, *(k for k in own if k not in parts))}
    return parts


def _told_after_all(waits: dict[Spent, float], missed_s: float, on_cpu_s: float) -> dict[Spent, float]:
    """Samples that tell nothing, less what the kernel counted on a CPU, and as reads what was waited for pages.

    Both are counted, and samples few: so much may have been read as samples do not tell what it was.
    """
    untold_s = sum(seconds for spent, seconds in waits.items() if is_untold(spent.wait_class, spent.event))
    sampled_s = sum(seconds for spent, seconds in waits.items() if spent.wait_kind == MISSED_PAGES.wait_kind)
    reads_s = max(min(missed_s - sampled_s, untold_s), 0.0)
    left = max(1 - (on_cpu_s + reads_s) / untold_s, 0.0) if untold_s else 1.0
    told = {
        spent: seconds * (left if is_untold(spent.wait_class, spent.event) else 1.0) for spent, seconds in waits.items()
    }
    return told | ({MISSED_PAGES: reads_s} if reads_s else {})


def _process_parts(dataset: Dataset) -> dict[Spent, float]:
    columns = {
        "usr_pct": Spent("CPU", "user", "cpu"),
        "sys_pct": Spent("CPU", "kernel", "cpu"),
        "run_wait_pct": Spent(*RUN_QUEUE, "run queue"),
        "io_wait_pct": Spent("I/O", "block I/O"),
        "memory_wait_pct": Spent("Memory", "reclaim and swap"),
    }
    sums = dataset.frame("process").select(
        (pl.col(column) * pl.col("interval_s") / 100).sum().alias(column) for column in columns
    )
    return {key: float(sums[column].item() or 0) for column, key in columns.items()}
