"""Statements of MySQL and MariaDB that scan a table, by what the global status counts: where there are no digests."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.causes.statements.work_per_row import OF_MANY
from doctord.diagnose.common.scans import SELECTIVE
from doctord.diagnose.common.slowed import FELT_MS, OFTEN_PER_S, severity, works
from doctord.diagnose.common.whole_reads import LARGE_SCAN_ROWS
from doctord.diagnose.finding import Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

EXAMINED: Final = "events_statements_summary_by_digest.sum_rows_examined"
ROWS, SCANS = "global_status.handler_read_rnd_next", "global_status.select_scan"
# Rows that were wanted: no index saves those that are sent or sorted.
WANTED: Final = ("global_status.rows_sent", "global_status.sort_rows")
# Nearly all of the time in one statement, so that the scans, which the server counts as a whole, are its own.
MOST: Final = 0.6
READS_SOME: Final = regex(r"^\s*\(?\s*(select|update|delete)\b.*\bwhere\b", re.IGNORECASE | re.DOTALL)
PLAN: Final = NotMeasured(
    "which statement scans, and whether its table has an index that could serve",
    "without performance_schema rows are counted for the server as a whole",
    "explain with the statement's values: key is null, type is ALL; possible_keys names an index that it cannot use: "
    "compare the types and collations of both sides. performance_schema = ON tells it of each statement",
)


def scanned_by_status(case: Case) -> Iterator[Claim]:
    """The statement that takes most of a server's time, while the server reads tables whole again and again."""
    told = {one.db for one in case.figures(EXAMINED)}
    for db in case.dbs:
        rows, scans, *wanted = (case.total(name, db) or 0.0 for name in (ROWS, SCANS, *WANTED))
        if db in told or scans < OFTEN_PER_S or rows < LARGE_SCAN_ROWS * scans or max(wanted) > SELECTIVE * rows:
            continue
        one = next((it for it in case.statements if it.db == db), None)
        is_for_few = one and READS_SOME.search(one.text or "") and not OF_MANY.search(one.text or "")
        if one is None or not is_for_few or one.share < MOST or not works(case, one):
            continue
        yield _claim(case, one, rows, scans)


def _claim(case: Case, one: Statement, rows: float, scans: float) -> Claim:
    share = one.share * _working(case)
    each_ms = share * case.time.seconds_per_second / scans * 1000
    return Claim(
        phrase("Tables are read whole, {:,.0f} rows at a time, most likely for one statement: {}", rows / scans,
               shortened(one.text or "")),
        impact=share,
        confidence=0.75,
        severity=severity(case, share, slowed=each_ms >= FELT_MS),
        for_=[
            Evidence("statistic", f"name = '{ROWS}' and db = '{one.db}'",
                     phrase("{:,.0f} rows read by each of {:.1f scans/s}", rows / scans, scans),
                     phrase("{:,}", LARGE_SCAN_ROWS), "few of them are sent to anybody", "at_least"),
            Evidence("session", f"statement_id = '{one.statement_id}'", phrase("{:share of database}", one.share),
                     phrase("{:share}", MOST), phrase("at most {:,.0f ms} a scan", each_ms), "at_least"),
        ],
        not_measured=[PLAN],
        database=one.db,
    )  # fmt: skip


def _working(case: Case) -> float:
    """The part (0 to 1) of the time on CPUs that is none in their queue, which is no part of a scan."""
    cpu, queue = case.time.kind_share("cpu"), case.time.kind_share("run queue")
    return cpu / (cpu + queue) if cpu else 1.0
