"""One statement that takes much of the time, on any vendor's server."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import OF_A_SESSION
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# A quarter of all time in one statement: whatever is done about it can be felt by everybody.
DOMINATES = 0.25
# On average fewer sessions than this run it: three quarters of the time nobody waits for it.
LIGHT_SESSIONS = 0.25
MOST_TOLD = 3
BLOCK = ("begin", "declare", "call", "{call", "{ call")
# What other sessions keep one waiting for, and from when on next to nothing is left to the statement itself.
OF_OTHERS = ("row lock", "table lock", "application lock", "other lock", "internal lock", "parse")
MOSTLY = 0.9
# Elsewhere than in a report that lists what is worth tuning: a call that takes less is felt by nobody who makes it.
FELT_MS = 100.0
OWN_WORK: Final = ("CPU", "User I/O")
HALF = 0.5


@cause()
def statement_dominates(case: Case) -> Iterator[Claim]:
    """One statement takes a large part of the database time.

    Looks like: one SQL id with a quarter of the time or more; on PostgreSQL and MySQL a statement with as much whose
        single call takes a tenth of a second and more, mostly on a CPU or in reads.
    Hurts because: nothing else that is tuned can help more; what it waits for, others wait for as well.
    Speaks for it: its share, executions, time and work for each, the part on a CPU.
    Speaks against it: work that is wanted and as small as it can be; a PL/SQL block, whose statements count again. It
        is a note where it runs less than a quarter of the time, and on PostgreSQL and MySQL always: of a report or a
        job nobody can tell from here whether it is too slow.
    Remedy: On a CPU: less work for each execution (plan, indexes, joins), or fewer executions. In I/O: fewer reads. In
        other waits: the cause named for them. Compare its plans over time.
        PostgreSQL: explain (analyze, buffers, settings) says where the time goes: rows estimated against actual, JIT,
        sorts and hashes on disk, workers planned and launched.
        Oracle: fewer buffer gets; plan hash values over time.
        MySQL: explain analyze.
    Verify: Its elapsed time and blocks read or looked at for each execution; its share.
    Source: Oracle Database SQL Tuning Guide 19c; C. Millsap and J. Holt, Optimizing Oracle Performance, 2003;
        PostgreSQL documentation, "Using EXPLAIN".
    """
    large = [one for one in case.statements if one.share >= DOMINATES and case.worth_saying(one.share)]
    for one in [one for one in large if one.db.startswith("oracle") or _is_felt(case, one)][:MOST_TOLD]:
        block = (one.text or "").lstrip().lower().startswith(BLOCK)
        behind = _waits_for_others(case)
        yield Claim(
            phrase("Statement {} takes {:share of database}", one.statement_id, one.share),
            impact=one.share,
            confidence=0.6 if block or behind else 0.85,
            severity="note" if _is_light(case, one) or not one.db.startswith("oracle") else None,
            for_=_work(case, one),
            against=[
                *([Evidence("statement", f"statement_id = '{one.statement_id}'", "a PL/SQL block", "",
                            "what its own statements take is in it, and may be named on its own")] if block else []),
                *behind,
            ],
            database=one.db,
        )  # fmt: skip


def _waits_for_others(case: Case) -> list[Evidence]:
    """That nearly all of the time is one wait for other sessions: that is the cause then, and no statement's work."""
    first = next((part for part in case.time.shares if part.wait_kind in OF_OTHERS and part.share >= MOSTLY), None)
    if first is None:
        return []
    told = phrase("{:share} of the time is {}", first.share, first.event)
    why = "it waits for other sessions"
    return [Evidence("wait", f"event = '{first.event}'", told, phrase("{:share}", MOSTLY), why)]


def _is_felt(case: Case, one: Statement) -> bool:
    """Whether somebody waits for its work: a session is often in it, each call takes long, most of it its own doing."""
    own = case.samples_of(one)
    working_s = float(own.filter(pl.col("wait_class").is_in(OWN_WORK))["interval_s"].sum())
    is_long = one.elapsed_ms is None or one.elapsed_ms >= FELT_MS
    return is_long and not _is_light(case, one) and working_s >= HALF * float(own["interval_s"].sum()) > 0


def _is_light(case: Case, one: Statement) -> bool:
    """Whether it hardly ever runs; who brings the trace of a session asks about that one."""
    is_of_a_session = bool(case.figures(OF_A_SESSION))
    return not is_of_a_session and one.share * case.time.seconds_per_second < LIGHT_SESSIONS


def _work(case: Case, one: Statement) -> list[Evidence]:
    """What a statement does, in all and for each execution."""
    where = f"statement_id = '{one.statement_id}'"
    calls = one.calls_per_s
    parts = [
        "" if calls is None else phrase("{:rate}", calls),
        "" if one.elapsed_ms is None else phrase("{:time} each", one.elapsed_ms / 1000),
        "" if one.cpu is None else phrase("{:share} of it on a CPU", one.cpu),
        "" if one.rows_per_call is None else phrase("{:,.3g} rows each", one.rows_per_call),
        _in_reads(case, one),
        _gets(case, one),
        ""
        if not calls or one.read_blocks_per_s is None
        else phrase("{:,.3g} blocks read each", one.read_blocks_per_s / calls),
    ]
    return [
        Evidence(
            "statement",
            where,
            phrase("{:share of database}", one.share),
            phrase("{:share}", DOMINATES),
            listed(listed(*parts), shortened(one.text or ""), by=": "),
            "at_least",
        )
    ]


def _gets(case: Case, one: Statement) -> Words:
    """Buffer gets of an execution; empty when they are not known."""
    found = [figure.mean for figure in case.figures("v$sqlstats.gets") if figure.entity == one.statement_id]
    return phrase("{:,.0f} buffer gets each", sum(found) / one.calls_per_s) if found and one.calls_per_s else ""


def _in_reads(case: Case, one: Statement) -> Words:
    """The part of a statement's time in user I/O; empty when it is not known."""
    waited_s = [f.mean for f in case.figures("v$sqlstats.user_io_wait_time") if f.entity == one.statement_id]
    elapsed = (one.elapsed_ms or 0.0) / 1000 * (one.calls_per_s or 0.0)
    return phrase("{:share} in reads and writes", min(sum(waited_s) / elapsed, 1.0)) if waited_s and elapsed else ""
