"""Cursors that clients walk through a row at a time."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

FETCH: Final = regex(r"(?i)^\s*fetch\b")
DECLARE: Final = regex(r"(?i)^\s*declare\b")
# A round trip within a data centre takes half a millisecond (J. Dean, 2009): a hundred for one cursor are felt.
FELT: Final = 100.0
# Of one long cursor, which was declared before anybody looked: a client that waits for nothing else.
BUSY_PER_S: Final = 20.0
FEW_ROWS: Final = 2.0
CLIENT: Final = NotMeasured(
    "how long the client waits for all rows of a cursor",
    "the server calls the time between two fetches idle in transaction",
    "the application's own timings",
)


@cause(explains=("statement_dominates",))
def rows_fetched_one_by_one(case: Case) -> Iterator[Claim]:
    """A client fetches the rows of a cursor one at a time.

    Looks like: FETCH is executed a hundred times and more for each DECLARE, or dozens of times a second, and returns
        one row each time; the session is idle in its transaction in between, and no statement is slow.
    Hurts because: each row costs a round trip; an export of a million rows that takes seconds takes ten minutes, and
        holds its snapshot, which vacuum waits for, for as long.
    Speaks for it: executions of FETCH and rows of each; how many to a DECLARE.
    Speaks against it: few of them to a cursor: whoever pages by hand wants one at a time.
    Remedy: In the application: FETCH FORWARD 1000, the driver's fetch size or array size (itersize, setFetchSize,
        arraysize; fetch_size of postgres_fdw), or no cursor where the result fits into the client. In PL/pgSQL a FOR
        loop over the query fetches in batches by itself.
    Verify: Rows returned by each FETCH are hundreds, and the transactions are as much shorter.
    Source: PostgreSQL documentation, FETCH, DECLARE, "PL/pgSQL: Cursors"; J. Dean, "Numbers everyone should know",
        2009.
    """
    for db, own in groupby(sorted(case.statements, key=lambda one: one.db), key=lambda one: one.db):
        told = [one for one in own if one.calls_per_s and one.rows_per_call is not None]
        fetches = [one for one in told if FETCH.match(one.text or "") and _is_of_one_row(one)]
        declared_per_s = sum(one.calls_per_s or 0.0 for one in told if DECLARE.match(one.text or ""))
        for one in fetches:
            calls_per_s, rows = one.calls_per_s or 0.0, one.rows_per_call or 0.0
            if calls_per_s < (FELT * declared_per_s or BUSY_PER_S):
                continue
            each = phrase("{:,.0f} to each cursor", calls_per_s / declared_per_s) if declared_per_s else ""
            yield Claim(
                phrase("Rows of a cursor are fetched one at a time, {:,.0f} per s: {}", calls_per_s,
                       shortened(one.text or "")),
                impact=NOT_MEASURED,
                confidence=0.85 if declared_per_s else 0.6,
                severity="warning",
                for_=[
                    Evidence("statement", f"statement_id = '{one.statement_id}'",
                             phrase("{:,.0f} executions per s, {:.1f} rows each", calls_per_s, rows),
                             phrase("{:,.0f}", FELT * declared_per_s or BUSY_PER_S), each, "at_least")
                ],
                not_measured=[CLIENT],
                database=db,
            )  # fmt: skip


def _is_of_one_row(one: Statement) -> bool:
    """Whether it returns a row or two; one that finds nothing left returns none."""
    return 0 < (one.rows_per_call or 0.0) <= FEW_ROWS
