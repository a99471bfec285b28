"""Statements that take much longer than they did before, by the server's own count of their past."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.analyse.time import TimeShare
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES, cause
from doctord.diagnose.explained import Named, named
from doctord.diagnose.finding import WARNING_SHARE, Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# A busy hour makes statements two or three times as slow; and what is below the milliseconds of a look-up nobody feels.
SLOWER, FELT_MS = 5.0, 5.0
# Ten in the shortest check-up; fewer may have been the unlucky ones.
OFTEN_PER_S: Final = 0.5
# With that many times the blocks a call does other work than before; with less it does the same more slowly.
MORE_WORK = 2.0
HALF = 0.5
MOST_TOLD = 3
# Which view of a vendor's tells the past, and what it counts as work.
VIEWS: Final = {
    "postgresql": ("pg_stat_statements", "blocks"),
    "mysql": ("events_statements_summary_by_digest", "examined"),
}
LOOKED_AT: Final = {"blocks": "{:,.3g} blocks looked at a call", "examined": "{:,.3g} rows looked at a call"}
EXAMINED: Final = "events_statements_summary_by_digest.sum_rows_examined"


class Past(NamedTuple):
    """What a call of a statement took before, of how many calls that is the mean, and what work a call is now.

    Milliseconds, rows returned or changed, and the work before and now: blocks looked at, in MySQL rows looked at;
    null where it is not told now.
    """

    calls: float
    ms: float
    rows: float
    work: float
    now: float | None
    unit: str

    @property
    def tells_waits(self) -> bool:
        """Whether the server's sessions tell what they wait for, so that what slows all of them down is known."""
        return self.unit == "blocks"


@cause(last=True)
def statement_slower_than_before(case: Case) -> Iterator[Claim]:
    """A statement takes many times as long as it did before, and nothing else that was found says why.

    Looks like: a call of it takes five times as long as the mean of all calls that the server had counted before, and
        5 ms longer at least, while it returns as many rows.
    Hurts because: its callers wait that much longer, even where the server has room and no wait stands out.
    Speaks for it: time, blocks (MySQL: rows looked at) and rows of a call, now and before; what its sessions do
        meanwhile.
    Speaks against it: more rows for each call than before: then more is asked for. The mean of the past is of all its
        calls, with whatever parameters. In MySQL, whose states do not tell all waits, anything else that was found,
        where a call looks at as many rows as before.
    Remedy: Where a call looks at many more blocks than before, the work itself has grown: see its plan with its
        parameters (explain (analyze, buffers); auto_explain with log_nested_statements for what triggers, foreign
        keys and functions do). Ask what was changed: an index dropped, statistics stale, a trigger, a foreign key
        or a partition added, rows deleted and not vacuumed, a value that has become frequent. Where it looks at as
        many, each costs more: planning, a function, a lock between sessions, a CPU or a disk that is shared.
    Verify: The time and the blocks of a call, from one reading of pg_stat_statements (MySQL:
        events_statements_summary_by_digest) to the next.
    Source: PostgreSQL documentation, "pg_stat_statements", "Using EXPLAIN", "auto_explain"; MySQL Reference Manual,
        "Statement Summary Tables".
    """
    told = named([(name, claim) for name, claim in case.claims if claim.graded != "note" and not CAUSES[name].last])
    others = any(claim.graded != "note" and not CAUSES[name].last for name, claim in case.claims)
    slower = [
        (one, past)
        for one in case.statements
        if (past := _past(case, one))
        and _is_slower(one, past)
        and (_is_more_work(past) or past.tells_waits or not others)
    ]
    for one, past in [pair for pair in slower if not _is_explained(case, told, *pair)][:MOST_TOLD]:
        now, gained = one.elapsed_ms or 0.0, 1 - past.ms / (one.elapsed_ms or past.ms)
        if one.share * gained < WARNING_SHARE:
            continue
        yield Claim(
            phrase("Statement {} takes {:time} a call, {:time} before", one.statement_id, now / 1e3, past.ms / 1e3),
            impact=one.share * gained,
            confidence=0.6,
            severity="warning",
            for_=[*_time(one, past), *_work(one, past), *_doing(case, one)],
            database=one.db,
        )


def _past(case: Case, one: Statement) -> Past | None:
    """Its past at the first reading that told one: later ones hold part of the time that is looked at."""
    view, unit = VIEWS.get(one.db.partition(":")[0], ("", ""))
    told = case.dataset.derived("statistic", _told_of_past).filter(
        (pl.col("db") == one.db) & (pl.col("entity") == one.statement_id)
    )
    first = dict(told.filter(pl.col("ts") == pl.col("ts").min()).select("name", "value").rows())
    if not view or not first:
        return None
    calls, ms, rows, work = (
        first[f"{view}.past_{what}"] for what in ("calls", "ms_per_call", "rows_per_call", f"{unit}_per_call")
    )
    return Past(calls, ms, rows, work, _work_now(case, one), unit)


def _work_now(case: Case, one: Statement) -> float | None:
    """Blocks of a call, in MySQL rows that it looks at."""
    examined = next(
        (it.mean for it in case.figures(EXAMINED) if (it.db, it.entity) == (one.db, one.statement_id)), None
    )
    return one.blocks_per_call if examined is None or not one.calls_per_s else examined / one.calls_per_s


def _told_of_past(statistic: pl.DataFrame) -> pl.DataFrame:
    views = [f"{view}.past_" for view, _ in VIEWS.values()]
    return statistic.filter(pl.any_horizontal(pl.col("name").str.starts_with(view) for view in views))


def _is_slower(one: Statement, past: Past) -> bool:
    """Whether a call takes much longer, and not because so many more rows are asked for."""
    if one.elapsed_ms is None or (one.calls_per_s or 0.0) < OFTEN_PER_S:
        return False
    times = one.elapsed_ms / past.ms if past.ms else SLOWER
    more_rows = (one.rows_per_call or 0.0) / past.rows if past.rows else 1.0
    return times >= SLOWER * max(more_rows, 1.0) and one.elapsed_ms - past.ms >= FELT_MS


def _is_more_work(past: Past) -> bool:
    return past.now is not None and past.now >= MORE_WORK * max(past.work, 1.0)


def _is_explained(case: Case, told: Named, one: Statement, past: Past) -> bool:
    """Whether a finding names the statement, or what its sessions spend half of their time on.

    Who waits, for a CPU or for others, looks at no more blocks for it.
    """
    if one.statement_id in told.statements or _is_more_work(past):
        return one.statement_id in told.statements
    return sum(part.share for part in _parts(case, one) if told.explains(part)) >= HALF


def _parts(case: Case, one: Statement) -> list[TimeShare]:
    """What its sessions spend their time on; where none was sampled in it, what all do."""
    rows = case.samples_of(one).drop_nulls("event")
    total = float(rows["interval_s"].sum())
    parts = rows.group_by("wait_class", "event", "wait_kind", maintain_order=True).agg(pl.col("interval_s").sum())
    return [
        TimeShare(wait_class, event, 0.0, spent / total, kind) for wait_class, event, kind, spent in parts.iter_rows()
    ] or list(case.time.shares)


def _time(one: Statement, past: Past) -> list[Evidence]:
    return [
        Evidence(
            "statement",
            f"statement_id = '{one.statement_id}'",
            phrase("{:time} a call, {:rate}", (one.elapsed_ms or 0.0) / 1e3, one.calls_per_s or 0.0),
            phrase("{:time}, the mean of {:,.0f} calls before", past.ms / 1e3, past.calls),
            shortened(one.text or ""),
        )
    ]


def _work(one: Statement, past: Past) -> list[Evidence]:
    """Whether it is more work, or the same done more slowly."""
    if past.now is None:
        return []
    of_rows = phrase("{:,.3g} returned or changed a call, {:,.3g} before", one.rows_per_call or 0.0, past.rows)
    return [
        Evidence(
            "statement",
            f"statement_id = '{one.statement_id}'",
            phrase(LOOKED_AT[past.unit], past.now),
            phrase("{:,.3g} before", past.work),
            "a call does more work than before" if _is_more_work(past) else "a call does the same work more slowly",
        ),
        Evidence("statement", f"statement_id = '{one.statement_id}'", of_rows, "", "as much is asked for as before"),
    ]


def _doing(case: Case, one: Statement) -> list[Evidence]:
    """What its sessions do meanwhile, mostly."""
    most = max(_parts(case, one), key=lambda part: (part.share, part.event))
    where = f"event = '{most.event}' and statement_id = '{one.statement_id}'"
    told = phrase("{:share} of its time is {}", most.share, most.event)
    return (
        [Evidence("session", where, told, "", "what its sessions do meanwhile")] if case.samples_of(one).height else []
    )
