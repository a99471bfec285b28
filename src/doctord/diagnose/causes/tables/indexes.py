"""Statements: work that a better plan would not do."""

import re
from collections.abc import Iterator

import polars as pl

from doctord.analyse.sql.logged_statements import Logged, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.tables.scans_by_status import scanned_by_status
from doctord.diagnose.common.hindered import hindered
from doctord.diagnose.common.plan_steps import reading_whole
from doctord.diagnose.common.scans import (
    FOR_WANT_OF_AN_INDEX,
    SELECTIVE,
    Scan,
    evidence,
    left_invalid,
    per_call,
    scans,
    wants_much,
)
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.common.whole_reads import LARGE_SCAN_ROWS
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# Of all the time in a log: less would not be felt if it were gone.
LARGE_PART = 0.1
# Once is a report or a backup.
AGAIN_AND_AGAIN = 10
# Of its calls: now and then the optimiser takes another way.
MOSTLY = 0.9
EXAMINED = "events_statements_summary_by_digest.sum_rows_examined"
WITHOUT_INDEX = "events_statements_summary_by_digest.sum_no_index_used"
WHERE = regex(r"\bwhere\b", re.IGNORECASE)
NO_PLAN = NotMeasured(
    "whether the table has an index that could serve",
    "plans and indexes of this server are not recorded",
    "explain with the statement's values: key is null, type is ALL; show index from the table",
)
NO_INDEXES = NotMeasured(
    "whether the table has an index that could serve",
    "which indexes it has was not recorded",
    "pg_indexes; doctord record or checkup of the running server",
)


@cause(explains=FOR_WANT_OF_AN_INDEX)
def missing_index(case: Case) -> Iterator[Claim]:
    """A statement reads a whole large table again and again for a few rows.

    Looks like: one statement takes much of the database time, or most of its own time is a scan; `seq_tup_read` of one
        large table grows by millions. Its text may name a view or a function in place of the table. In a
        log of slow statements of MySQL, or in its digests, one that examines 10,000 rows and more each time, and
        returns one in a hundred; without digests as many rows for each scan by Handler_read_rnd_next and Select_scan.
    Hurts because: every execution reads all rows, on CPU when they are cached and from disk when they are not.
    Speaks for it: rows per scan against rows returned per call; the statement's share of database time; that none of
        the table's valid indexes begins with a column that the statement compares.
    Speaks against it: a statement that returns much of what it reads, or has no condition: no index would serve it; an
        index that could serve: then the plan is the question (`index_not_used`), or that it is not valid
        (`indexes_invalid`).
    Remedy: Look at its plan, and create an index on the columns of its condition.
        PostgreSQL: explain (analyze, buffers); create index concurrently.
        MySQL: explain analyze; let the columns of its order follow in the index. An index that is there serves no
        comparison of a text column with a number, nor of columns whose character sets or collations differ.
    Verify: The plan uses the index; seq_tup_read of the table stands still; the statement's time per call falls.
    Source: PostgreSQL documentation, pg_stat_all_tables and "Examining Index Usage"; MySQL Reference Manual,
        "The Slow Query Log", Rows_examined; "Type Conversion in Expression Evaluation".
    """
    yield from _examined_for_few(case)
    yield from _examined_live(case)
    yield from scanned_by_status(case)
    unserved = (scan for scan in scans(case) if scan.served.service != "some" and left_invalid(case, scan) is None)
    worst = next((scan for scan in unserved if not any(one.is_certain for one in hindered(case, scan))), None)
    if worst is None:
        return
    yield Claim(
        phrase("{:share of database} reads all of table {} for one statement{}", worst.statement.share, worst.table,
               phrase(", by {}", worst.way) if worst.way else ""),
        impact=worst.statement.share,
        confidence=_confidence(worst),
        severity=severity(case, worst.statement.share, slowed=worst.slows),
        for_=[*evidence(worst), *_useless(worst), *reading_whole(case, worst.statement, worst.table)],
        against=[*wants_much(worst), *_perhaps_served(worst), *(one.evidence for one in hindered(case, worst))],
        not_measured=[] if worst.known is not None else [NO_INDEXES],
        database=worst.figure.db,
    )  # fmt: skip


def _confidence(scan: Scan) -> float:
    """Where no index can be told from the plan of one that is there, either may be."""
    if not scan.is_selective or (scan.known and scan.served.service == "unknown"):
        return 0.6
    return 0.9 if scan.known is not None else 0.75


def _useless(scan: Scan) -> list[Evidence]:
    """What indexes the table has, where none of them could serve."""
    if scan.known is None or scan.served.service != "none":
        return []
    where = f"component = 'pg_index' and starts_with(name, '{scan.entity} ')"
    told = [
        phrase("{} ({}){}", one.name, ", ".join(one.columns), "" if one.is_valid else ", invalid") for one in scan.known
    ]
    figure = phrase("{:count index/indexes}{}", len(told), phrase(": {}", listed(*told)) if told else "")
    return [Evidence("setting", where, figure, "", "no valid one begins with a column of its conditions")]


def _perhaps_served(scan: Scan) -> list[Evidence]:
    """That an index may serve all the same, of which the text of the statement does not tell."""
    if not scan.known or scan.served.service != "unknown":
        return []
    where = f"component = 'pg_index' and starts_with(name, '{scan.entity} ')"
    told = phrase("{:count index/indexes}: {}", len(scan.known), ", ".join(one.name for one in scan.known))
    return [Evidence("setting", where, told, "", "one may serve, and the plan not use it: look at the plan first")]


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


def _examined_live(case: Case) -> Iterator[Claim]:
    """The digest of MySQL's that takes most time, and examines many rows in each call without an index, for few."""
    examined = {(one.db, one.entity): one.mean for one in case.figures(EXAMINED)}
    unserved = {(one.db, one.entity): one.mean for one in case.figures(WITHOUT_INDEX)}
    for one in case.statements:
        calls, key = one.calls_per_s or 0.0, (one.db, one.statement_id)
        if not calls or key not in examined or unserved.get(key, 0.0) < MOSTLY * calls:
            continue
        each, returned = examined[key] / calls, one.rows_per_call or 0.0
        is_for_few = each >= LARGE_SCAN_ROWS and returned <= SELECTIVE * each
        if not is_for_few or one.share < LARGE_PART or WHERE.search(one.text or "") is None:
            continue
        yield Claim(
            phrase("A statement examines {:,.0f} rows in each call, without an index, and returns {:,.3g}: {}", each,
                   returned, shortened(one.text or "")),
            impact=one.share,
            confidence=0.8,
            severity=severity(case, one.share, slowed=is_slowed(one, 1.0)),
            for_=[
                Evidence("statistic", f"name = '{EXAMINED}' and entity = '{one.statement_id}'",
                         phrase("{:,.0f} rows examined in each call", each), phrase("{:,}", LARGE_SCAN_ROWS),
                         phrase("{:share} of its calls used no index", unserved[key] / calls), "at_least"),
                Evidence("statement", f"statement_id = '{one.statement_id}'",
                         phrase("{:share of database}", one.share), phrase("{:share}", LARGE_PART), per_call(one),
                         "at_least"),
            ],
            not_measured=[NO_PLAN],
            database=one.db,
        )  # fmt: skip
        return


def _rows_returned(case: Case, one: Logged) -> float | None:
    """Rows that a statement of a log returns or changes each time; null where that is not told."""
    own = case.dataset.frame("statement").filter(
        (pl.col("db") == one.db) & (pl.col("statement_id") == one.statement_id) & pl.col("rows_per_s").is_not_null()
    )
    return None if own.is_empty() else float((own["rows_per_s"] * own["interval_s"]).sum()) / one.count
