"""Statements that read large tables whole, and whether an index could have served them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.conditions import Condition, condition, tables_of
from doctord.analyse.sql.dependencies import INHERITS, PARENT
from doctord.analyse.sql.indexes import Index, Served, indexes, served
from doctord.analyse.sql.plan_trees import looked_up, plan_of
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.common.slowed import is_slowed
from doctord.diagnose.common.whole_reads import MOST, WholeRead, dependencies, scanned, whole_reads
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

# An index pays where a small part of the rows is wanted.
SELECTIVE: Final = 0.01
# autovacuum_analyze_scale_factor: from a tenth of the rows changed on the server itself thinks of new statistics.
CHANGED_SHARE: Final = 0.1
# A row that a scan reads takes 0.1 to 0.5 us of CPU, several times as much with many columns; joining takes the rest.
MOST_US_A_ROW: Final = 5.0
INVALID: Final = "pg_index.is_invalid"
# What a statement makes that reads a large table whole for a few rows.
FOR_WANT_OF_AN_INDEX: Final = (
    "buffer_pool_small",
    "cpu_saturated",
    "cpu_few_statements",
    "device_saturated",
    "few_rows_of_many_blocks",
    "statement_dominates",
)
VALUES: Final = regex(r"^\s*insert\b(?:(?!\bselect\b).)*$", re.IGNORECASE | re.DOTALL)
READS: Final = regex(
    r"^\s*\(?\s*(?:select|with|insert|update|delete|merge|table|prepare|execute|declare|explain)\b", re.I
)
AGGREGATES: Final = regex(r"\b(count|sum|avg|min|max)\s*\(", re.IGNORECASE)


class Scan(NamedTuple):
    """A statement with a condition on a table that is read whole again and again.

    `known` are the table's indexes (null where nobody looked), `served` whether one could serve the condition. `way` is
    the view or function by which the statement reads the table; null where its own text names it. `on` is the condition
    on the table; null where that cannot be told.
    """

    read: WholeRead
    statement: Statement
    known: tuple[Index, ...] | None
    served: Served
    way: str | None = None
    on: Condition | None = None

    @property
    def figure(self) -> Statistic:
        """Rows that are read of the table by sequential scans, a second."""
        return self.read.figure

    @property
    def rows(self) -> float:
        """Rows of a scan."""
        return self.read.rows

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

    @property
    def is_slow(self) -> bool:
        """Whether the scan is most of what its callers wait for, often and long enough to be felt."""
        return is_slowed(self.statement, _part(self))

    @property
    def slows(self) -> bool:
        """Whether its callers lose most of their time by the scan, however little of all time that is."""
        return self.is_selective is True and not self.is_aggregate and self.is_slow


def scans(case: Case) -> Iterator[Scan]:
    """Statements on tables that are read whole, the table with most rows read first."""
    for read in whole_reads(case):
        known = indexes(case.dataset, read.figure.db, read.entity)
        for scan in (*_named(case, read, known), *_by_ways(case, read, known)):
            is_served = scan.served.service == "some"
            if _is_little_of_a_join(case, scan):
                continue
            if case.worth_saying(scan.statement.share) or scan.slows or (is_served and scan.is_slow):
                yield scan


def _is_little_of_a_join(case: Case, scan: Scan) -> bool:
    """Whether it takes no part worth mention of a statement that joins: what is joined is found in memory.

    The server's time of a call holds what it queued for a CPU; of that only the sum over all statements is known.
    """
    one = scan.statement
    if one.elapsed_ms is None or not one.calls_per_s or one.read_blocks_per_s or len(tables_of(one.text or "")) < 2:
        return False
    cpu, queue = case.time.kind_share("cpu"), case.time.kind_share("run queue")
    working_ms = one.elapsed_ms * (cpu / (cpu + queue) if cpu else 1.0)
    return working_ms * one.calls_per_s * 1000 > MOST_US_A_ROW * scan.figure.mean


def left_invalid(case: Case, scan: Scan) -> str | None:
    """The index that could serve a scan if it were valid, as `pg_index.is_invalid` names it.

    Null where a valid one could, or none, or where somebody builds it just now.
    """
    unusable = [replace(one, is_valid=True) for one in scan.known or () if not one.is_valid]
    index = served(unusable, scan.on).index
    if scan.served.service == "some" or index is None:
        return None
    database, schema = scan.entity.split(".")[:2]
    name = f"{database}.{schema}.{index.name} on {scan.table}"
    told = (one for one in case.figures(INVALID) if one.db == scan.figure.db and one.last)
    return next((name for one in told if one.entity == name), None)


def asks_for(statement: Statement, table: str) -> bool:
    """Whether a statement has a condition, and its text names the table (`schema.name`)."""
    text, bare = statement.text or "", table.rpartition(".")[2]
    if not READS.match(text):
        return False
    if VALUES.match(text) or not re.search(r"\b(where|on|using)\b", text, re.IGNORECASE):
        return False
    return re.search(rf"\b{re.escape(bare)}\b", text, re.IGNORECASE) is not None


def evidence(scan: Scan) -> list[Evidence]:
    """The rows of a scan, and what its statement wants of them."""
    return [
        scanned(scan.read),
        Evidence(
            "statement",
            f"statement_id = '{scan.statement.statement_id}'",
            per_call(scan.statement),
            phrase("{:share} of the rows read", SELECTIVE),
            shortened(scan.statement.text or ""),
        ),
        *_way(scan),
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


def _named(case: Case, read: WholeRead, known: tuple[Index, ...] | None) -> Iterator[Scan]:
    """Statements with a condition whose text names the table."""
    for statement in case.statements:
        if statement.db == read.figure.db and asks_for(statement, read.table) and read.part_of(statement) != 0.0:
            on = condition(statement.text or "", read.table.rpartition(".")[2])
            yield Scan(read, statement, known, Served("unknown") if known is None else served(known, on), on=on)


def _by_ways(case: Case, read: WholeRead, known: tuple[Index, ...] | None) -> Iterator[Scan]:
    """Statements that name a view, a function or a parent that reads the table, and by their work may read it whole."""
    depends = dependencies(case, read)
    for statement in case.statements:
        part = read.part_of(statement)
        if statement.db != read.figure.db or read.is_named_by(statement) or (part is not None and part < MOST):
            continue
        if way := depends.way(statement.text or "", read.table):
            kind, _, name = way.partition(" ")
            if kind == PARENT and not _asks_a_parent(statement, name):
                continue
            # What is asked of a parent is asked of its children, by the same columns.
            if kind == PARENT:
                on = condition(statement.text or "", name.rpartition(".")[2])
                if on is not None and not (on.columns or on.others or on.calls):
                    continue
            else:
                on = _planned(case, statement, read.table)
            service = served(known, on) if on and known is not None else Served("unknown")
            yield Scan(read, statement, known, service, way, on)


def _planned(case: Case, statement: Statement, table: str) -> Condition | None:
    """What a statement that reads a table by a view compares of it, where its plan was read."""
    plan = plan_of(case.dataset, statement.db, statement.statement_id)
    found = (looked_up(node) for node in plan.reading(table)) if plan else ()
    return next((on for on in found if on and (on.columns or on.others or on.calls)), None)


def _asks_a_parent(statement: Statement, parent: str) -> bool:
    """Whether few rows are wanted of a parent: to add up a whole partition it has to be read whole."""
    return asks_for(statement, parent) and AGGREGATES.search(statement.text or "") is None


def _part(scan: Scan) -> float:
    part = scan.read.part_of(scan.statement)
    return 0.0 if part is None else part


def _way(scan: Scan) -> list[Evidence]:
    if scan.way is None:
        return []
    kind, _, name = scan.way.partition(" ")
    if kind == PARENT:
        where = f"component = '{INHERITS}' and name = '{scan.entity}'"
        return [Evidence("setting", where, phrase("a child of {}", name), "", "who reads the parent reads it too")]
    component = "pg_rewrite" if kind == "view" else "pg_proc"
    where = f"component = '{component}' and name = '{scan.read.database}.{name}'"
    return [Evidence("setting", where, phrase("by {}", scan.way), "", phrase("that is how it reads {}", scan.table))]
