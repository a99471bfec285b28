"""Statements that take most of the time for next to no rows, and of which nothing that was measured says why."""

import re
from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.work_per_row import OF_MANY, ON_TABLES
from doctord.diagnose.common.plan_steps import dearest, unseen
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import HALF, OFTEN_PER_S, works
from doctord.diagnose.explained import named
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Whoever waits for it feels a tenth of a second; and an index leads to a row in a hundredth of ten milliseconds.
FELT_MS: Final = 100.0
MS_A_ROW: Final = 10.0
# A quarter of a session on average: less and nobody waits for it three quarters of the time.
LEAST_SESSIONS: Final = 0.25
MOST_TOLD: Final = 2
# They say that a statement takes part, or that something is short for it, and not why it takes long.
SYMPTOMS: Final = ("statement_dominates", "cpu_saturated", "buffer_pool_small", "device_saturated")
# pgcrypto's, which repeat a hash so often that who guesses passwords has to wait: and so does the server.
STRETCHING: Final = regex(r"\b(?P<name>crypt|pgp_sym_(?:en|de)crypt(?:_bytea)?)\s*\(", re.IGNORECASE)
MEANT: Final = (
    "each hash says how often it is made: every step of a cost like 11 in $2a$11$ doubles the time on a CPU, and "
    "s2k-count of OpenPGP does likewise"
)
THE_COST: Final = (
    "First: look at the cost that the hashes were made with: select left(hash, 7), count(*) from ... group by 1; one "
    "that takes some 50 ms is enough for most. Those of a lower cost come as their owners log in. Better check "
    "passwords in the application's own servers: a database has few CPUs, and they are dear."
)
THE_PLAN: Final = NotMeasured(
    "why each call takes so long",
    "plans are not recorded, nor what functions and triggers do within a statement",
    "explain (analyze, buffers, settings) with its parameters, where it runs; auto_explain with "
    "log_nested_statements = on for functions and triggers",
)


@cause(explains=("statement_dominates",), last=True)
def slow_for_few_rows(case: Case) -> Iterator[Claim]:
    """A statement takes most of the time for one row, or few, and nothing that was measured says why.

    Looks like: half of the database time and more in one statement without any count or sum that is called again and
        again; a call works for a tenth of a second and more, and for ten milliseconds and more for each row that it
        returns or changes; no other finding above a note names it.
    Hurts because: its callers wait for work of which next to nothing comes, and the server has room for little else.
    Speaks for it: calls, time and rows of a call, its share; what its sessions do meanwhile; the blocks that it looks
        at; that it calls a function which is dear on purpose (crypt of pgcrypto).
    Speaks against it: nothing that is counted: the work may be needed (a search that has to look at everything). What
        makes it, its plan alone tells.
    Remedy: Cannot tell why: collect the plan. explain (analyze, buffers, settings) with real parameters, and look for
        the node with most of the time: rows removed by a filter, a sort of everything for the first few (ORDER BY of
        an expression or random()), loops many times those estimated, a function that is called for each row (volatile,
        or not inlined), JIT.
        PostgreSQL: auto_explain with auto_explain.log_nested_statements = on for what triggers and functions do;
        track_functions = 'pl' for their time.
    Verify: Time per call falls at the same rows.
    Source: PostgreSQL documentation, "Using EXPLAIN", auto_explain, pg_stat_statements and pgcrypto (iter_count);
        C. Millsap and J. Holt, Optimizing Oracle Performance, 2003.
    """
    told = named((name, one) for name, one in case.claims if one.graded != "note" and name not in SYMPTOMS)
    found = [one for one in case.statements if one.statement_id not in told.statements and _is_slow(case, one)]
    for one in found[:MOST_TOLD]:
        where = f"statement_id = '{one.statement_id}'"
        stretching = STRETCHING.search(one.text or "")
        name = stretching["name"].lower() if stretching else ""
        why = phrase("it calls {}(), which is dear on purpose", name) if name else "nothing says why"
        yield Claim(
            phrase("A statement takes {:share of database}, {:time} a call for {}, and {}: {}", one.share,
                   (one.elapsed_ms or 0.0) / 1000, _rows(one), why, shortened(one.text or "")),
            impact=one.share,
            confidence=0.75 if name else 0.6,
            severity="warning",
            for_=[
                Evidence("statement", where, phrase("{:share of database}", one.share), phrase("{:share}", HALF),
                         per_call(one), "at_least"),
                Evidence("statement", where, phrase("{:,.1f ms} for each row", _ms_a_row(one)),
                         phrase("{:.0f}", MS_A_ROW), _blocks(one), "at_least"),
                *_doing(case, one),
                *([Evidence("statement", where, phrase("{}()", name), "", MEANT)] if name else []),
                *dearest(case, one),
            ],
            first_steps=[THE_COST] if name else [],
            not_measured=unseen(case, one, THE_PLAN),
            database=one.db,
        )  # fmt: skip


def _is_slow(case: Case, one: Statement) -> bool:
    """Whether it is most of the time, often, long, by its own work, and of few rows."""
    text = one.text or ""
    if not one.db.startswith("postgresql") or one.rows_per_call is None or not ON_TABLES.search(text):
        return False
    is_much = one.share >= HALF and one.share * case.time.seconds_per_second >= LEAST_SESSIONS
    is_often = (one.calls_per_s or 0.0) >= OFTEN_PER_S
    if not (is_much and is_often) or OF_MANY.search(text):
        return False
    working_ms = (one.elapsed_ms or 0.0) * _without_queue(case)
    return working_ms >= max(FELT_MS, MS_A_ROW * one.rows_per_call) and works(case, one)


def _without_queue(case: Case) -> float:
    """The part (0 to 1) of a call's time on CPUs that it did not queue for one: known of all statements together."""
    cpu, queue = case.time.kind_share("cpu"), case.time.kind_share("run queue")
    return cpu / (cpu + queue) if cpu else 1.0


def _ms_a_row(one: Statement) -> float:
    return (one.elapsed_ms or 0.0) / max(one.rows_per_call or 0.0, 1.0)


def _rows(one: Statement) -> Words:
    rows = one.rows_per_call or 0.0
    return phrase("{:,.0f} rows", rows) if rows >= 2 else "one row or none"


def _blocks(one: Statement) -> Words:
    if one.blocks_per_call is None:
        return "an index leads to a row in a fraction of that"
    return phrase("each call looks at {:,.0f} blocks", one.blocks_per_call)


def _doing(case: Case, one: Statement) -> list[Evidence]:
    """What its sessions do meanwhile; empty where none was sampled in it."""
    own = case.samples_of(one)
    total = float(own["interval_s"].sum())
    if not total:
        return []
    parts = own.group_by("event", maintain_order=True).agg(pl.col("interval_s").sum()).sort(
        "interval_s", "event", descending=[True, False], maintain_order=True
    )  # fmt: skip
    told = listed(*(phrase("{:share} {}", spent / total, event) for event, spent in parts.head(3).iter_rows()))
    return [Evidence("session", f"statement_id = '{one.statement_id}'", told, "", "what its sessions do meanwhile")]
