"""The columns of AWR-miner's section MAIN-METRICS: means of v$sysmetric over the minutes of a snapshot.

Where a metric is a statistic of another view per second, it has that view's name, as AWR reports give it: readers of
both find it there. `_max` and `_sd` are of the same metric over the snapshot's minutes.
"""

from typing import Final, NamedTuple

MIB: Final = float(1 << 20)


class Metric(NamedTuple):
    """Where a column goes: a name of `statistic`, what its figure is multiplied with, unit and kind."""

    name: str
    unit: str | None
    factor: float = 1.0
    kind: str = "rate"


def _per_s(name: str) -> Metric:
    return Metric(f"v$sysstat.{name}", "per_s")


def _bytes_per_s(name: str) -> Metric:
    return Metric(f"v$sysstat.{name}", "bytes_per_s", MIB)


def _reading(name: str, unit: str | None, factor: float = 1.0) -> Metric:
    return Metric(f"v$sysmetric.{name}", unit, factor, "gauge")


METRICS: Final[dict[str, Metric]] = {
    "os_cpu": _reading("Host CPU Utilization (%)", "pct"),
    "db_wait_ratio": _reading("Database Wait Time Ratio", "pct"),
    "db_cpu_ratio": _reading("Database CPU Time Ratio", "pct"),
    "h_cpu_per_s": Metric("v$sysmetric.Host CPU Usage Per Sec", "s_per_s"),
    "aas": _reading("Average Active Sessions", None),
    # Centiseconds per second.
    "db_time": Metric("v$sys_time_model.DB time", "s_per_s", 0.01),
    "sql_res_t_cs": _reading("SQL Service Response Time", "ms", 10.0),
    "bkgd_t_per_s": Metric("v$sysmetric.Background Time Per Sec", "s_per_s"),
    "logons_s": _per_s("logons cumulative"),
    "logons_total": Metric("v$sysstat.logons current", None, kind="gauge"),
    "exec_s": _per_s("execute count"),
    "hard_p_s": _per_s("parse count (hard)"),
    "l_reads_s": _per_s("session logical reads"),
    "commits_s": _per_s("user commits"),
    "read_mb_s": _bytes_per_s("physical read total bytes"),
    "read_iops": _per_s("physical read total IO requests"),
    "read_bks": _per_s("physical reads"),
    "read_bks_direct": _per_s("physical reads direct"),
    "write_mb_s": _bytes_per_s("physical write total bytes"),
    "write_iops": _per_s("physical write total IO requests"),
    "write_bks": _per_s("physical writes"),
    "write_bks_direct": _per_s("physical writes direct"),
    "redo_mb_s": _bytes_per_s("redo size"),
    "db_block_gets_s": _per_s("db block gets"),
    "db_block_changes_s": _per_s("db block changes"),
    "gc_cr_rec_s": _per_s("gc cr blocks received"),
    "gc_cu_rec_s": _per_s("gc current blocks received"),
    "gc_cr_get_cs": _reading("Global Cache Average CR Get Time", "ms", 10.0),
    "gc_cu_get_cs": _reading("Global Cache Average Current Get Time", "ms", 10.0),
    "gc_bk_corrupted": _reading("Global Cache Blocks Corrupted", None),
    "gc_bk_lost": _reading("Global Cache Blocks Lost", None),
    "px_sess": _reading("Active Parallel Sessions", None),
    "se_sess": _reading("Active Serial Sessions", None),
    "s_blk_r_lat": _reading("Average Synchronous Single-Block Read Latency", "ms"),
    "cell_io_int_mb": _reading("Cell Physical IO Interconnect Bytes", "bytes", MIB),
    "swap_in_sec": Metric("v$sysmetric.VM in bytes Per Sec", "bytes_per_s"),
    "swap_out_sec": Metric("v$sysmetric.VM out bytes Per Sec", "bytes_per_s"),
    "rollbacks_per_sec": _per_s("user rollbacks"),
    "pq_to_serial_per_sec": _per_s("Parallel operations downgraded to serial"),
    "long_tbl_scan_per_sec": _per_s("table scans (long tables)"),
    # Of releases before 3.0.
    "read_iops_direct": _per_s("physical reads direct"),
    "write_iops_direct": _per_s("physical writes direct"),
}


def metric_of(column: str) -> Metric:
    """What a column is: of one that is not known, a reading without a unit under its own name.

    >>> metric_of("read_mb_s_max")
    Metric(name='v$sysstat.physical read total bytes.max', unit='bytes_per_s', factor=1048576.0, kind='gauge')
    """
    known = METRICS.get(column)
    base, _, which = column.rpartition("_")
    if known is None and which in {"max", "sd"} and (metric := METRICS.get(base) or CPU.get(base)):
        return Metric(f"{metric.name}.{which}", metric.unit, metric.factor, "gauge")
    return known or Metric(f"awr_miner.{column}", None, kind="gauge")


# Goes into `wait`; what varied of it into `statistic`.
CPU: Final = {"cpu_per_s": Metric("v$sysmetric.CPU Usage Per Sec", "s_per_s")}
