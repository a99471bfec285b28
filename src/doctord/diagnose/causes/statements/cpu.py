"""CPU of a database: the few statements that take most of it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.processor_time import ON_CPU
from doctord.analyse.sql.conditions import is_unjoined, tables_of
from doctord.analyse.sql.statements import Statement
from doctord.analyse.time import RUN_QUEUE
from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import CHANGED_SHARE, per_call
from doctord.diagnose.common.starved import is_starved, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Of the CPU time of all sessions; the rest of them is then not what fills the CPUs.
MOST_CPU = 0.6
# One that takes less is not among the few.
LEAST_CPU = 0.15
FEW = 2
MOST_TOLD = 3
RECURSIVE: Final = regex(r"\bwith\s+recursive\b", re.IGNORECASE)
UNION_ALL: Final = regex(r"\bunion\s+all\b", re.IGNORECASE)
CYCLE: Final = regex(r"\bcycle\b[^;]*\bset\b", re.IGNORECASE)
# A path that is looked through, a counter, or a step that gives nothing in the end.
GUARD: Final = regex(r"\b(?:any|all)\s*\(|\bis\s+not\s+null\b|<=?\s*(?:\$\d+|\d+)", re.IGNORECASE)
ENDLESS: Final = "where a row is its own ancestor (a circle in the data) it finds the same rows again, and never ends"
OF_A_CIRCLE: Final = (
    "First: look whether the data has a circle: run the recursion with CYCLE id SET is_cycle USING path (PostgreSQL 14 "
    "and later), for rows where is_cycle holds; mend these, and keep CYCLE, or UNION in place of UNION ALL."
)
NO_TEXTS = NotMeasured(
    "what they run",
    "no text of their statements was seen",
    "select pid, query from pg_stat_activity where application_name = '...'; explain it",
)
# Samples meet a statement of one second half a second after its start, on average: shorter ones are many, not heavy.
HEAVY_S = 0.5
# But for those that take a tenth of a second of CPU each time, as the server's count of their calls tells.
HEAVY_CALL_S = 0.1


class Taker(NamedTuple):
    """A statement, or where the server tells no statements a session, that runs for long on a CPU.

    `cpu_share` is its part (0 to 1) of the CPU time of all sessions, `running_s` for how long it had run when it was
    sampled, on average; `sids` are the sessions that ran it.
    """

    db: str
    statement_id: str | None
    sids: tuple[int, ...]
    cpu_share: float
    running_s: float


class Crowd(NamedTuple):
    """Sessions of one program and role: how many, their part (0 to 1) of the CPU time, and their statements by it.

    `running_s` is for how long these had run when they were sampled, on average.
    """

    db: str
    program: str
    user: str
    sessions: int
    statements: tuple[str, ...]
    cpu_share: float
    running_s: float


@cause(explains=("cpu_saturated", "log_writer_starved"))
def cpu_few_statements(case: Case) -> Iterator[Claim]:
    """Few long statements, or those of one program, take most of the CPU time, and others wait for a CPU.

    Looks like: no CPU is idle, and nearly all samples on a CPU are of one or two statements that run for seconds each,
        or take a tenth of a second of CPU and more; or of the sessions of one program that run such statements, while
        clients of other programs are there.
    Hurts because: a statement that computes never waits, and leaves a CPU only when the scheduler takes it away: short
        statements of others wait for their turn each time.
    Speaks for it: its part of the CPU time and how long it runs; tables that are joined without a condition (a
        Cartesian product), rows changed since the last ANALYZE of its tables.
    Speaks against it: many short calls: then it is their number, or the number of sessions.
    Remedy: Look at its plan: a nested loop over many rows, a join without a condition, rows estimated far from those
        found. Until it is mended let it run at a quiet time, one at a time, or end it.
        PostgreSQL: explain; pg_cancel_backend(pid) ends it; max_parallel_workers_per_gather limits its workers.
    Verify: Idle time returns while it does not run; the run queue's share of the time falls.
    Source: PostgreSQL documentation, "Using EXPLAIN" and pg_stat_activity.query_id; K. Dias and others, "Automatic
        Performance Diagnosis and Tuning in Oracle", CIDR 2005: top SQL by database time.
    """
    takers = _takers(case) if is_starved(case) else []
    cpu_share = sum(one.cpu_share for one in takers)
    if cpu_share < MOST_CPU:
        yield from _by_program(case) if is_starved(case) else ()
        return
    known = {(one.db, one.statement_id): one for one in case.statements}
    own = [known.get((one.db, one.statement_id or "")) for one in takers]
    share = sum(one.share for one in own if one) or case.time.share("CPU") * cpu_share
    waiting = case.time.share(*RUN_QUEUE)
    cost = min(share + waiting * (1 - cpu_share), 1.0)
    yield Claim(
        phrase("{} {:share} of the sessions' CPU time while others wait for a CPU", _named(takers), cpu_share),
        impact=cost,
        severity=severity(case, cost),
        confidence=0.9 if all(one.statement_id for one in takers) else 0.8,
        for_=[evidence for one, its in zip(takers, own, strict=True) for evidence in _about(case, one, its)],
        first_steps=[OF_A_CIRCLE] if any(its and is_endless(its.text or "") for its in own) else [],
        not_measured=[_text(one) for one, its in zip(takers, own, strict=True) if not its or not its.text],
    )


def _by_program(case: Case) -> Iterator[Claim]:
    """The one program whose sessions run long statements, and most of what is on a CPU."""
    crowd = _crowd(case)
    if crowd is None:
        return
    texts = {one.statement_id: one for one in case.statements if one.db == crowd.db and one.text}
    told = [texts[name] for name in crowd.statements if name in texts][:MOST_TOLD]
    is_product = any(is_unjoined(one.text or "") for one in told)
    where = f"program = '{crowd.program}'"
    cost = min(case.time.share("CPU") * crowd.cpu_share + case.time.share(*RUN_QUEUE), 1.0)
    yield Claim(
        phrase("{:count session/sessions} of {} (role {}) take {:share} of the sessions' CPU time while others wait "
               "for a CPU{}", crowd.sessions, crowd.program, crowd.user, crowd.cpu_share,
               ": tables are joined without a condition" if is_product else ""),
        impact=cost,
        severity=severity(case, cost),
        confidence=0.85,
        for_=[
            Evidence("session", f"event = 'CPU' and {where}",
                     phrase("{:share} of the CPU time of all sessions, by {:count statement/statements}",
                            crowd.cpu_share, len(crowd.statements)), phrase("{:share}", MOST_CPU),
                     phrase("when looked at they had run for {:time} on average", crowd.running_s), "at_least"),
            *(evidence for one in told for evidence in _texts(case, one)),
        ],
        not_measured=[] if told else [NO_TEXTS],
    )  # fmt: skip


def _crowd(case: Case) -> Crowd | None:
    """The program with most of the CPU time of clients; null where its statements are short, or no other is there."""
    sessions = case.dataset.frame("session").filter((pl.col("kind") == CLIENT) & (pl.col("state") == "active"))
    on_cpu = sessions.filter(ON_CPU & pl.col("db").is_not_null())
    whole, weight = float(on_cpu["interval_s"].sum()), pl.col("interval_s")
    sums = on_cpu.group_by("db", "program", "user", maintain_order=True).agg(
        weight.sum().alias("spent_s"),
        ((pl.col("in_state_s") * weight).sum() / weight.sum()).alias("running_s"),
        pl.col("sid").n_unique().alias("sessions"),
        pl.col("pid").drop_nulls().unique(maintain_order=True).alias("pids"),
    )
    if not whole or sums["program"].n_unique() < FEW:
        return None
    first = sums.sort("spent_s", descending=True, maintain_order=True).row(0, named=True)
    is_long = (first["running_s"] or 0.0) * _running_part(case, first["pids"]) >= HEAVY_S
    if first["program"] is None or not is_long or first["spent_s"] < MOST_CPU * whole:
        return None
    its = on_cpu.filter(
        (pl.col("db") == first["db"]) & (pl.col("program") == first["program"])
        & pl.col("user").eq_missing(first["user"]) & pl.col("statement_id").is_not_null()
    )  # fmt: skip
    statements = its.group_by("statement_id", maintain_order=True).agg(weight.sum())
    ordered = statements.sort("interval_s", "statement_id", descending=[True, False], maintain_order=True)
    return Crowd(
        db=first["db"],
        program=first["program"],
        user=first["user"] or "unknown",
        sessions=first["sessions"],
        statements=tuple(ordered["statement_id"]),
        cpu_share=first["spent_s"] / whole,
        running_s=first["running_s"],
    )


def _takers(case: Case) -> list[Taker]:
    """The few that take most, of those that run for long."""
    on_cpu = case.active.filter(ON_CPU & pl.col("db").is_not_null())
    whole = float(on_cpu["interval_s"].sum())
    weight = pl.col("interval_s")
    sums = on_cpu.group_by(
        "db",
        "statement_id",
        pl.when(pl.col("statement_id").is_null()).then("sid").alias("#sid"),
        maintain_order=True,
    ).agg(
        weight.sum().alias("spent_s"),
        ((pl.col("in_state_s") * weight).sum() / weight.sum()).alias("running_s"),
        pl.col("sid", "pid").drop_nulls().unique(maintain_order=True).name.suffix("s"),
    )
    counted = {(one.db, one.statement_id): (one.calls_per_s or 0.0) * case.time.seconds for one in case.statements}
    calls = pl.Series("calls", [counted.get(one, 0.0) for one in sums.select("db", "statement_id").iter_rows()])
    part = pl.Series("part", [_running_part(case, pids) for pids in sums["pids"]], dtype=pl.Float64)
    is_long = pl.col("running_s") * part >= HEAVY_S
    is_dear = (pl.col("calls") > 0) & (pl.col("spent_s") * part >= HEAVY_CALL_S * pl.col("calls"))
    heavy = sums.with_columns(calls).filter((is_long | is_dear) & (pl.col("spent_s") >= LEAST_CPU * whole))
    most = heavy.sort(
        "spent_s", "db", "statement_id", "#sid", descending=[True, False, False, False], maintain_order=True
    )
    return [
        Taker(row["db"], row["statement_id"], tuple(row["sids"]), row["spent_s"] / whole, row["running_s"])
        for row in most.head(FEW).iter_rows(named=True)
    ]


def _running_part(case: Case, pids: list[int]) -> float:
    """Of what samples show on a CPU, the part (0 to 1) that is no waiting for one; all of it where nobody counted.

    What takes long because two hundred sessions share two CPUs is not heavy itself.
    """
    used = case.processes.filter(pl.col("pid").is_in(pids)).select("cpu_s", "run_wait_s").drop_nulls().sum()
    cpu_s, run_wait_s = used.row(0)
    return cpu_s / (cpu_s + run_wait_s) if cpu_s else 1.0


def _named(takers: list[Taker]) -> Phrase:
    ids = [one.statement_id for one in takers]
    if all(ids):
        verb = "takes" if len(ids) == 1 else "take"
        return phrase("Statement{} {} {}", "s" if len(ids) > 1 else "", " and ".join(str(one) for one in ids), verb)
    sids = [str(sid) for one in takers for sid in one.sids]
    verb = "takes" if len(sids) == 1 else "take"
    return phrase("The statement{} of session{} {} {}", *["s" if len(sids) > 1 else ""] * 2, " and ".join(sids), verb)


def _about(case: Case, one: Taker, its: Statement | None) -> Iterator[Evidence]:
    where = f"statement_id = '{one.statement_id}'" if one.statement_id else f"sid = {one.sids[0]}"
    told = phrase("{:share} of the CPU time of all sessions, in {:count session/sessions} (pid {})", one.cpu_share,
                  len(one.sids), ", ".join(map(str, one.sids[:FEW * 2])))  # fmt: skip
    running = phrase("when looked at it had run for {:time} on average", one.running_s)
    yield Evidence("session", f"event = 'CPU' and {where}", told, phrase("{:share}", LEAST_CPU), running, "at_least")
    if its is None or not its.text:
        return
    yield from _texts(case, its)


def _texts(case: Case, its: Statement) -> Iterator[Evidence]:
    """What a statement is, and whether it multiplies tables, or its plan may be one for other data."""
    where, text = f"statement_id = '{its.statement_id}'", its.text or ""
    yield Evidence("statement", where, per_call(its), "", shortened(text))
    if is_unjoined(text):
        joined = phrase("{:count table/tables} without a condition between them", len(tables_of(text)))
        yield Evidence("statement", where, joined, "", _product(case, its))
    if is_endless(text):
        yield Evidence("statement", where, "a recursion by UNION ALL, without CYCLE", "", ENDLESS)
    yield from _stale(case, its)


def is_endless(text: str) -> bool:
    """Whether a statement's recursion ends by its data alone."""
    ends = CYCLE.search(text) or GUARD.search(text)
    return RECURSIVE.search(text) is not None and UNION_ALL.search(text) is not None and ends is None


def _live_rows(case: Case, its: Statement) -> dict[str, float]:
    """Rows of the tables that a statement names, as the server estimates them."""
    tables = set(tables_of(its.text or ""))
    return {
        figure.entity: figure.last
        for figure in case.figures("pg_stat_user_tables.n_live_tup")
        if figure.db == its.db and figure.entity and figure.entity.rpartition(".")[2].lower() in tables
    }


def _product(case: Case, its: Statement) -> Words:
    """How many pairs of rows a Cartesian product looks at."""
    rows = list(_live_rows(case, its).values())
    if len(rows) < FEW:
        return "each row of one is put beside each row of the other"
    product = 1.0
    for count in rows:
        product *= max(count, 1.0)
    told = listed(*(phrase("{:,.0f}", count) for count in rows), by=" x ")
    return phrase("{} rows: {:.2g} pairs", told, product)


def _stale(case: Case, its: Statement) -> Iterator[Evidence]:
    """That statistics of its tables are old: the plan was then chosen for other data."""
    live = _live_rows(case, its)
    for figure in case.figures("pg_stat_user_tables.n_mod_since_analyze"):
        if figure.entity in live and figure.last >= CHANGED_SHARE * max(live[figure.entity], 1.0):
            yield Evidence(
                "statistic",
                f"name = '{figure.name}' and entity = '{figure.entity}'",
                phrase("{:,.0f} rows of {} changed since its last ANALYZE", figure.last, figure.entity),
                phrase("{:,.0f}", CHANGED_SHARE * max(live[figure.entity], 1.0)),
                "the plan may be one for other data",
                "at_least",
            )


def _text(one: Taker) -> NotMeasured:
    which = f"query_id = {one.statement_id}" if one.statement_id else f"pid = {one.sids[0]}"
    return NotMeasured(
        phrase("the text of {}", f"statement {one.statement_id}" if one.statement_id else f"session {one.sids[0]}"),
        "it has not ended, so that pg_stat_statements tells it, and was not seen to run for two seconds (version 14)",
        phrase("select pid, query from pg_stat_activity where {}; explain it", which),
    )
