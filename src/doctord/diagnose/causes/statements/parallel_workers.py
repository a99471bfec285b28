"""Parallel plans that do not get their workers: the statement is as slow as its leader alone."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import Claim, Evidence, Severity, at_most
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened

PLANNED, GIVEN = "pg_stat_database.parallel_workers_to_launch", "pg_stat_database.parallel_workers_launched"
PLANNED_OF, GIVEN_OF = (
    "pg_stat_statements.parallel_workers_to_launch", "pg_stat_statements.parallel_workers_launched",
)  # fmt: skip
LIMITS = ("max_parallel_workers", "max_worker_processes", "max_parallel_workers_per_gather")
WORKER = "parallel worker"
APPLYING = "pg_stat_subscription.apply_workers"
# As doctord lint's parallel_workers_missing: a quarter of the plans' workers missing is no coincidence.
MISSING = 0.25
# A worker for each ten seconds: less is a report now and then.
OFTEN_PER_S = 0.1
# Without a CPU for them, workers more would take it from each other.
IDLE_PCT = 25.0
# Nearly every look, and those that would want workers at the least for a quarter more than there may be.
ALWAYS = 0.8
TOO_MANY = 1 + MISSING
MOST_TOLD = 3


class Starved(NamedTuple):
    """Statements of a server that miss workers: the part (0 to 1) that is missing, their share of database time.

    `is_counted` where the server counts planned and launched workers (version 18); else it follows from samples.
    """

    db: str
    missing: float
    share: float
    statements: tuple[Statement, ...]
    evidence: tuple[Evidence, ...]
    is_counted: bool


@cause()
def parallel_workers_starved(case: Case) -> Iterator[Claim]:
    """Statements that were planned for parallel workers do not get them.

    Looks like: parallel_workers_launched of pg_stat_database falls short of parallel_workers_to_launch (version 18);
        before, as many parallel workers as max_parallel_workers allows at nearly every look, and more leaders at work
        in the same statements than these could serve.
    Hurts because: a plan that was chosen for several workers is run by the leader alone: it takes several times as
        long as at a quiet moment, and a plan for one process would often have been another one.
    Speaks for it: workers planned against workers launched; the statements that go short, their share of the time;
        CPUs that are idle meanwhile.
    Speaks against it: CPUs without room: workers more would take them from each other. Then fewer plans should ask.
    Remedy: With CPUs idle raise max_parallel_workers (a reload), and max_worker_processes with it (a restart); it is
        shared by subscriptions and extensions. Else let fewer plans ask: max_parallel_workers_per_gather = 0 for the
        roles of short statements, a higher parallel_setup_cost or min_parallel_table_scan_size.
    Verify: parallel_workers_launched keeps up with parallel_workers_to_launch; explain (analyze) says "Workers
        Launched" as many as "Workers Planned".
    Source: PostgreSQL documentation, "How Parallel Query Works", max_parallel_workers, max_worker_processes,
        pg_stat_database and pg_stat_statements (parallel_workers_to_launch, version 18).
    """
    for db in case.dbs:
        starved = _counted(case, db) or _sampled(case, db)
        if starved is not None and case.worth_saying(starved.share):
            yield _claim(case, starved)


def _claim(case: Case, starved: Starved) -> Claim:
    idle = case.mean("cpu", "idle_pct")
    full = [] if idle is None or idle >= IDLE_PCT else [
        Evidence("cpu", "idle_pct", phrase("{:.0f} % of the CPU time idle", idle), phrase("{:.0f} %", IDLE_PCT),
                 "workers more would find no CPU", "at_least")]  # fmt: skip
    room = [] if idle is None or full else [
        Evidence("cpu", "idle_pct", phrase("{:.0f} % of the CPU time idle", idle), phrase("{:.0f} %", IDLE_PCT),
                 "there is room for them", "at_least")]  # fmt: skip
    return Claim(
        phrase("Parallel plans go without {:share} of their workers", starved.missing),
        impact=at_most(starved.share * starved.missing),
        confidence=0.85 if starved.is_counted else 0.6,
        severity=_severity(starved, has_room=bool(room)),
        for_=[*starved.evidence, *(_statement(one) for one in starved.statements[:MOST_TOLD]), *room,
              *_limits(case, starved.db)],
        against=full,
        database=starved.db,
    )  # fmt: skip


def _severity(starved: Starved, *, has_room: bool) -> Severity | None:
    """By what it costs where CPUs are idle; a note where they are not, or where nobody knows."""
    return None if has_room and starved.share * starved.missing >= MISSING / 2 else "note"


def _counted(case: Case, db: str) -> Starved | None:
    """By the server's own counts; null where it does not count, or launches nearly all."""
    planned, given = (sum(one.mean for one in case.figures(name) if one.db == db) for name in (PLANNED, GIVEN))
    if planned < OFTEN_PER_S or 1 - given / planned < MISSING:
        return None
    asked = {one.entity: one.mean for one in case.figures(PLANNED_OF) if one.db == db}
    got = {one.entity: one.mean for one in case.figures(GIVEN_OF) if one.db == db}
    short = tuple(
        one for one in case.statements
        if one.db == db and asked.get(one.statement_id)
        and 1 - got.get(one.statement_id, 0.0) / asked[one.statement_id] >= MISSING
    )  # fmt: skip
    told = Evidence("statistic", f"name in ('{PLANNED}', '{GIVEN}') and db = '{db}'",
                    phrase("{:share} of the workers that plans ask for are missing", 1 - given / planned),
                    phrase("{:share}", MISSING), phrase("{:.3g} a second planned, {:.3g} launched", planned, given),
                    "at_least")  # fmt: skip
    return Starved(db, 1 - given / planned, sum(one.share for one in short), short, (told,), is_counted=True)


def _sampled(case: Case, db: str) -> Starved | None:
    """By samples: all workers that there may be are at work, in statements that more leaders run than they serve."""
    limit, each = _there_may_be(case, db), float(case.setting(LIMITS[2], db) or 0)
    if limit <= 0 or not each or any(one.db == db for one in case.figures(PLANNED)):
        return None
    at_work = (pl.col("db") == db) & (pl.col("state") == "active")
    parallel = case.dataset.rows("session", at_work & (pl.col("kind") == WORKER), "ts", "interval_s", "statement_id")
    seconds = case.time.seconds if case.is_time_measured else 0.0
    if parallel.is_empty() or not seconds:
        return None
    ids = parallel["statement_id"].drop_nulls().unique(maintain_order=True)
    is_leader = (pl.col("kind") == CLIENT) & pl.col("statement_id").is_in(ids.implode())
    leaders = case.dataset.rows("session", at_work & is_leader, "interval_s")
    counts = parallel.group_by("ts", maintain_order=True).agg(pl.len(), pl.col("interval_s").max())
    full = min(float(counts.filter(pl.col("len") >= limit)["interval_s"].sum()) / seconds, 1.0)
    wanted = float(leaders["interval_s"].sum()) / seconds * each
    if full < ALWAYS or wanted < TOO_MANY * limit:
        return None
    short = tuple(one for one in case.statements if one.db == db and one.statement_id in set(ids))
    told = (
        Evidence("session", f"kind = '{WORKER}' and db = '{db}'",
                 phrase("all {:.0f} parallel workers at work at {:share} of the looks", limit, full),
                 phrase("{:.0f}", limit), "none is left for the next plan", "at_least"),
        Evidence("session", f"kind = '{CLIENT}' and db = '{db}'",
                 phrase("{:.1f} workers wanted on average, at the most", wanted), phrase("{:.1f}", TOO_MANY * limit),
                 phrase("leaders of these statements, {:.0f} workers each", each), "at_least"),
    )  # fmt: skip
    return Starved(db, 1 - limit / wanted, sum(one.share for one in short), short, told, is_counted=False)


def _there_may_be(case: Case, db: str) -> float:
    """How many parallel workers there may be at a time; 0 where that is not known.

    Logical replication takes of max_worker_processes too: its launcher one, unless it is switched off
    (max_logical_replication_workers = 0), each subscription one. By default both limits are 8, and seven can run.
    """
    parallel, processes = (float(case.setting(name, db) or 0) for name in LIMITS[:2])
    launcher = 0 if case.setting("max_logical_replication_workers", db) == "0" else 1
    applying = sum(one.last for one in case.figures(APPLYING) if one.db == db)
    return min(parallel, processes - launcher - applying) if processes else parallel


def _statement(one: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:share of database}", one.share), "",
                    shortened(one.text or ""))  # fmt: skip


def _limits(case: Case, db: str) -> list[Evidence]:
    told = [phrase("{} = {}", name, value) for name in LIMITS if (value := case.setting(name, db))]
    return [Evidence("setting", f"name in {LIMITS} and db = '{db}'", listed(*told), "", "")] if told else []
