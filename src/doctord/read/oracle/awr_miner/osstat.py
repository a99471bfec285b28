"""OSSTAT of an AWR-miner report: v$osstat, whose times count hundredths of a second since the host started."""

from collections.abc import Iterator

from doctord.read.oracle.awr_miner.metrics import MIB
from doctord.read.oracle.awr_miner.report import Found, Placed, Report, Span

READINGS = (
    ("load", "v$osstat.LOAD", None, 1.0),
    ("cpus", "v$osstat.NUM_CPUS", None, 1.0),
    ("cores", "v$osstat.NUM_CPU_CORES", None, 1.0),
    ("sockets", "v$osstat.NUM_CPU_SOCKETS", None, 1.0),
    ("mem_gb", "v$osstat.PHYSICAL_MEMORY_BYTES", "bytes", MIB),
    ("mem_free_gb", "v$osstat.FREE_MEMORY_BYTES", "bytes", MIB),
    ("cpu_count", "v$parameter.cpu_count", None, 1.0),
)
COUNTERS = (
    ("idle", "v$osstat.IDLE_TIME", "s_per_s", 0.01),
    ("busy", "v$osstat.BUSY_TIME", "s_per_s", 0.01),
    ("user", "v$osstat.USER_TIME", "s_per_s", 0.01),
    ("sys", "v$osstat.SYS_TIME", "s_per_s", 0.01),
    ("iowait", "v$osstat.IOWAIT_TIME", "s_per_s", 0.01),
    ("nice", "v$osstat.NICE_TIME", "s_per_s", 0.01),
    ("cpu_wait", "v$osstat.OS_CPU_WAIT_TIME", "s_per_s", 0.01),
    ("rsrc_mgr_wait", "v$osstat.RSRC_MGR_CPU_WAIT_TIME", "s_per_s", 0.01),
    ("vm_in", "v$osstat.VM_IN_BYTES", "bytes_per_s", 1.0),
    ("vm_out", "v$osstat.VM_OUT_BYTES", "bytes_per_s", 1.0),
)


def osstat(report: Report, found: list[Placed]) -> Iterator[Found]:
    """What each instance's host did between its snapshots; a counter that fell (a restart) is no rate."""
    before: dict[str | None, Placed] = {}
    for it in found:
        for column, name, unit, factor in READINGS:
            yield from it.statistic(name, it.figure(column, factor), unit)
        host = report.host_of(it.instance)
        if host and (memory := it.figure("mem_gb", MIB)) is not None:
            free = it.figure("mem_free_gb", MIB)
            sizes = {"total_bytes": round(memory), "free_bytes": None if free is None else round(free)}
            yield "memory", {"ts": it.span.end_us, "host": host} | sizes
        if (last := before.get(it.instance)) and it.span.end_us > last.span.end_us:
            yield from _between(last, it, host)
        before[it.instance] = it


def _between(last: Placed, it: Placed, host: str | None) -> Iterator[Found]:
    between = Placed(it.number, Span(it.span.end_us, (it.span.end_us - last.span.end_us) / 1e6), it.row)
    gained: dict[str, float] = {}
    for column, name, unit, factor in COUNTERS:
        now, then = it.figure(column, factor), last.figure(column, factor)
        if now is not None and then is not None and now >= then:
            gained[column] = now - then
            yield from between.rate(name, now - then, unit)
    if host and (all_s := gained.get("idle", 0.0) + gained.get("busy", 0.0)):
        shares = {column: 100 * value / all_s for column, value in gained.items()}
        of_cpu = {"usr_pct": shares.get("user"), "sys_pct": shares.get("sys"), "idle_pct": shares.get("idle")}
        yield "cpu", between.span.at | {"host": host} | of_cpu
