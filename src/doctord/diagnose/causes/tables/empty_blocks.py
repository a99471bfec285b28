"""Tables whose blocks are nearly empty, and whose scans look at all of them."""

from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.row_versions import HEAP as HEAP_LOOKS
from doctord.analyse.sql.empty_blocks import FAR_LARGER, HEAP, Room, far_larger
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.slowed import is_slowed, severity
from doctord.diagnose.common.whole_reads import MOST, SCANS, WholeRead
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, WARNING_SHARE, Claim, Evidence, Severity, measured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# Read by nobody, so much of a disk is still worth to have back.
LARGE_BYTES = 2**30
MOST_TOLD = 3


class Scanned(NamedTuple):
    """A table that is far larger than its rows, how often it is read whole, and the statements that do it.

    `blocks_per_s` are its blocks that are looked at; `looked_at` their part (0 to 1) of all that are; `share` the part
    of database time that goes into its empty blocks, null where no statement is known to read it.
    """

    room: Room
    scans_per_s: float
    blocks_per_s: float
    looked_at: float
    statements: tuple[Statement, ...]
    share: float | None


@cause(
    explains=(
        "buffer_pool_small",
        "cpu_few_statements",
        "few_rows_of_many_blocks",
        "index_not_used",
        "missing_index",
        "statement_dominates",
    )
)
def table_mostly_empty(case: Case) -> Iterator[Claim]:
    """A table is many times as large as its rows, and scans look at all of its blocks.

    Looks like: some hundred rows in a table of a hundred megabytes, hardly a dead row among them; sequential scans of
        it take as many blocks as it has, and their statements much of the time, in reads or on a CPU.
    Hurts because: a scan looks at each block, empty or not, and they crowd what is needed out of the buffer pool.
        Vacuum has freed the rows and cannot give the blocks back: it cuts off only empty ones at the end.
    Speaks for it: bytes of the table against what all its rows would fill, by the mean widths of their columns
        (pg_stats), or by the most that their types take; blocks looked at by each scan; the statement's share.
    Speaks against it: a table that nobody reads whole; one that soon grows into its blocks again; a fillfactor that is
        low by purpose (counted in). Of a table that was never analysed nothing is known.
    Remedy: Give the empty blocks back: VACUUM FULL or CLUSTER in a window (both lock the table against everybody until
        they are done, and need room for the new one), pg_repack or pg_squeeze without one. Where most of a table is
        deleted at a time: TRUNCATE, partitions that are dropped, or smaller batches with a vacuum in between; a queue
        of its own in place of a status column. An index that serves the scan helps as well.
    Verify: pg_relation_size falls to what the rows need; blocks and time of the statement's calls fall with it.
    Source: PostgreSQL documentation, "Recovering Disk Space", VACUUM, "Database Page Layout"; PostgreSQL wiki, "Show
        database bloat"; check_postgres (bloat).
    """
    scanned = [_scanned(case, room) for room in far_larger(case.dataset)]
    worst = sorted(scanned, key=lambda one: (-(one.share or 0.0), -one.looked_at))
    for one in worst[:MOST_TOLD]:
        if one.scans_per_s and (one.looked_at >= WARNING_SHARE or case.worth_saying(one.share or 0.0)):
            yield _claim(case, one)
        elif one.room.heap_bytes - one.room.needed_bytes >= LARGE_BYTES:
            yield _only_room(one)


def _claim(case: Case, one: Scanned) -> Claim:
    room = one.room
    return Claim(
        phrase("Table {} takes {:bytes} for {:,.0f} rows that would fill {:bytes}: each scan looks at all of it",
               room.table, room.heap_bytes, room.rows, room.needed_bytes),
        impact=NOT_MEASURED if one.share is None else measured(one.share),
        confidence=0.9 if one.statements else 0.75,
        severity=_severity(case, one),
        for_=[_larger(room), _looked_at(one), *(_statement(each) for each in one.statements[:MOST_TOLD]), _dead(room)],
        first_steps=[phrase("First: VACUUM FULL {}: it reads {:bytes}, writes {:bytes}, and locks the table meanwhile.",
                            room.table, room.heap_bytes, room.needed_bytes)],
        database=room.db,
    )  # fmt: skip


def _severity(case: Case, one: Scanned) -> Severity | None:
    """By the share of the time; a warning where its statement's callers lose most of what they wait for to it.

    Where no statement is known, a table that takes most of what is looked at is a warning.
    """
    if one.share is None:
        return "warning" if one.looked_at >= MOST else "note"
    return severity(case, one.share, slowed=any(is_slowed(each, one.room.wasted) for each in one.statements))


def _only_room(one: Scanned) -> Claim:
    room = one.room
    return Claim(
        phrase("Table {} takes {:bytes} for rows that would fill {:bytes}", room.table, room.heap_bytes,
               room.needed_bytes),
        impact=NONE_YET,
        confidence=0.8,
        severity="note",
        for_=[_larger(room), _dead(room)],
        against=[Evidence("statistic", f"name = '{SCANS}' and entity = '{room.entity}'", "hardly read whole", "",
                          "it costs room on disk alone; new rows will fill it")],
        database=room.db,
    )  # fmt: skip


def _scanned(case: Case, room: Room) -> Scanned:
    """Who reads a table whole, as far as its blocks and scans were counted."""
    scans = sum(one.mean for one in case.figures(SCANS) if (one.db, one.entity) == (room.db, room.entity))
    looks = {(one.db, one.entity): 0.0 for name in HEAP_LOOKS for one in case.figures(name)}
    for one in (one for name in HEAP_LOOKS for one in case.figures(name)):
        looks[one.db, one.entity] += one.mean
    own, total = looks.get((room.db, room.entity), 0.0), sum(n for (db, _), n in looks.items() if db == room.db)
    is_by_scans = scans * room.blocks >= MOST * own > 0
    if not is_by_scans:
        return Scanned(room, 0.0, own, 0.0, (), None)
    readers = _readers(case, room, scans, own)
    share = sum(one.share * part for one, part in readers) * room.wasted if readers else None
    return Scanned(room, scans, own, own / total, tuple(one for one, _ in readers), share)


def _readers(case: Case, room: Room, scans: float, blocks: float) -> list[tuple[Statement, float]]:
    """Statements whose calls look at most of the table's blocks, with the part of their looks that are at it.

    Those that name it go before others: these read it by a view or a function.
    """
    figure = next(one for one in case.figures(SCANS) if (one.db, one.entity) == (room.db, room.entity))
    read = WholeRead(figure, room.rows, scans, blocks)
    parts = [(one, read.part_of(one) or 0.0) for one in case.statements if one.db == room.db]
    mostly = [(one, part) for one, part in parts if part >= MOST]
    return [(one, part) for one, part in mostly if read.is_named_by(one)] or mostly[:1]


def _larger(room: Room) -> Evidence:
    loose = phrase(", blocks filled to {:share}", room.fillfactor) if room.fillfactor < 1 else ""
    return Evidence("statistic", f"name = '{HEAP}' and entity = '{room.entity}' and db = '{room.db}'",
                    phrase("{:bytes}", room.heap_bytes), phrase("{:bytes}", FAR_LARGER * room.needed_bytes),
                    phrase("{:,.0f} rows of {:.0f} bytes fill {:bytes}{}", room.rows, room.row_bytes,
                           room.needed_bytes, loose), "at_least")  # fmt: skip


def _looked_at(one: Scanned) -> Evidence:
    room = one.room
    return Evidence("statistic", f"name in {HEAP_LOOKS} and entity = '{room.entity}'",
                    phrase("{:,.0f} blocks looked at by each scan", one.blocks_per_s / one.scans_per_s),
                    phrase("{:,.0f}", MOST * room.blocks),
                    phrase("{:.3g} scans/s; {:share} of all blocks of tables that are looked at", one.scans_per_s,
                           one.looked_at), "at_least")  # fmt: skip


def _statement(one: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{one.statement_id}'", phrase("{:share of database}", one.share), "",
                    phrase("{}{}", "" if one.elapsed_ms is None else phrase("{:.3g ms} a call: ", one.elapsed_ms),
                           shortened(one.text or "")))  # fmt: skip


def _dead(room: Room) -> Evidence:
    return Evidence("statistic", f"name = 'pg_stat_user_tables.n_dead_tup' and entity = '{room.entity}'",
                    phrase("{:,.0f} dead rows", room.dead), "",
                    "the blocks are free already: a vacuum would set nothing free")  # fmt: skip
