"""The two labelled sets as figures over time: what their columns are, in Doctor D's terms."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from doctord.analyse.incidents.figures import Figures, of_rates
from doctord.analyse.incidents.signature import Change, Signature, higher, log_ratio
from doctord.analyse.study.samples import Numbers

DBPA_MACHINES: Final = ("mysql_32_128", "mysql_64_256")
WINDOW: Final = 10  # samples

# DBSherlock: shares and readings that are as they are; all other counters but these are counted by the second.
SHARES: Final = (
    "AvgCpuUser", "AvgCpuSys", "AvgCpuIdle", "AvgCpuWai", "AvgCpuHiq", "AvgCpuSiq", "osDiskUtilization",
    "osNumberOfProcessesCurrentlyRunning", "dbmsThreadsRunning", "dbmsCurrentLockWaits", "dbmsNumberOfPendingWrites",
    "dbmsNumberOfPendingReads", "dbmsNumberOfPendingLogWrites", "dbmsNumberOfPendingLogFsyncs", "osAsynchronousIO",
)  # fmt: skip
RATES: Final = (
    "osNumberOfContextSwitches", "osNumberOfSectorReads", "osNumberOfSectorWrites", "osNumberOfInterrupt",
    "osNumberOfReadsIssued", "osNumberOfWritesCompleted", "osNumberOfProcessesCreated", "osNumberOfMajorPageFaults",
    "osNumberOfMinorPageFaults", "osNetworkSendKB", "osNetworkRecvKB", "dbmsMeasuredCPU", "dbmsChangedRows",
    "dbmsFlushedPages", "dbmsTotalWritesMB", "dbmsLogWritesMB", "dbmsNumberOfPhysicalLogWrites",
    "dbmsNumberOfDataReads", "dbmsNumberOfDataWrites", "dbmsNumberOfLogWriteRequests", "dbmsNumberOfFysncLogWrites",
    "dbmsNumberOfNextRowReadRequests", "dbmsNumberOfRowInsertRequests", "dbmsNumberOfFirstEntryReadRequests",
    "dbmsNumberOfKeyBasedReadRequests", "dbmsNumberOfNextKeyBasedReadRequests", "dbmsNumberOfPrevKeyBasedReadRequests",
    "dbmsNumberOfRowReadRequests", "dbmsPageWritesMB", "dbmsDoublePageWritesMB", "dbmsDoubleWritesOperations",
    "dbmsBufferPoolWrites", "dbmsRandomReadAheads", "dbmsSequentialReadAheads", "dbmsNumberOfLogicalReadRequests",
    "dbmsNumberOfLogicalReadsFromDisk", "dbmsNumberOfWaitsForFlush", "dbmsRolledbackCommands", "dbmsRollbackHandler",
    "dbmsLockWaits", "dbmsLockWaitTime", "dbmsReadRequests", "dbmsReads", "dbmsPhysicalReadsMB",
)  # fmt: skip
COMMITS: Final = "dbmsCommittedCommands"
LATENCY: Final = "Combined Avg Latency"

# DBPA, columns of dstat.
DBPA_RATES: Final = (
    "dsk/total.read", "dsk/total.writ", "net/total.recv", "net/total.send", "paging.in", "paging.out", "system.int",
    "system.csw", "procs.new", "io/total.read", "io/total.writ", "virtual_memory.majpf", "virtual_memory.minpf",
    "virtual_memory.alloc", "virtual_memory.free", "mysql5_all.flushed", "mysql5_all.readr", "mysql5_all.reads",
    "mysql5_all.insert", "mysql5_all.update", "mysql5_all.delete", "mysql5_all.roll", "mysql5_all.grow",
)  # fmt: skip
DBPA_SHARES: Final = (
    "total_cpu_usage.usr", "total_cpu_usage.sys", "total_cpu_usage.wai", "total_cpu_usage.idl", "procs.run",
    "procs.blk", "mysql5_conn.Conn", "mysql5_conn.Act", "mysql5_locks.Locks", "file_locks.lck", "tcp_sockets.act",
)  # fmt: skip
DBPA_COMMITS: Final = "mysql5_all.comm"


@dataclass(frozen=True, eq=False)
class Recording:
    """One recording of DBSherlock: its causes, its figures, and the labelled interval in steps."""

    causes: tuple[str, ...]
    figures: Figures
    labelled: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Window:
    """One window of DBPA: its cause, and its signature against the machine's own normal time."""

    cause: str
    signature: Signature


COMPOUNDS: Final = {
    "CPU,IO,Network Saturation": ("CPU Saturation", "I/O Saturation", "Network Congestion"),
    "Workload Spike + Network Saturation": ("Workload Spike", "Network Congestion"),
}


def dbsherlock(corpus: Path) -> Iterator[Recording]:
    """All recordings; the seconds before the first commit are left out, when the clients were not there yet."""
    rows = pl.read_parquet(corpus / "dbsherlock" / "tpcc16_train.parquet")
    for (_, cause), part in rows.partition_by("case", "cause", as_dict=True, maintain_order=True).items():
        ordered = part.sort("second", maintain_order=True)
        begun = int(np.flatnonzero(ordered[COMMITS].to_numpy() > 0)[0]) + 1
        used = ordered[begun:]
        commits, latency = (used[name].cast(pl.Float64).to_numpy() for name in (COMMITS, LATENCY))
        # J. D. C. Little's law: sessions at work are commits times the time of each; with none some wait all the same.
        active = np.where(commits > 0, np.where(latency > 0, latency * commits, np.nan), 1.0)
        figures = of_rates(_columns(used, SHARES), _columns(used, RATES), commits, active)
        ill = np.flatnonzero(used["abnormal"].to_numpy())
        causes = COMPOUNDS.get(str(cause), tuple(str(cause).split(" + ")))
        yield Recording(causes, figures, (int(ill[0]), int(ill[-1]) + 1))


def dbpa(corpus: Path, machine: str) -> list[Window]:
    """The windows of one machine but for the first half of the normal ones, which are what is usual there."""
    rows = pl.read_parquet(corpus / "dbpa" / f"{machine}.parquet")
    commits = rows[DBPA_COMMITS].to_numpy()
    figures = of_rates(_columns(rows, DBPA_SHARES), _columns(rows, DBPA_RATES), commits, np.full(len(commits), np.nan))
    causes = rows["cause"].to_list()[::WINDOW]
    normal = [number for number, cause in enumerate(causes) if cause == "normal"]
    usual = set(normal[: len(normal) // 2])
    rows_of = [np.arange(number * WINDOW, (number + 1) * WINDOW) for number in range(len(causes))]
    before = np.concatenate([rows_of[number] for number in sorted(usual)])
    asked = [number for number in range(len(causes)) if number not in usual]
    return [Window(causes[number], _against(figures, rows_of[number], before)) for number in asked]


def _against(
    figures: Figures, inside: "np.typing.NDArray[np.int64]", usual: "np.typing.NDArray[np.int64]"
) -> Signature:
    found = dict[str, Change]()
    for number, name in enumerate(figures.names):
        ill, normal = (figures.values[steps, number] for steps in (inside, usual))
        ill, normal = ill[~np.isnan(ill)], normal[~np.isnan(normal)]
        found[name] = (
            Change(higher(ill, normal), log_ratio(ill, normal)) if len(ill) and len(normal) else Change(0.0, 0.0)
        )
    return found


def _columns(rows: pl.DataFrame, names: tuple[str, ...]) -> dict[str, Numbers]:
    return {name: rows[name].cast(pl.Float64).to_numpy() for name in names}
