"""Index scans that read thousands of entries for the few rows that are wanted."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.conditions import Condition, condition, tables_of
from doctord.analyse.sql.indexes import Index, indexes
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.statements.work_per_row import OF_MANY
from doctord.diagnose.common.plan_steps import dearest, unseen
from doctord.diagnose.common.scans import CHANGED_SHARE, FOR_WANT_OF_AN_INDEX, SELECTIVE, per_call
from doctord.diagnose.common.slowed import is_slowed, severity, works
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, at_most
from doctord.diagnose.phrase import Words, listed, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

SCANS, READ = "pg_stat_user_indexes.idx_scan", "pg_stat_user_indexes.idx_tup_read"
CHANGED, LIVE = "pg_stat_user_tables.n_mod_since_analyze", "pg_stat_user_tables.n_live_tup"
ANALYZED, AUTOVACUUM = "pg_stat_user_tables.last_analyze_age_s", "pg_class.autovacuum_enabled"
COUNTED: Final = "pg_class.reltuples"
# They are read and thrown away in a millisecond: fewer are felt by nobody.
MANY_ENTRIES: Final = 1000.0
# Scans and calls of one statement are counted at different moments.
ALIKE: Final = (0.5, 2.0)
MOST_TOLD: Final = 2
# What is to be skipped is read for good: by OFFSET, and rows that others have locked.
SKIPPING: Final = regex(r"\boffset\b|\bskip\s+locked\b", re.IGNORECASE)
DEAD: Final = "pg_stat_user_tables.n_dead_tup"
THE_PLAN = NotMeasured(
    "which rows the scan throws away",
    "plans are not recorded",
    "explain (analyze, buffers) with its parameters: rows estimated against rows found, and Rows Removed by Filter",
)


class Reading(NamedTuple):
    """A statement, the index that it goes by, and the entries that a scan of it reads.

    `entity` is the table with its database, `others` the usable indexes that begin with another column which the
    statement compares for equality, and that nobody scans.
    """

    statement: Statement
    entity: str
    by: Index
    entries: float
    others: tuple[Index, ...]

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]


@cause(explains=FOR_WANT_OF_AN_INDEX)
def index_reads_many_entries(case: Case) -> Iterator[Claim]:
    """A statement goes by an index that leads it to thousands of rows, of which it wants a few.

    Looks like: a statement without any count or sum that is called again and again, takes 5 ms and more, and goes by an
        index of which each scan reads a thousand entries and more (idx_tup_read by idx_scan), a hundred times the rows
        that come of it; no table is read whole.
    Hurts because: each entry is a row that is looked up in the table and thrown away; in memory it is CPU time that no
        wait shows, and a table that grows makes it longer by the day.
    Speaks for it: entries a scan beside rows a call; rows changed since the last ANALYZE, by which the planner takes
        the number of rows of a value that it has not heard of for one; an index on another column of the condition that
        nobody scans; autovacuum switched off for the table.
    Speaks against it: statistics that are fresh: then columns depend on one another, or no index holds more of the
        condition.
    Remedy: PostgreSQL: explain (analyze, buffers), and compare rows estimated with rows found at the index scan.
        ANALYZE the table after each load, in the job that loads it; let autovacuum do it
        (autovacuum_analyze_scale_factor lower for large tables that grow at one end). Where the statistics are fresh:
        an index on more columns of the condition, those for equality first; CREATE STATISTICS (dependencies, mcv) for
        columns that depend on one another.
    Verify: idx_tup_read by idx_scan of the index falls to the rows that are wanted; the time of a call falls.
    Source: PostgreSQL documentation, "Updating Planner Statistics", "Statistics Used by the Planner", "Multicolumn
        Indexes", "Extended Statistics", pg_stat_all_indexes; M. Winand, SQL Performance Explained, 2012, ch. 2.
    """
    for one in [*_reading(case)][:MOST_TOLD]:
        share = one.statement.share
        for_, against = weigh(_signs(case, one))
        without = _without_any(case, one)
        is_stale = bool(for_ or without)
        rows = one.statement.rows_per_call or 0.0
        wanted = phrase("{:,.0f} rows", rows) if rows >= 2 else "one row or none"
        yield Claim(
            phrase("The statistics of {} are {}: by index {} a statement reads {:,.0f} rows for {}",
                   one.table, "not there" if without else "out of date", one.by.name, one.entries, wanted)
            if is_stale
            else phrase("By index {} of {} a statement reads {:,.0f} rows for {}: {}", one.by.name, one.table,
                        one.entries, wanted, shortened(one.statement.text or "")),
            impact=at_most(share),
            confidence=0.85 if is_stale and one.others else 0.75 if is_stale or one.others else 0.6,
            severity=severity(case, share, slowed=True),
            for_=[*_read(one), *for_, *without, *_unscanned(one), *(_left_alone(case, one) if is_stale else []),
                  *dearest(case, one.statement)],
            against=against,
            not_measured=unseen(case, one.statement, THE_PLAN),
            first_steps=[phrase("First: ANALYZE {}, which takes seconds, and look at its plan again.", one.table)]
            if is_stale
            else [],
            database=one.statement.db,
        )  # fmt: skip


def _reading(case: Case) -> Iterator[Reading]:
    scans, read = ({(one.db, one.entity): one.mean for one in case.figures(name)} for name in (SCANS, READ))
    many = {index: rate / scans[index] for index, rate in read.items() if scans.get(index)}
    many = {index: each for index, each in many.items() if each >= MANY_ENTRIES}
    for one in case.statements if many else ():
        text = one.text or ""
        if not _is_asked(case, one) or one.db not in {db for db, _ in many}:
            continue
        for entity in _tables(case, one):
            schema, _, name = entity.rpartition(".")
            on = condition(text, name)
            known = indexes(case.dataset, one.db, entity) or ()
            unscanned = [each for each in known if not scans.get((one.db, f"{schema}.{each.name}"))]
            for index in [each for each in known if on and _leads(each, on)]:
                key = (one.db, f"{schema}.{index.name}")
                entries = many.get(key, 0.0)
                if (one.rows_per_call or 0.0) <= SELECTIVE * entries and _is_its(one, scans.get(key, 0.0)):
                    others = tuple(each for each in unscanned if on and _is_another_way(each, index, on))
                    yield Reading(one, entity, index, entries, others)


def _is_asked(case: Case, one: Statement) -> bool:
    """Whether it could be read with less, and is slow by itself."""
    text = one.text or ""
    is_of_few = one.rows_per_call is not None and not (OF_MANY.search(text) or SKIPPING.search(text))
    return one.db.startswith("postgresql") and is_of_few and is_slowed(one, 1.0) and works(case, one)


def _tables(case: Case, one: Statement) -> list[str]:
    """The table that it names, with database and schema; none where it joins, for of which it waits is not told."""
    names = tables_of(one.text or "")
    told = (figure.entity or "" for figure in case.figures(LIVE) if figure.db == one.db)
    return [
        entity for entity in dict.fromkeys(told) if len(names) == 1 and entity.rpartition(".")[2].lower() == names[0]
    ]


def _leads(index: Index, on: Condition) -> bool:
    return index.is_valid and index.method == "btree" and bool(index.columns) and index.columns[0] in on.columns


def _is_its(one: Statement, scans_per_s: float) -> bool:
    """Whether the scans of an index are as many as the calls of a statement."""
    least, most = ALIKE
    return least <= scans_per_s / (one.calls_per_s or 1.0) <= most


def _is_another_way(other: Index, by: Index, on: Condition) -> bool:
    """Whether an index begins with another column that the statement compares for equality."""
    first = other.columns[0] if other.columns else ""
    return other.is_valid and not other.is_partial and first in on.equal and first != by.columns[0]


def _of(case: Case, name: str, one: Reading) -> float | None:
    """The last reading of a figure of the table."""
    figure = case.figure(name, one.statement.db, one.entity)
    return figure and figure.last


def _read(one: Reading) -> list[Evidence]:
    name = f"{one.entity.rpartition('.')[0]}.{one.by.name}"
    return [
        Evidence("statistic", f"name = '{READ}' and entity = '{name}'",
                 phrase("{:,.0f} entries a scan of {} ({})", one.entries, one.by.name, ", ".join(one.by.columns)),
                 phrase("{:,.0f}", MANY_ENTRIES), "each is a row that is looked up in the table", "at_least"),
        Evidence("statement", f"statement_id = '{one.statement.statement_id}'", per_call(one.statement),
                 phrase("{:share} of the entries", SELECTIVE), shortened(one.statement.text or "")),
    ]  # fmt: skip


def _signs(case: Case, one: Reading) -> list[Sign]:
    changed, live = _of(case, CHANGED, one), _of(case, LIVE, one)
    if (_of(case, DEAD, one) or 0.0) >= SELECTIVE * (live or 0.0):
        changed = None  # entries of dead rows are read as well: statistics need not be why
    age_s = _of(case, ANALYZED, one)
    when: Words = "no ANALYZE is on record" if age_s is None else phrase("the last ANALYZE was {:duration} ago", age_s)
    return [
        Sign("statistic", f"name = '{CHANGED}' and entity = '{one.entity}'",
             None if changed is None or live is None else changed / max(live, 1.0), CHANGED_SHARE,
             "{:share} as many rows changed since the last ANALYZE as the table has", when,
             "statistics are fresh: the columns depend on one another, or no index holds more of the condition")
    ]  # fmt: skip


def _without_any(case: Case, one: Reading) -> list[Evidence]:
    """That nobody counted the table: neither ANALYZE nor VACUUM since the server's figures began, nor the planner."""
    live, counted = _of(case, LIVE, one), _of(case, COUNTED, one)
    if live != 0 or counted is not None or _of(case, ANALYZED, one) is not None:
        return []
    if not any(figure.db == one.statement.db for figure in case.figures(COUNTED)):
        return []  # of no table is it told what the planner counts with
    return [
        Evidence("statistic", f"name = '{LIVE}' and entity = '{one.entity}'",
                 phrase("0 rows, as far as the server counted, and {:,.0f} by one scan", one.entries), "",
                 "no ANALYZE or VACUUM is on record, and pg_class.reltuples is unknown, as after pg_upgrade, which "
                 "leaves the planner's statistics behind: all tables lack them then (ANALYZE each database)")
    ]  # fmt: skip


def _unscanned(one: Reading) -> list[Evidence]:
    """The indexes by which it could have gone as well."""
    return [
        Evidence("statistic", f"name = '{SCANS}' and entity = '{one.entity.rpartition('.')[0]}.{other.name}'",
                 phrase("index {} ({}) is not scanned", other.name, listed(*other.columns)), "",
                 phrase("the statement compares {} too", other.columns[0]))
        for other in one.others
    ]  # fmt: skip


def _left_alone(case: Case, one: Reading) -> list[Evidence]:
    if _of(case, AUTOVACUUM, one) != 0:
        return []
    return [Evidence("statistic", f"name = '{AUTOVACUUM}' and entity = '{one.entity}'",
                     "autovacuum is switched off for it", "", "nobody analyses it but who is told to")]  # fmt: skip
