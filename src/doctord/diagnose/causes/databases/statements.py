"""Statements: work that a better plan would not do."""

import re
from collections.abc import Iterator

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.analyse.logged_statements import Logged, logged
from doctord.analyse.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# A scan of fewer rows is quick whatever the plan.
LARGE_SCAN_ROWS = 10_000
# An index pays where a small part of the rows is wanted.
SELECTIVE = 0.01
# Of all the time in a log: less would not be felt if it were gone.
LARGE_PART = 0.1
# Once is a report or a backup.
AGAIN_AND_AGAIN = 10


@cause(explains=("buffer_pool_small", "cpu_saturated", "device_saturated", "statement_dominates"))
def missing_index(case: Case) -> Iterator[Claim]:
    """A statement reads a whole large table again and again for a few rows.

    Looks like: one statement takes much of the database time; `seq_tup_read` of one large table grows by millions. In a
        log of slow statements of MySQL, one that examines 10,000 rows and more each time, and returns one in a hundred.
    Hurts because: every execution reads all rows, on CPU when they are cached and from disk when they are not.
    Speaks for it: rows per scan against rows returned per call; the statement's share of database time.
    Speaks against it: a statement that returns much of what it reads, or has no condition: no index would serve it.
    Remedy: Look at its plan, and create an index on the columns of its condition.
        PostgreSQL: explain (analyze, buffers); create index concurrently.
        MySQL: explain analyze; let the columns of its order follow in the index.
    Verify: The plan uses the index; seq_tup_read of the table stands still; the statement's time per call falls.
    Source: PostgreSQL documentation, pg_stat_all_tables and "Examining Index Usage"; MySQL Reference Manual,
        "The Slow Query Log", Rows_examined.
    """
    yield from _examined_for_few(case)
    scanned = _large_scans(case)
    worst = next((pair for scan in scanned for pair in _statements_on(case, scan)), None)
    if worst is None:
        return
    scan, statement = worst
    table = (scan.entity or "").partition(".")[2]
    rows_per_scan = _rows_per_scan(case, scan)
    rows = statement.rows_per_call
    yield Claim(
        phrase("{:share of database} reads all of table {} for one statement", statement.share, table),
        impact=statement.share,
        confidence=0.9 if rows is not None and rows <= SELECTIVE * rows_per_scan else 0.6,
        for_=[
            Evidence(
                "statistic",
                f"name = 'pg_stat_user_tables.seq_tup_read' and entity = '{scan.entity}'",
                phrase("{:,.0f} rows a scan, {:,.0f rows/s} read by sequential scans", rows_per_scan, scan.mean),
                phrase("{:,}", LARGE_SCAN_ROWS),
                phrase("table {}", table),
                "at_least",
            ),
            Evidence(
                "statement",
                f"statement_id = '{statement.statement_id}'",
                _per_call(statement),
                phrase("{:share} of the rows read", SELECTIVE),
                shortened(statement.text or ""),
            ),
        ],
        against=[
            Evidence(
                "statement",
                f"statement_id = '{statement.statement_id}'",
                phrase("{:,.0f} rows returned per call", rows),
                phrase("{:share} of {:,.0f}", SELECTIVE, rows_per_scan),
                "it wants much of what it reads",
            )
        ]
        if rows is not None and rows > SELECTIVE * rows_per_scan
        else [],
    )


def _examined_for_few(case: Case) -> Iterator[Claim]:
    """The statement of a log that takes most of its time and examines many rows for each that it returns."""
    told = logged(case.dataset)
    whole_s = sum(one.total_s for one in told)
    examined = {(rows.db, rows.entity): rows for rows in case.figures("slow_log.rows_examined")}
    for one in told:
        rows = examined.get((one.db, one.statement_id))
        if rows is None or one.total_s < LARGE_PART * whole_s or one.count < AGAIN_AND_AGAIN:
            continue
        each = rows.mean * rows.seconds / one.count
        returned = _rows_returned(case, one)
        if returned is None or each < LARGE_SCAN_ROWS or returned > SELECTIVE * each:
            continue
        yield Claim(
            phrase("A statement examines {:,.0f} rows for each one that it returns: {}", each / max(returned, 1.0),
                   shortened(one.text or f"statement {one.statement_id}")),
            impact=NOT_MEASURED,
            confidence=0.8,
            for_=[
                Evidence("statistic", f"name = 'slow_log.rows_examined' and entity = '{one.statement_id}'",
                         phrase("{:,.0f} rows examined each time", each), phrase("{:,}", LARGE_SCAN_ROWS),
                         phrase("{:,.3g} of them returned", returned), "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:share} of the time of all statements in the log", one.total_s / whole_s),
                         phrase("{:share}", LARGE_PART),
                         phrase("{:,.0f} times, {:,.0f ms} on average", one.count, one.mean_ms), "at_least"),
            ],
        )  # fmt: skip
        return


def _rows_returned(case: Case, one: Logged) -> float | None:
    """Rows that a statement of a log returns or changes each time; null where that is not told."""
    own = case.dataset.frame("statement").filter(
        (pl.col("db") == one.db) & (pl.col("statement_id") == one.statement_id) & pl.col("rows_per_s").is_not_null()
    )
    return None if own.is_empty() else float((own["rows_per_s"] * own["interval_s"]).sum()) / one.count


def _large_scans(case: Case) -> list[Statistic]:
    return [
        figure
        for figure in case.figures("pg_stat_user_tables.seq_tup_read")
        if _rows_per_scan(case, figure) >= LARGE_SCAN_ROWS
    ]


def _rows_per_scan(case: Case, rows: Statistic) -> float:
    scans = [
        figure.mean
        for figure in case.figures("pg_stat_user_tables.seq_scan")
        if (figure.db, figure.entity) == (rows.db, rows.entity)
    ]
    return rows.mean / scans[0] if scans and scans[0] else 0.0


def _statements_on(case: Case, scan: Statistic) -> Iterator[tuple[Statistic, Statement]]:
    """Statements with a condition, on the scanned table, that take a share of the time worth saying."""
    table = (scan.entity or "").rpartition(".")[2]
    named = re.compile(rf"\b{re.escape(table)}\b", re.IGNORECASE)
    for statement in case.statements:
        text = statement.text or ""
        conditional = re.search(r"\b(where|on|using)\b", text, re.IGNORECASE)
        if statement.db == scan.db and conditional and named.search(text) and case.worth_saying(statement.share):
            yield scan, statement


def _per_call(statement: Statement) -> Words:
    parts = [
        "" if statement.calls_per_s is None else phrase("{:.1f calls/s}", statement.calls_per_s),
        "" if statement.elapsed_ms is None else phrase("{:.1f ms} a call", statement.elapsed_ms),
        "" if statement.rows_per_call is None else phrase("{:,.1f} rows a call", statement.rows_per_call),
    ]
    return listed(*parts) if any(parts) else phrase("{:share of database}", statement.share)
