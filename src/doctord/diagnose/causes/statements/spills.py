"""Spills: sorts, hashes and temporary tables that do not fit into memory."""

import re
from collections.abc import Iterator

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

TEMP = "temp"
WRITTEN = "pg_stat_database.temp_bytes"
MULTIPASS = "v$sql_workarea_histogram.multipass"
ONEPASS = "v$sql_workarea_histogram.onepass"
# Of MySQL: how often something did not fit, and rows by what is done with them.
DISK_TABLES, MERGE_PASSES = "global_status.created_tmp_disk_tables", "global_status.sort_merge_passes"
BY_DIGEST = tuple(
    f"events_statements_summary_by_digest.sum_{name.partition('.')[2]}" for name in (DISK_TABLES, MERGE_PASSES)
)
PUT = ("global_status.handler_write", "global_status.handler_update")
PUT_ALONE = ("global_status.handler_tmp_write", "global_status.handler_tmp_update")  # MariaDB
LOOKED_AT = tuple(f"global_status.handler_read_{name}" for name in ("next", "prev", "rnd_next"))
CHANGES = regex(r"\s*(insert|update|delete|replace|load)\b", re.IGNORECASE)
SORTS = regex(r"\b(group\s+by|order\s+by|distinct|union)\b", re.IGNORECASE)
# A file for every other call is the statement's own way. A row that is put into a table costs more than one looked at.
OFTEN_A_CALL, PUT_OF_LOOKED_AT = 0.5, 0.5
SPILL_BYTES_PER_S = 1024 * 1024
BLOCK_BYTES = 8192


@cause(explains=("device_saturated", "io_by_others"), waits=(TEMP,))
def sort_spill(case: Case) -> Iterator[Claim]:
    """Sorts, hash joins and temporary tables do not fit into memory and go to disk.

    Looks like: PostgreSQL's `temp_bytes` grows, and sessions wait on `BufFileRead` and `BufFileWrite`, or burn CPU
        copying to temporary files; Oracle's direct path read temp, direct path write temp, one-pass and multi-pass
        executions; MySQL's Creating sort index and Copying to tmp table on disk, or a statement that makes a temporary
        table on disk each time.
    Hurts because: what would be one pass in memory becomes several over files.
    Speaks for it: temporary bytes per second, the share of database time of the statements that write them, or in
        temporary reads and writes; executions that needed passes, the target for work areas.
    Speaks against it: statements that spill only a little, or sort far more than memory could ever hold, in one pass:
        that is as good as it gets.
    Remedy: Look at the statements that sort most: rows and columns they need not carry, joins in the wrong order, an
        index that delivers the order. Then give memory to the role or statement that needs it.
        PostgreSQL: raise work_mem for it (not for all: each sort of each session may take it).
        Oracle: raise pga_aggregate_target to where the advisory stops saving; give parallel statements more slaves, as
        each has its own work area.
        MySQL: raise sort_buffer_size or join_buffer_size for it, tmp_table_size (with max_heap_table_size; in MySQL 8.0
        temptable_max_ram) for temporary tables.
    Verify: Temporary bytes, or the share of the temporary waits, fall. PostgreSQL: explain (analyze) shows `quicksort`
        in place of `external merge`. Oracle: multi-pass executions are gone, one-pass ones rare.
        MySQL: Sort_merge_passes and Created_tmp_disk_tables stand still.
    Source: PostgreSQL documentation, work_mem, log_temp_files and pg_stat_database.temp_bytes; Oracle Database
        Performance Tuning Guide 19c, "Tuning the Program Global Area"; MySQL Reference Manual, "ORDER BY Optimization"
        and "Internal Temporary Table Use in MySQL".
    """
    yield from _in_files(case)
    if not case.worth_saying(case.time.kind_share(TEMP)):
        for db in case.dbs:
            yield from _in_temporary_tables(case, db)


def _in_files(case: Case) -> Iterator[Claim]:
    """By what is written to temporary files, or by waits for them."""
    written, waited = case.total(WRITTEN), case.time.kind_share(TEMP)
    spilling = [one for one in case.statements if (one.temp_bytes_per_s or 0.0) > 0] if written is not None else []
    share = max(waited, min(sum(one.share for one in spilling), 1.0))
    little = written is not None and written < SPILL_BYTES_PER_S
    if little or not case.worth_saying(share) or (written is None and "postgresql" in case.components):
        return
    for_, against = weigh(_passes(case))
    yield Claim(
        phrase("Sorts and hashes wait for temporary files: {:share of database}", share)
        if written is None
        else phrase("Sorts and hashes write {:bytes/s} of temporary files", written),
        impact=share,
        confidence=_confidence(written, spilling, against),
        for_=[
            *_bytes_written(case, written, spilling),
            *(_spills(one) for one in spilling[:3]),
            *(of_kind(case, TEMP, why="" if written is None else "waited there") if waited else ()),
            *for_,
            *counted(case, ONEPASS, "{:rate} with one pass"),
            *counted(case, MERGE_PASSES, "{:rate merge passes of sorts}"),
            *counted(case, DISK_TABLES, "{:rate temporary tables on disk}"),
            *_target(case),
        ],
        against=against,
        not_measured=() if spilling or written is None else case.not_measured("pg_stat_statements"),
        explains=("cpu_few_statements",) if spilling and _is_most_of_its_work(spilling[0]) else (),
    )


def _in_temporary_tables(case: Case, db: str) -> Iterator[Claim]:
    """By the rows that a server of MySQL puts into temporary tables, some of them on disk, which may be CPU time alone.

    Of a long text alone MySQL makes such a table on disk, with a few rows: that is no cause.
    """
    makes_some = any(case.total(name, db) for name in (DISK_TABLES, MERGE_PASSES))
    if not makes_some or not _rows_are_put(case, db):
        return
    is_counted = any(case.total(name, db) is not None for name in BY_DIGEST)
    own = [one for one in case.statements if one.db == db]
    spilling = [one for one in own if (_files_a_call(case, one) >= OFTEN_A_CALL if is_counted else _sorts(one))]
    share = min(sum(one.share for one in spilling), 1.0)
    if not case.worth_saying(share):
        return
    yield Claim(
        phrase("Sorts and temporary tables do not fit into memory: {:share of database}", share),
        impact=at_most(share),
        confidence=0.7,
        for_=[
            *(_puts_rows(case, one) for one in spilling[:3]),
            *counted(case, DISK_TABLES, "{:rate temporary tables on disk}"),
            *counted(case, MERGE_PASSES, "{:rate merge passes of sorts}"),
        ],
        explains=("cpu_few_statements", "cpu_saturated"),
        database=db,
    )


def _sorts(one: Statement) -> bool:
    text = one.text or ""
    return SORTS.search(text) is not None and CHANGES.match(text) is None


def _files_a_call(case: Case, one: Statement) -> float:
    made = sum(figure.mean for name in BY_DIGEST for figure in case.figures(name)
               if (figure.db, figure.entity) == (one.db, one.statement_id))  # fmt: skip
    return made / one.calls_per_s if one.calls_per_s else 0.0


def _rows_are_put(case: Case, db: str) -> bool:
    """Whether a server puts a row into a temporary table for every few that it looks at.

    MySQL counts these rows with those that statements change: where it does not tell how many these are, nobody knows.
    """
    put, alone, looked_at = (
        sum(case.total(name, db) or 0.0 for name in names) for names in (PUT, PUT_ALONE, LOOKED_AT)
    )
    if all(case.total(name, db) is None for name in PUT_ALONE):
        changes = [one for one in case.statements if one.db == db and CHANGES.match(one.text or "")]
        is_known = all(one.rows_per_s is not None or one.share < WORTH_SAYING_SHARE for one in changes)
        alone = put - sum(one.rows_per_s or 0.0 for one in changes) if is_known else 0.0
    return alone >= PUT_OF_LOOKED_AT * looked_at > 0


def _puts_rows(case: Case, one: Statement) -> Evidence:
    files = _files_a_call(case, one)
    why = phrase(", {:.1f} temporary files a call", files) if files else ", of a statement that groups or sorts"
    return Evidence("statement", f"statement_id = '{one.statement_id}'",
                    phrase("{:share of database}{}", one.share, why), "", shortened(one.text or ""))  # fmt: skip


def _is_most_of_its_work(one: Statement) -> bool:
    """Whether a statement moves as many blocks to files and back as it looks at: then that is what its CPU time is for.

    A join that spills the last part of its table moves fewer.
    """
    moved_per_s = (one.temp_bytes_per_s or 0.0) / BLOCK_BYTES
    return one.gets_per_s is not None and moved_per_s >= one.gets_per_s


def _confidence(written: float | None, spilling: list[Statement], against: list[Evidence]) -> float:
    """Surer where the statements that spill are known, or where the server says how its work areas fared."""
    if written is not None:
        return 0.9 if spilling else 0.7
    return 0.7 if against else 0.85


def _passes(case: Case) -> list[Sign]:
    return [
        Sign("statistic", f"name = '{MULTIPASS}'", case.amount(MULTIPASS) if case.figures(MULTIPASS) else None, 1.0,
             "{:,.0f} multi-pass executions", "their input was read from disk more than once",
             "one pass was enough: they are large, not starved"),
    ]  # fmt: skip


def _bytes_written(case: Case, written: float | None, spilling: list[Statement]) -> list[Evidence]:
    if written is None:
        return []
    most = next(iter(spilling), None)
    memory = case.setting_for("work_mem", most.db, most.statement_id) if most else case.setting_of_any("work_mem")
    return [
        Evidence(
            "statistic",
            f"name = '{WRITTEN}'",
            phrase("{:bytes/s}", written),
            phrase("{:bytes/s}", SPILL_BYTES_PER_S),
            phrase("work_mem is {} kB", memory or "an unknown number of"),
            "at_least",
        )
    ]


def _spills(statement: Statement) -> Evidence:
    return Evidence(
        "statement",
        f"statement_id = '{statement.statement_id}'",
        phrase("{:share of database}, {:bytes} a call", statement.share, _temp_per_call(statement)),
        "nothing spilled",
        shortened(statement.text or ""),
    )


def _target(case: Case) -> list[Evidence]:
    target = case.setting_of_any("pga_aggregate_target")
    if not target or not target.isdigit() or not int(target):
        return []
    return [Evidence("setting", "name = 'pga_aggregate_target'", phrase("{:bytes}", int(target)), "", "the target")]


def _temp_per_call(statement: Statement) -> float:
    if statement.temp_bytes_per_s is None or not statement.calls_per_s:
        return 0.0
    return statement.temp_bytes_per_s / statement.calls_per_s
