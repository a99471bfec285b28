"""Settings of PostgreSQL's vacuum: whether it runs, how fast it may, and when it has to."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.lint.postgresql.figures import counted, largest, total
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

A_DAY_S: Final = 86400.0
# The server refuses writes when 3 million transactions are left of 2^31 (1 million before version 14).
TRANSACTIONS: Final = 2**31 - 3_000_000
FAILSAFE: Final = 1_600_000_000
BUSY: Final = 0.9
DEAD_SHARE, DEAD_ROWS = 0.2, 10_000


@rule("postgresql")
def autovacuum_off(subject: Subject) -> Iterator[Violation]:
    """Nobody removes dead rows: autovacuum is off, or cannot know what to do.

    Why: tables and indexes grow with each update and delete and never shrink, statistics go stale, and plans with them;
        the vacuum against wraparound comes all the same, at the worst time.
    Evidence: autovacuum and track_counts; rows that die each second, and dead rows that lie there.
    Fix: Turn it on. Where it disturbs, spread it out (autovacuum_vacuum_cost_delay), or set it per table.
    Verify: pg_stat_user_tables.last_autovacuum advances, n_dead_tup falls.
    Source: PostgreSQL documentation, Routine Vacuuming, Automatic Vacuuming.
    """
    off = [name for name in ("autovacuum", "track_counts") if subject.flag(name) is False]
    if not off:
        return
    dying, (dead, live) = _dying_per_s(subject), _rows(subject)
    cost: Words = "every updated or deleted row stays where it is; how many, was not measured"
    if dying is not None:
        cost = phrase("{:,.0f} rows die a second, {:,.0f} a day, and nobody removes them", dying, dying * A_DAY_S)
    if dead:
        cost = phrase("{}; {:,.0f} dead beside {:,.0f} rows now", cost, dead, live)
    yield subject.violation(
        f"{off[0]} = off: dead rows are never removed",
        *off,
        cost=cost,
        severity=Severity.ERROR if dead >= DEAD_ROWS and dead > DEAD_SHARE * (dead + live) else Severity.WARNING,
        evidence=[]
        if dying is None
        else [counted("pg_stat_database.tup_updated", phrase("{:,.0f per s}", dying), "", "updated or deleted")],
        changes=[subject.change(name, "on", "reload") for name in off],
    )


@rule("postgresql")
def autovacuum_too_slow(subject: Subject) -> Iterator[Violation]:
    """Autovacuum's cost limit is below what the updates need.

    Why: all workers share one limit; when rows die faster than it lets them be removed, dead rows pile up.
    Evidence: cost of the pages that dying rows touch (a page each, at most) against cost limit / cost delay; workers
        that are at work all the time; dead rows.
    Fix: Raise autovacuum_vacuum_cost_limit (more workers share the same limit and do not help).
    Verify: n_dead_tup falls under the same load, workers come to rest.
    Source: PostgreSQL documentation, Cost-based Vacuum Delay; Automatic Vacuuming.
    """
    dying, able = _dying_per_s(subject), _cost_per_s(subject)
    dirty, miss = subject.number("vacuum_cost_page_dirty"), subject.number("vacuum_cost_page_miss")
    dead, live = _rows(subject)
    if dying is None or able is None or dirty is None or dead < DEAD_ROWS or dead <= DEAD_SHARE * (dead + live):
        return
    needed = dying * (dirty + (miss or 0.0))
    workers, most = total(subject, "pg_stat_activity.autovacuum_workers"), subject.number("autovacuum_max_workers")
    if workers is None or most is None or workers < BUSY * (1 if needed > able else most):
        return  # nobody is at work all the time: it was not the limit that kept dead rows
    pages = able / (dirty + (miss or 0.0))
    yield subject.violation(
        phrase("autovacuum may clean {:,.0f} pages a second, {:,.0f} rows die", pages, dying),
        "autovacuum_vacuum_cost_limit",
        "vacuum_cost_limit",
        "autovacuum_vacuum_cost_delay",
        cost=phrase(
            "{:,.0f} dead beside {:,.0f} rows: {:share} of what is scanned is dead", dead, live, dead / (dead + live)
        ),
        severity=Severity.WARNING,
        evidence=[
            Evidence(
                "statistic",
                "tup_updated + tup_deleted",
                phrase("{:,.0f per s}", dying),
                phrase("{:,.0f pages/s}", pages),
                "",
            )
        ],
        changes=[subject.change("autovacuum_vacuum_cost_limit", "10000", "reload")],
    )


@rule("postgresql")
def vacuum_memory_small(subject: Subject) -> Iterator[Violation]:
    """A vacuum reads all indexes more than once, for want of memory.

    Why: when the list of dead rows is full, every index of the table is read whole before the vacuum goes on.
    Evidence: passes over the indexes of a vacuum that was running.
    Fix: Raise autovacuum_work_mem, or maintenance_work_mem (before version 17 more than 1 GB is of no use).
    Verify: pg_stat_progress_vacuum.index_vacuum_count stays at one.
    Source: PostgreSQL documentation, Memory, maintenance_work_mem; VACUUM Progress Reporting.
    """
    passes = largest(subject, "pg_stat_progress_vacuum.index_vacuum_count")
    if passes is not None and passes >= 2:
        yield subject.violation(
            phrase("a vacuum read all indexes {:.0f} times", passes),
            "autovacuum_work_mem",
            "maintenance_work_mem",
            cost=phrase("{:.0f} passes over every index of the table in place of 1", passes),
            severity=Severity.WARNING,
            evidence=[counted("pg_stat_progress_vacuum.index_vacuum_count", phrase("{:.0f}", passes), "1")],
        )


@rule("postgresql")
def freeze_max_age_late(subject: Subject) -> Iterator[Violation]:
    """The vacuum against wraparound begins so late that little is left.

    Why: it has to end before transaction ids run out; then the server refuses every write.
    Evidence: transactions between autovacuum_freeze_max_age and the end, and how long they last at the measured rate.
    Fix: A few hundred million; vacuum large tables with freeze at quiet times.
    Verify: age(datfrozenxid) stays far below the end.
    Source: PostgreSQL documentation, Preventing Transaction ID Wraparound Failures; vacuum_failsafe_age.
    """
    age = subject.number("autovacuum_freeze_max_age")
    if age is None or age <= FAILSAFE:
        return
    left, per_s = TRANSACTIONS - age, _ids_per_s(subject)
    lasts = phrase(", {:,.0f h} at {:,.0f} a second", left / per_s / 3600, per_s) if per_s else ""
    yield subject.violation(
        phrase("autovacuum_freeze_max_age = {:,.0f} leaves {:,.0f} transactions", age, left),
        "autovacuum_freeze_max_age",
        cost=phrase("every table has to be vacuumed within {:,.0f} transactions{}, or writes are refused", left, lasts),
        severity=Severity.WARNING,
        changes=[subject.change("autovacuum_freeze_max_age", "500000000", "restart")],
    )


@rule("postgresql")
def freeze_max_age_early(subject: Subject) -> Iterator[Violation]:
    """Tables are read every few hours, against a wraparound that is far away.

    Why: the vacuum against wraparound cannot be turned off or put off, and reads what others need memory for.
    Evidence: autovacuum_freeze_max_age against the transaction ids used a second; databases larger than memory.
    Fix: 200 million is the default; 500 million to 1 billion where transactions are many.
    Verify: Autovacuums "to prevent wraparound" in the log.
    Source: PostgreSQL documentation, Preventing Transaction ID Wraparound Failures.
    """
    age, per_s = subject.number("autovacuum_freeze_max_age"), _ids_per_s(subject)
    memory = subject.machine.memory_bytes
    space = subject.case.dataset.frame("space").filter(pl.col("kind") == "database")
    size = float(
        space.group_by("name", maintain_order=True).agg(pl.col("used_bytes").last())["used_bytes"].sum() or 0.0
    )
    if not age or not per_s or age / per_s >= A_DAY_S or memory is None or size <= memory:
        return
    yield subject.violation(
        phrase("autovacuum_freeze_max_age = {:,.0f} is used up in {:.1f h}", age, age / per_s / 3600),
        "autovacuum_freeze_max_age",
        cost=phrase(
            "what is not frozen of {:bytes} is read every {:.1f h}, past {:bytes} of memory",
            size,
            age / per_s / 3600,
            memory,
        ),
        severity=Severity.WARNING,
        changes=[subject.change("autovacuum_freeze_max_age", "1000000000", "restart")],
    )


@rule("postgresql", since=(18,))
def autovacuum_workers_unattainable(subject: Subject) -> Iterator[Violation]:
    """More autovacuum workers are asked for than there are slots.

    Why: from version 18 on workers may be changed while the server runs, up to autovacuum_worker_slots; the rest is
        ignored.
    Evidence: both settings.
    Fix: Raise autovacuum_worker_slots, which needs a restart.
    Verify: No warning in the log at start.
    Source: PostgreSQL documentation, Automatic Vacuuming, autovacuum_worker_slots.
    """
    workers, slots = subject.number("autovacuum_max_workers"), subject.number("autovacuum_worker_slots")
    if workers is not None and slots is not None and workers > slots:
        yield subject.violation(
            phrase("autovacuum_max_workers = {:.0f} with {:.0f} slots", workers, slots),
            "autovacuum_max_workers",
            "autovacuum_worker_slots",
            cost=phrase("{:.0f} workers that are asked for never start", workers - slots),
            severity=Severity.WARNING,
            changes=[subject.change("autovacuum_worker_slots", f"{workers:.0f}", "restart")],
        )


def _dying_per_s(subject: Subject) -> float | None:
    updated, deleted = total(subject, "pg_stat_database.tup_updated"), total(subject, "pg_stat_database.tup_deleted")
    return None if updated is None else updated + (deleted or 0.0)


def _ids_per_s(subject: Subject) -> float | None:
    """Transaction ids used a second, by which the oldest database aged; null where it was not seen twice."""
    ages = subject.case.dataset.frame("statistic").filter(pl.col("name") == "pg_database.datfrozenxid_age")
    grown = ages.group_by("entity", maintain_order=True).agg(
        (pl.col("value").last() - pl.col("value").first()).alias("ids"),
        (pl.col("ts").last() - pl.col("ts").first()).dt.total_microseconds().alias("us"),
    )
    rates = [
        float(row["ids"]) / row["us"] * 1e6 for row in grown.iter_rows(named=True) if row["us"] and row["ids"] >= 0
    ]
    return max(rates, default=None)


def _rows(subject: Subject) -> tuple[float, float]:
    """Dead and live rows of all tables that were seen."""
    tables = subject.case.dataset.frame("space").filter(pl.col("dead_rows").is_not_null())
    latest = tables.group_by("database", "name", maintain_order=True).agg(
        pl.col("dead_rows").last(), pl.col("live_rows").last()
    )
    return float(latest["dead_rows"].sum() or 0.0), float(latest["live_rows"].sum() or 0.0)


def _cost_per_s(subject: Subject) -> float | None:
    """What autovacuum may spend a second, in the units of vacuum_cost_page_*; null without a limit."""
    own, general = subject.number("autovacuum_vacuum_cost_limit"), subject.number("vacuum_cost_limit")
    limit = own if own is not None and own > 0 else general
    delay, usual = subject.number("autovacuum_vacuum_cost_delay"), subject.number("vacuum_cost_delay")
    delay_s = delay if delay is not None and delay >= 0 else usual
    return limit / delay_s if limit and delay_s else None
