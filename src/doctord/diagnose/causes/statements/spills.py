"""Spills: sorts, hashes and temporary tables that do not fit into memory."""

import re
from collections.abc import Iterator

from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

TEMP = "temp"
WRITTEN = "pg_stat_database.temp_bytes"
MULTIPASS = "v$sql_workarea_histogram.multipass"
ONEPASS = "v$sql_workarea_histogram.onepass"
# MySQL's own counts of what did not fit, by statement where performance_schema is on, and of rows by what is done.
DISK_TABLES, MERGE_PASSES = "created_tmp_disk_tables", "sort_merge_passes"
FILES = tuple(f"events_statements_summary_by_digest.sum_{name}" for name in (DISK_TABLES, MERGE_PASSES))
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
    written, waited = case.total(WRITTEN), case.time.kind_share(TEMP)
    spilling = _to_disk(case) if written is None else [one for one in case.statements if one.temp_bytes_per_s]
    share = max(waited, min(sum(one.share for one in spilling), 1.0))
    little = written is not None and written < SPILL_BYTES_PER_S
    if little or not case.worth_saying(share) or (written is None and "postgresql" in case.components):
        return
    for_, against = weigh(_passes(case))
    yield Claim(
        phrase("Sorts and temporary tables do not fit into memory: {:share of database}", share)
        if written is None and spilling
        else phrase("Sorts and hashes wait for temporary files: {:share of database}", share)
        if written is None
        else phrase("Sorts and hashes write {:bytes/s} of temporary files", written),
        impact=share,
        confidence=_confidence(written, spilling, against),
        for_=[
            *_bytes_written(case, written, spilling),
            *(_spills(case, one) for one in spilling[:3]),
            *(of_kind(case, TEMP, why="" if written is None else "waited there") if waited else ()),
            *for_,
            *counted(case, ONEPASS, "{:rate} with one pass"),
            *counted(case, f"global_status.{MERGE_PASSES}", "{:rate merge passes of sorts}"),
            *counted(case, f"global_status.{DISK_TABLES}", "{:rate temporary tables on disk}"),
            *_target(case),
        ],
        against=against,
        not_measured=() if spilling or written is None else case.not_measured("pg_stat_statements"),
        explains=("cpu_few_statements", "cpu_saturated") if _is_most_of_its_work(spilling) else (),
    )


def _to_disk(case: Case) -> list[Statement]:
    """Statements of MySQL that make a temporary table on disk, or merge sorted files, at most calls.

    Where the server does not count it by statement: those that group or sort. None where few rows go into such tables:
    of a long text alone MySQL makes one on disk.
    """
    makes_some = any(case.total(f"global_status.{name}") for name in (DISK_TABLES, MERGE_PASSES))
    if not makes_some or not _rows_are_put(case):
        return []
    if any(case.figures(name) for name in FILES):
        return [one for one in case.statements if _files_a_call(case, one) >= OFTEN_A_CALL]
    return [one for one in case.statements if _sorts(one.text or "")]


def _sorts(text: str) -> bool:
    return SORTS.search(text) is not None and CHANGES.match(text) is None


def _files_a_call(case: Case, one: Statement) -> float:
    made = sum(figure.mean for name in FILES for figure in case.figures(name)
               if (figure.db, figure.entity) == (one.db, one.statement_id))  # fmt: skip
    return made / one.calls_per_s if one.calls_per_s else 0.0


def _rows_are_put(case: Case) -> bool:
    """Whether a server of MySQL puts a row into a temporary table for every few that it looks at."""
    looked_at, alone, put = (sum(case.total(name) or 0.0 for name in names) for names in (LOOKED_AT, PUT_ALONE, PUT))
    if not any(case.figures(name) for name in PUT_ALONE):
        changing = [one for one in case.statements if CHANGES.match(one.text or "")]
        changed = [one.rows_per_s for one in changing if one.rows_per_s is not None]
        alone = put - sum(changed) if len(changed) == len(changing) else 0.0
    return alone >= PUT_OF_LOOKED_AT * looked_at > 0


def _is_most_of_its_work(spilling: list[Statement]) -> bool:
    """Whether a statement moves as many blocks to files and back as it looks at: then that is what its CPU time is for.

    A join that spills the last part of its table moves fewer.
    """
    if not spilling:
        return False
    one = spilling[0]
    if one.temp_bytes_per_s is None:
        return True  # that is how they were found
    moved_per_s = one.temp_bytes_per_s / BLOCK_BYTES
    return one.gets_per_s is not None and moved_per_s >= one.gets_per_s


def _confidence(written: float | None, spilling: list[Statement], against: list[Evidence]) -> float:
    """Surer where the statements that spill are known, or where the server says how its work areas fared."""
    if written is not None:
        return 0.9 if spilling else 0.7
    return 0.7 if against or spilling else 0.85


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


def _spills(case: Case, statement: Statement) -> Evidence:
    files = _files_a_call(case, statement)
    return Evidence(
        "statement",
        f"statement_id = '{statement.statement_id}'",
        phrase("{:share of database}, {:bytes} a call", statement.share, _temp_per_call(statement))
        if statement.temp_bytes_per_s is not None
        else phrase("{:share of database}, {:.1f} temporary files a call", statement.share, files)
        if files
        else phrase("{:share of database}, of a statement that groups or sorts", statement.share),
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
