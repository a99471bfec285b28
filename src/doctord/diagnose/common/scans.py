"""Statements that read large tables whole, and whether an index could have served them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.conditions import condition
from doctord.analyse.sql.indexes import Index, Served, indexes, served
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened

# A scan of fewer rows is quick whatever the plan.
LARGE_SCAN_ROWS: Final = 10_000
# An index pays where a small part of the rows is wanted.
SELECTIVE: Final = 0.01
# autovacuum_analyze_scale_factor: from a tenth of the rows changed on the server itself thinks of new statistics.
CHANGED_SHARE: Final = 0.1
AGGREGATES: Final = re.compile(r"\b(count|sum|avg|min|max)\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scan:
    """A statement with a condition on a table that is read whole again and again.

    `known` are the table's indexes (null where nobody looked), `served` whether one could serve the condition.
    """

    figure: Statistic
    rows: float
    statement: Statement
    known: tuple[Index, ...] | None
    served: Served

    @property
    def entity(self) -> str:
        """The table with its database and schema before it."""
        return self.figure.entity or ""

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]

    @property
    def is_selective(self) -> bool | None:
        """Whether few rows come of those that are read; null where that is not told."""
        wanted = self.statement.rows_per_call
        return None if wanted is None else wanted <= SELECTIVE * self.rows

    @property
    def is_aggregate(self) -> bool:
        """Whether its rows are counted or added up: then few come of many."""
        return AGGREGATES.search(self.statement.text or "") is not None


def scans(case: Case) -> Iterator[Scan]:
    """Statements on tables that are read whole, the table with most rows read first."""
    for figure in case.figures("pg_stat_user_tables.seq_tup_read"):
        rows = _rows_per_scan(case, figure)
        if rows < LARGE_SCAN_ROWS:
            continue
        known = indexes(case.dataset, figure.db, figure.entity or "")
        for statement in _statements_on(case, figure):
            on = condition(statement.text or "", (figure.entity or "").rpartition(".")[2])
            yield Scan(figure, rows, statement, known, Served("unknown") if known is None else served(known, on))


def evidence(scan: Scan) -> list[Evidence]:
    """The rows of a scan, and what its statement wants of them."""
    return [
        Evidence(
            "statistic",
            f"name = 'pg_stat_user_tables.seq_tup_read' and entity = '{scan.entity}'",
            phrase("{:,.0f} rows a scan, {:,.0f rows/s} read by sequential scans", scan.rows, scan.figure.mean),
            phrase("{:,}", LARGE_SCAN_ROWS),
            phrase("table {}", scan.table),
            "at_least",
        ),
        Evidence(
            "statement",
            f"statement_id = '{scan.statement.statement_id}'",
            per_call(scan.statement),
            phrase("{:share} of the rows read", SELECTIVE),
            shortened(scan.statement.text or ""),
        ),
    ]


def wants_much(scan: Scan) -> list[Evidence]:
    """Against any index: that the statement returns much of what it reads."""
    if scan.is_selective is not False:
        return []
    return [
        Evidence(
            "statement",
            f"statement_id = '{scan.statement.statement_id}'",
            phrase("{:,.0f} rows returned per call", scan.statement.rows_per_call),
            phrase("{:share} of {:,.0f}", SELECTIVE, scan.rows),
            "it wants much of what it reads",
        )
    ]


def per_call(statement: Statement) -> Words:
    """How often a statement is called, how long each call takes, and how many rows come of it."""
    parts = [
        "" if statement.calls_per_s is None else phrase("{:.1f calls/s}", statement.calls_per_s),
        "" if statement.elapsed_ms is None else phrase("{:.1f ms} a call", statement.elapsed_ms),
        "" if statement.rows_per_call is None else phrase("{:,.1f} rows a call", statement.rows_per_call),
    ]
    return listed(*parts) if any(parts) else phrase("{:share of database}", statement.share)


def _rows_per_scan(case: Case, rows: Statistic) -> float:
    found = [
        figure.mean
        for figure in case.figures("pg_stat_user_tables.seq_scan")
        if (figure.db, figure.entity) == (rows.db, rows.entity)
    ]
    return rows.mean / found[0] if found and found[0] else 0.0


def _statements_on(case: Case, scan: Statistic) -> Iterator[Statement]:
    """Statements with a condition, on the scanned table, that take a share of the time worth saying."""
    table = (scan.entity or "").rpartition(".")[2]
    named = re.compile(rf"\b{re.escape(table)}\b", re.IGNORECASE)
    for statement in case.statements:
        text = statement.text or ""
        conditional = re.search(r"\b(where|on|using)\b", text, re.IGNORECASE)
        if statement.db == scan.db and conditional and named.search(text) and case.worth_saying(statement.share):
            yield statement
