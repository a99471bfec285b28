"""What a file says but nobody can have measured: shares of more than all, means over years, zeros of what is not known.

One judgement for all formats. `fault` judges a row while its line is known, `judged` all tables of a file that was
read. A row that cannot be is left out and counted. Limits are far above what machines do: they find columns that are
shifted, counters that wrapped and bytes that flipped, never what is only bad.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, reduce
from operator import add
from typing import Any, Final

import polars as pl
import pyarrow as pa

from doctord.dataset.arrow import polars_series
from doctord.dataset.tables import TABLES
from doctord.read.source import SourceFile

JUDGED: Final = frozenset({"cpu", "memory", "disk", "filesystem", "network", "process", "translation", "guest"})
CPU_SHARES: Final = ("usr_pct", "sys_pct", "wait_io_pct", "irq_pct", "steal_pct", "idle_pct")

# Ticks are counted one by one: a share may be a little more than all of an interval.
MOST_SHARE_PCT: Final = 110.0
# Tools divide a disk's busy time by the second that they meant to sleep: one that came late shows 213 %.
MOST_BUSY_PCT: Final = 1000.0
# A process has a share of each CPU: Linux is built for 8192 at the most (CONFIG_NR_CPUS).
MOST_SHARE_OF_CPUS_PCT: Final = 8192 * 100.0
# SCSI commands end after 30 s, five times tried again, and multipath fails within minutes.
MOST_REQUEST_MS: Final = 3_600_000.0
# Physical addresses have 52 bits on x86 and Arm.
MOST_BYTES_OF_MEMORY: Final = 2.0**52
# 10 TB/s, or that many calls: a counter of 64 bits that went down and was taken for one that wrapped gives more.
MOST_PER_S: Final = 1e13
# The difference of two figures that were rounded may be a little below 0.
LEAST: Final = -1.0
# Counters of 32 bits in hundredths of a second wrap after 497 days: nobody means that by an interval.
LONGEST_INTERVAL_S: Final = 366 * 86400.0
# Clocks of hosts and of files differ by zones, and by a day.
AHEAD: Final = timedelta(days=2)
# `available` holds at least half of the page cache, and what is free but for a reserve of some per cent.
FREE_SHARE_THAT_IS_AVAILABLE: Final = 0.1
MEMORY_IF_UNKNOWN_BYTES: Final = 2.0**31
KIB: Final = 1024.0

# What no running kernel has none of, by component and name: 0 in every row means that it was not counted.
# (VmallocUsed is 0 since Linux 4.4, as its count cost too much.)
NEVER_NOTHING: Final = frozenset({"sar.kbslab", "sar.kbkstack", "sar.kbvmused", "sar.kbactive", "sar.kbinact"})
UNKNOWN_ZEROS: Final = (
    "0 in every row, which cannot be: taken for not measured (sadf -c writes so what an old file has not)"
)


def fault(table: str, row: Mapping[str, Any]) -> str | None:
    """Why a row cannot have been measured; null where it can. Columns of other tables are not judged.

    >>> fault("cpu", {"usr_pct": 8397.0}), fault("cpu", {"usr_pct": 99.0}), fault("disk", {"util_pct": -7.0})
    ('usr_pct above 110 cannot be', None, 'util_pct below 0 cannot be')
    """
    most = limits(table)
    for name, value in row.items():
        if name in most and value is not None and not LEAST <= value <= most[name]:
            return _why(name, most[name], is_below=value < LEAST)
    if table == "cpu" and sum(row.get(share) or 0.0 for share in CPU_SHARES) > MOST_SHARE_PCT:
        return _SUM
    return None


def judged(source: SourceFile, tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables of a file without rows that cannot be, and with nulls for zeros that mean nothing.

    A table of which nothing is left is left out. The source is told.
    """
    timed = _without_future(source, tables)
    possible = ((name, _possible(source, name, table)) for name, table in timed.items())
    kept = {name: table for name, table in possible if table.num_rows}
    if "memory" in kept:
        kept["memory"] = _memory_known(source, kept["memory"], kept.get("statistic"))
    if "statistic" in kept:
        kept["statistic"] = _statistics_known(source, kept["statistic"])
    return {name: table for name, table in kept.items() if table.num_rows}


@cache
def limits(table: str) -> Mapping[str, float]:
    """The largest value of each column that is judged; `LEAST` is the smallest of all."""
    if table not in JUDGED:
        return {}
    keys = {*TABLES[table].entity, "ppid", "interval_s"}
    columns = [column for column in TABLES[table].columns if column.type in {"f64", "i64"} and column.name not in keys]
    return {column.name: _largest(table, column.name) for column in columns}


def _largest(table: str, column: str) -> float:
    if column.endswith("_pct"):
        return {"process": MOST_SHARE_OF_CPUS_PCT, "guest": MOST_SHARE_OF_CPUS_PCT, "disk": MOST_BUSY_PCT}.get(
            table, MOST_SHARE_PCT
        )
    if column.endswith("_per_s"):
        return MOST_PER_S
    if column.endswith("_bytes") and table in {"memory", "process"}:
        return MOST_BYTES_OF_MEMORY
    return MOST_REQUEST_MS if column.endswith("_ms") else float("inf")


_SUM: Final = f"shares of a CPU that add up to more than {MOST_SHARE_PCT:g} % cannot be"


def _why(column: str, limit: float, *, is_below: bool) -> str:
    return f"{column} {'below 0' if is_below else f'above {limit:.15g}'} cannot be"


def _possible(source: SourceFile, name: str, table: pa.Table) -> pa.Table:
    """The rows of a table in which every figure can be."""
    for column, limit in {**limits(name), "interval_s": LONGEST_INTERVAL_S}.items():
        values = _series(table, column)
        if (least := _number(values.min())) is not None and least < LEAST:
            table = _without(source, name, table, values < LEAST, _why(column, limit, is_below=True))
            values = _series(table, column)
        if (most := _number(values.max())) is not None and most > limit:
            table = _without(source, name, table, values > limit, _why(column, limit, is_below=False))
    if name == "cpu":
        shares = [_series(table, share).fill_null(0.0) for share in CPU_SHARES]
        table = _without(source, name, table, reduce(add, shares) > MOST_SHARE_PCT, _SUM)
    return table


def _series(table: pa.Table, column: str) -> pl.Series:
    return polars_series(table[column])


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _without(source: SourceFile, name: str, table: pa.Table, wrong: pl.Series, why: str) -> pa.Table:
    """The rows that are not wrong. No line is known any more, so the first is told by what it is about and its time."""
    wrong = wrong.fill_null(value=False)
    count = int(wrong.sum())
    if not count:
        return table
    first = table.slice(wrong.arg_max(), 1).to_pylist()[0]
    about = " ".join(str(first[key]) for key in TABLES[name].entity if first[key] is not None)
    when = f"{first['ts']:%F %T}" if first["ts"] else "no time"
    rows = "a row" if count == 1 else f"{count} rows, the first"
    source.leave_out(count, f"{why}: {rows} of {name} ({', '.join(filter(None, (about, when)))}) left out")
    return table.filter((~wrong).to_arrow())


def _without_future(source: SourceFile, tables: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
    """Rows of the future are damaged where they are few.

    Where most rows are so, the clock of that host went wrong, and what it measured may be right: that is noted. Times
    long past tell nothing: those of traces are counted from their beginning.
    """
    last = max(filter(None, (source.modified, datetime.now(UTC)))) + AHEAD
    strange = {name: _series(table, "ts") > last for name, table in tables.items()}
    wrong = sum(int(mask.sum() or 0) for mask in strange.values())
    if not wrong:
        return tables
    if wrong * 2 > sum(table.num_rows for table in tables.values()):
        latest = max(at for table in tables.values() if isinstance(at := _series(table, "ts").max(), datetime))
        source.note(
            f"its times are in the future (up to {latest:%F %T} UTC): the clock of that host, or the file, is wrong"
        )
        return tables
    why = "a time in the future cannot be"
    return {name: _without(source, name, table, strange[name], why) for name, table in tables.items()}


def _memory_known(source: SourceFile, memory: pa.Table, statistics: pa.Table | None) -> pa.Table:
    """Columns that are 0 in every row and cannot be so are null."""
    unknown = [name for name in ("anon_bytes", "page_tables_bytes") if _is_nothing(memory, name)]
    if _is_nothing(memory, "available_bytes") and _has_room(memory, statistics):
        unknown.append("available_bytes")
    for name in unknown:
        at = memory.schema.get_field_index(name)
        memory = memory.set_column(at, memory.schema.field(at), pa.nulls(memory.num_rows, memory.schema.field(at).type))
    if unknown:
        source.note(f"{', '.join(unknown)}: {UNKNOWN_ZEROS}")
    return memory


def _is_nothing(table: pa.Table, column: str) -> bool:
    return _series(table, column).max() == 0


def _has_room(memory: pa.Table, statistics: pa.Table | None) -> bool:
    """Whether so much is free or cached that programs could get some of it; sar without `kbshmem` tells no cache."""
    free = sum(_number(_series(memory, column).max()) or 0.0 for column in ("free_bytes", "page_cache_bytes"))
    if statistics is not None:
        cached = _series(statistics, "value").filter(_series(statistics, "name") == "sar.kbcached")
        free += (_number(cached.max()) or 0.0) * KIB
    total = _number(_series(memory, "total_bytes").max()) or MEMORY_IF_UNKNOWN_BYTES
    return free > FREE_SHARE_THAT_IS_AVAILABLE * total


def _statistics_known(source: SourceFile, statistics: pa.Table) -> pa.Table:
    """Statistics that are 0 in every row and cannot be so are none."""
    names = _series(statistics, "name")
    candidates = pl.DataFrame([names, _series(statistics, "value")], schema=["name", "value"])
    largest = candidates.filter(pl.col("name").is_in(sorted(NEVER_NOTHING))).group_by("name").max()
    unknown = sorted(name for name, value in largest.rows() if value == 0)
    if not unknown:
        return statistics
    source.note(f"{', '.join(unknown)}: {UNKNOWN_ZEROS}")
    return statistics.filter((~names.is_in(unknown)).to_arrow())
