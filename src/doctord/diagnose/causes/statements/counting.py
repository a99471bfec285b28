"""Statements that count all rows of a table, again and again."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.slow_for_few_rows import FELT_MS, LEAST_SESSIONS
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import HALF, OFTEN_PER_S, works
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# One sum over one table without any condition.
OF_ALL: Final = regex(
    r'^\s*select\s+(count|sum|avg)\s*\([^()]*\)(\s+as\s+[\w"`]+)?\s+from\s+(?P<table>[\w."`]+)(\s+(as\s+)?\w+)?\s*;?\s*$',
    re.IGNORECASE,
)
MOST_TOLD: Final = 2


@cause(explains=("statement_dominates",))
def whole_table_counted(case: Case) -> Iterator[Claim]:
    """All rows of a table are counted, or added up, at each call of a statement that runs all the time.

    Looks like: select count(*) from a table, without a condition, takes half of the database time and more; it is
        called again and again, and takes a tenth of a second and more each.
    Hurts because: MVCC servers keep no count of rows: each call reads the whole table or an index of it, so that its
        time grows with the table.
    Speaks for it: its share, calls and time each; the blocks that each looks at.
    Speaks against it: a report that is wanted: nothing that is counted tells who needs the exact number.
    Remedy: Ask who needs an exact count of everything: a page view seldom does. An estimate (reltuples of pg_class,
        TABLE_ROWS of information_schema.TABLES) costs nothing; a count that is kept (a trigger's, a materialized view,
        a cache of a minute) costs little; "more than 100" is answered by select count(*) from (select from t limit 101)
        as some.
        PostgreSQL: an index-only scan of the smallest index counts faster where VACUUM keeps the visibility map.
    Verify: Its calls or its time each fall.
    Source: PostgreSQL documentation, "Aggregate Functions" (count needs effort proportional to the size of the table),
        "Index-Only Scans and Covering Indexes", pg_class.reltuples; MySQL Reference Manual, "Aggregate Function
        Descriptions" (InnoDB does not keep an internal count of rows).
    """
    for one in [one for one in case.statements if _is_felt(case, one)][:MOST_TOLD]:
        table = OF_ALL.match(one.text or "")
        yield Claim(
            phrase("All rows of {} are counted {:.2g times/s}, for {:time} each: {:share of database}",
                   table["table"] if table else "a table", one.calls_per_s, (one.elapsed_ms or 0.0) / 1000, one.share),
            impact=one.share,
            confidence=0.85,
            severity="warning",
            for_=[
                Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:share of database}", one.share),
                         phrase("{:share}", HALF), phrase("{}: {}", per_call(one), shortened(one.text or "")),
                         "at_least"),
            ],
            database=one.db,
        )  # fmt: skip


def _is_felt(case: Case, one: Statement) -> bool:
    """Whether it is most of the time, often, and long, by its own work."""
    if not OF_ALL.match(one.text or ""):
        return False
    is_much = one.share >= HALF and one.share * case.time.seconds_per_second >= LEAST_SESSIONS
    is_often = (one.calls_per_s or 0.0) >= OFTEN_PER_S
    return is_much and is_often and (one.elapsed_ms or 0.0) >= FELT_MS and works(case, one)
