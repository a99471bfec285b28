"""Writes: what indexes cost that no query reads."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.sql.dependencies import bare, writes
from doctord.analyse.sql.statements import Statement
from doctord.analyse.sql.unused_indexes import AGE, BLOCKS, SCANS, TABLE_SCANS, Unused, unused_indexes
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.scans import per_call
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, Severity, measured
from doctord.diagnose.phrase import listed, phrase
from doctord.diagnose.words import shortened

# Of what the writes look at: a smaller part is not felt if it is gone.
LEAST_PART: Final = 0.25
# Blocks of indexes and of statements are not read at the same moments.
MOST_PART: Final = 1.25
MOST_NAMED: Final = 4
# What is done each night was seen once; in less time nobody can tell a report's index from one that is of no use.
LONG_S: Final = 86_400.0
# Half a session at it all the time: whoever loads a table does not pause between two rows.
A_LOAD: Final = 0.5
STANDBYS: Final = "pg_stat_replication.connected"
SINCE: Final = NotMeasured(
    "since when their scans are counted",
    "when the statistics were reset is not told",
    "stats_reset of pg_stat_database and pg_stat_archiver: a crash resets them too",
)


class Cost(NamedTuple):
    """What unused indexes cost: their `part` (0 to 1) of what writes look at, and their share of database time.

    `slowed`: callers feel it; `is_loaded`: the table is written to without a pause, and nobody reads it.
    """

    part: float
    share: float
    slowed: bool
    is_loaded: bool


@cause(
    explains=(
        "buffer_pool_small",
        "cpu_saturated",
        "cpu_few_statements",
        "statement_dominates",
    )
)
def indexes_unused(case: Case) -> Iterator[Claim]:
    """Writes keep indexes up to date that no query reads.

    Looks like: inserts and updates that look at dozens of blocks for each row; the table has many indexes, and the
        count of scans of most of them stands at nought.
    Hurts because: each new row version goes into every index of its table, wherever its key belongs: blocks looked at,
        changed and logged for each of them; an index on a column that changes prevents HOT updates, so that all of
        them are written to. Cached blocks of theirs take the room of those that are read.
    Speaks for it: the indexes without a scan since the statistics were reset; their part of the blocks that the writes
        of the table look at; the writes' share of database time.
    Speaks against it: a table that nobody reads meanwhile while somebody writes to it without a pause: it may be being
        loaded, and its indexes be for later; statistics of less than a day: a crash empties them too. What keeps a
        constraint (unique, exclusion, replica identity), serves a foreign key or is being built is never counted; a
        partition's index has the scans of all. While a vacuum goes through them nothing is said.
    Remedy: Look on each standby as well: it counts its own scans; whether the index is new, and whether a report of the
        month's end needs it. An index of an expression also gives the planner its statistics. Then keep its definition
        (pg_get_indexdef), and DROP INDEX CONCURRENTLY, one at a time; of a partitioned table the parent's, which
        cannot be CONCURRENTLY: with a lock_timeout. Before a bulk load drop them and build them afterwards. Columns
        that change often are better left out of indexes (HOT updates).
    Verify: Blocks for each row written and the writes' time per call fall; no statement has become slower.
    Source: PostgreSQL documentation, "Examining Index Usage", "Heap-Only Tuples (HOT)", "Populating a Database: Remove
        Indexes", pg_stat_all_indexes, DROP INDEX; D. Shasha, P. Bonnet, "Database Tuning", 2003, ch. 3.
    """
    writing: dict[tuple[str | None, str], list[Statement]] = {}
    for unused in unused_indexes(case.dataset):
        writing = writing or _writing(case)
        writers = writing.get((unused.db, bare(unused.table)), [])
        looked_at = sum(one.gets_per_s or 0.0 for one in writers)
        if not looked_at or unused.blocks_per_s > MOST_PART * looked_at:
            continue  # somebody else goes through them as well, such as a vacuum: what is the writes' is not known
        part = min(unused.blocks_per_s / looked_at, 1.0)
        share = part * sum(one.share for one in writers)
        slowed = any(is_slowed(one, part) for one in writers)
        if part >= LEAST_PART and (slowed or case.worth_saying(share)):
            is_loaded = not unused.is_read and _busy(writers) >= A_LOAD
            yield _claim(case, unused, writers[0], Cost(part, share, slowed, is_loaded))


def _busy(writers: list[Statement]) -> float:
    """How many sessions are at it on average: of clients who come and go, a fraction of one."""
    return sum((one.elapsed_ms or 0.0) * (one.calls_per_s or 0.0) / 1000 for one in writers)


def _writing(case: Case) -> dict[tuple[str | None, str], list[Statement]]:
    """The statements that write to a table, and of which the blocks were counted, by server and table."""
    found: dict[tuple[str | None, str], list[Statement]] = {}
    for one in (one for one in case.statements if one.gets_per_s):
        for table in dict.fromkeys(write.table for write in writes(one.text or "")):
            found.setdefault((one.db, table), []).append(one)
    return found


def _claim(case: Case, unused: Unused, writer: Statement, cost: Cost) -> Claim:
    database, _, table = unused.table.partition(".")
    names = ", ".join(f"'{database}.{table.rpartition('.')[0]}.{name}'" for name in unused.names)
    told = [*unused.names[:MOST_NAMED], *(["..."] if len(unused.names) > MOST_NAMED else [])]
    return Claim(
        phrase("{:share of database} keeps {:count index/indexes} of {} up to date that nothing reads",
               cost.share, len(unused.names), table),
        impact=measured(cost.share),
        confidence=_confidence(case, unused, cost),
        severity=_severity(case, unused, cost),
        for_=[
            Evidence("statistic", f"name = '{SCANS}' and entity in ({names})",
                     phrase("not one scan since the statistics were reset: {}", listed(*told)), "",
                     "no constraint needs them"),
            Evidence("statistic", f"name in {BLOCKS} and entity in ({names})",
                     phrase("{:share} of the blocks that writes of {} look at are theirs", cost.part, table),
                     phrase("{:share}", LEAST_PART), phrase("{:,.0f} blocks/s", unused.blocks_per_s), "at_least"),
            Evidence("statement", f"statement_id = '{writer.statement_id}'", per_call(writer), "",
                     shortened(writer.text or "")),
        ],
        against=[*_young(unused), *(_unread(unused) if cost.is_loaded else [])],
        not_measured=[*_standbys(case, unused), *([SINCE] if unused.counted_s is None else [])],
        database=unused.db,
    )  # fmt: skip


def _is_young(unused: Unused) -> bool:
    return unused.counted_s is not None and unused.counted_s < LONG_S


def _confidence(case: Case, unused: Unused, cost: Cost) -> float:
    """Sure where scans were counted for long, here and nowhere else."""
    if _is_young(unused) or cost.is_loaded:
        return 0.6
    return 0.75 if unused.counted_s is None or _standbys(case, unused) else 0.85


def _severity(case: Case, unused: Unused, cost: Cost) -> Severity | None:
    """What it costs is measured; that nobody needs it, a short time does not tell: a note, unless writers are slow."""
    is_untold = not unused.is_read and unused.counted_s is None
    if cost.is_loaded or is_untold or (_is_young(unused) and not cost.slowed):
        return "note"
    return "warning" if _is_young(unused) else severity(case, cost.share, slowed=cost.slowed)


def _young(unused: Unused) -> list[Evidence]:
    if unused.counted_s is None or unused.counted_s >= LONG_S:
        return []
    database = unused.table.partition(".")[0]
    return [Evidence("statistic", f"name = '{AGE}' and entity = '{database}'",
                     phrase("scans have been counted for {:duration} only", unused.counted_s),
                     phrase("{:duration}", LONG_S), "a report of the night may need them", "at_least")]  # fmt: skip


def _unread(unused: Unused) -> list[Evidence]:
    where = f"name in {TABLE_SCANS} and entity = '{unused.table}'"
    why = "it may be being loaded, its indexes be for later"
    return [Evidence("statistic", where, "nobody reads the table meanwhile", "", why)]


def _standbys(case: Case, unused: Unused) -> list[NotMeasured]:
    """That standbys are there, whose queries may use the indexes."""
    count = max((one.largest for one in case.figures(STANDBYS) if one.db == unused.db), default=0.0)
    if not count:
        return []
    look = "select indexrelname, idx_scan from pg_stat_user_indexes, on each of them"
    return [NotMeasured(phrase("whether queries on its {:count standby/standbys} use them", round(count)),
                        "each server counts its own scans", look)]  # fmt: skip
