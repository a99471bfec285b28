"""Memory: of the host, shared, of sessions; caches and what is advised for them; address translation."""

from typing import Final

import polars as pl

from doctord.analyse import waits
from doctord.analyse.host import translation
from doctord.analyse.sizing.found.finder import Found, FoundCurve, Measured, Points, finds, setting
from doctord.units import MIB

DEFAULT_POOLS: Final = ("D", "DEFAULT", "")
NEAR: Final = 0.01


@finds("memory of the host")
def _total(seen: Measured) -> Found:
    """The host's memory (/proc/meminfo, recorders of it)."""
    return _last(seen, "total_bytes")


@finds("huge pages there")
def _huge_pages(seen: Measured) -> Found:
    """HugePages_Total of /proc/meminfo."""
    return _last(seen, "huge_pages_total")


@finds("huge page")
def _huge_page(seen: Measured) -> Found:
    """Hugepagesize of /proc/meminfo."""
    return _last(seen, "huge_page_bytes")


@finds("page tables")
def _page_tables(seen: Measured) -> Found:
    """PageTables of /proc/meminfo."""
    return _last(seen, "page_tables_bytes")


@finds("shared memory")
def _shared(seen: Measured) -> Found:
    """Settings: shared_memory_size of PostgreSQL, sga_max_size or sga_target of Oracle."""
    return setting(seen, shared_memory_size="MB", sga_max_size="bytes", sga_target="bytes")


@finds("shared_buffers")
def _shared_buffers(seen: Measured) -> Found:
    """The setting shared_buffers of PostgreSQL."""
    return setting(seen, shared_buffers="8kB")


@finds("mapped memory", "memory", "SGA or shared_buffers")
def _mapped(seen: Measured) -> Found:
    """Settings: those of all shared memory, or shared_buffers."""
    return _shared(seen) or _shared_buffers(seen)


@finds("work_mem")
def _work_mem(seen: Measured) -> Found:
    """The setting work_mem."""
    return setting(seen, work_mem="kB")


@finds("hash multiplier")
def _hash_multiplier(seen: Measured) -> Found:
    """The setting hash_mem_multiplier."""
    return setting(seen, hash_mem_multiplier="")


@finds("cache now")
def _cache(seen: Measured) -> Found:
    """Settings: shared_buffers, db_cache_size; of V$DB_CACHE_ADVICE the size with the factor 1."""
    now = _advised(seen, "size_factor")
    same = [size for size, factor in now if abs(factor - 1) < NEAR]
    return (same[0], "advised: size factor 1") if same else setting(seen, shared_buffers="8kB", db_cache_size="bytes")


@finds("reads by size")
def _advice(seen: Measured) -> FoundCurve:
    """V$DB_CACHE_ADVICE in Oracle's reports (AWR, Statspack)."""
    advised = _advised(seen, "estd_physical_reads") or _advised(seen, "estd_physical_read_factor")
    return (advised, "advised: v$db_cache_advice") if len(advised) > 1 else None


@finds("spilled by PGA")
def _spilled(seen: Measured) -> FoundCurve:
    """V$PGA_TARGET_ADVICE in Oracle's reports; sizes that Oracle would exceed are left out."""
    exceeded = dict(_by_size(seen, "v$pga_target_advice.estd_overalloc_count"))
    spilled = _by_size(seen, "v$pga_target_advice.estd_extra_bytes_rw")
    kept = tuple(point for point in spilled if not exceeded.get(point[0]))
    return (kept, "advised: v$pga_target_advice") if kept else None


@finds("time of a read")
def _read_time(seen: Measured) -> Found:
    """The wait db file sequential read."""
    wait = waits.foreground(seen.dataset).get("db file sequential read")
    return None if wait is None or wait.ms is None else (wait.ms / 1000, "measured: db file sequential read")


@finds("time in translation")
def _translating(seen: Measured) -> Found:
    """Reports of trapstat -T."""
    share = translation.share(seen.dataset)
    return None if share is None else (share, "measured: trapstat")


@finds("minor faults")
def _minor_faults(seen: Measured) -> Found:
    """Counters of vmstat -s or kstat."""
    counted = translation.faults(seen.dataset)
    return (counted[0].minor, f"measured: {counted[0].minor_name}") if counted else None


@finds("major faults")
def _major_faults(seen: Measured) -> Found:
    """Counters of vmstat -s or kstat."""
    counted = translation.faults(seen.dataset)
    return (counted[0].major, f"measured: {counted[0].major_name}") if counted else None


def _advised(seen: Measured, column: str) -> Points:
    """A column of V$DB_CACHE_ADVICE by size, of the default pool."""
    return _by_size(seen, f"v$db_cache_advice.{column}")


def _by_size(seen: Measured, name: str) -> Points:
    """A statistic of advice by the size that it is for, in bytes, as the last report has it."""
    rows = seen.dataset.frame("statistic").filter(pl.col("name") == name).sort("ts", maintain_order=True)
    latest = rows.group_by("entity", maintain_order=True).last().select("entity", "value").rows()
    return tuple(sorted((size, value) for entity, value in latest if (size := _pool_bytes(entity)) is not None))


def _pool_bytes(entity: str | None) -> float | None:
    """Size in bytes of a row of advice, such as `D 1280` (pool, MB); null for other pools than the default one."""
    pool, _, size = (entity or "").rpartition(" ")
    return float(size) * MIB if pool in DEFAULT_POOLS and size.isdigit() else None


def _last(seen: Measured, column: str) -> Found:
    """The last value of a column of `memory`."""
    values = seen.dataset.frame("memory").sort("ts", maintain_order=True)[column].drop_nulls()
    return (float(values[-1]), f"measured: memory.{column}") if values.len() else None
