"""Names of columns that tables of metrics use, and the dataset's columns for what they hold.

They are those of dstat (`total_cpu_usage.usr`, group and column joined by a dot) and of DBSherlock's data set (Yoon,
Niu, Mozafari: DBSherlock, SIGMOD 2016), whose requests and bytes of disks are divided by 2^20.
"""

from dataclasses import dataclass, field
from typing import Final

from doctord.regex import regex

MIB: Final = float(1 << 20)
TOTAL: Final = "total"  # all devices, all interfaces


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column of the dataset: its table, what its figure is multiplied with, and which row of the table it is in.

    Attributes:
        table: Table of the dataset.
        column: Its column; several columns of a file that go into one are added up.
        factor: What the file's figure is multiplied with.
        of: What the row is about: values of the table's other columns.
    """

    table: str
    column: str
    factor: float = 1.0
    of: tuple[tuple[str, object], ...] = field(default=())


def _cpu(column: str, cpu: int | None = None) -> NamedColumn:
    return NamedColumn("cpu", column, of=(("cpu", cpu),))


def _memory(column: str, factor: float = 1.0) -> NamedColumn:
    return NamedColumn("memory", column, factor)


def _disk(column: str, factor: float = 1.0) -> NamedColumn:
    return NamedColumn("disk", column, factor, (("device", TOTAL),))


def _network(column: str, factor: float = 1.0) -> NamedColumn:
    return NamedColumn("network", column, factor, (("interface", TOTAL),))


PAGE_BYTES: Final = 4096.0
DSTAT: Final = {
    "total_cpu_usage.usr": (_cpu("usr_pct"),),
    "total_cpu_usage.sys": (_cpu("sys_pct"),),
    "total_cpu_usage.idl": (_cpu("idle_pct"),),
    "total_cpu_usage.wai": (_cpu("wait_io_pct"),),
    "total_cpu_usage.hiq": (_cpu("irq_pct"),),
    "total_cpu_usage.siq": (_cpu("irq_pct"),),
    "total_cpu_usage.stl": (_cpu("steal_pct"),),
    "system.int": (_cpu("interrupts_per_s"),),
    "system.csw": (_cpu("csw_per_s"),),
    "procs.run": (_cpu("run_queue"),),
    "procs.blk": (_cpu("blocked_tasks"),),
    "procs.new": (_cpu("forks_per_s"),),
    "dsk/total.read": (_disk("read_bytes_per_s"),),
    "dsk/total.writ": (_disk("write_bytes_per_s"),),
    "io/total.read": (_disk("reads_per_s"),),
    "io/total.writ": (_disk("writes_per_s"),),
    "net/total.recv": (_network("rx_bytes_per_s"),),
    "net/total.send": (_network("tx_bytes_per_s"),),
    "paging.in": (_memory("swap_in_per_s", 1 / PAGE_BYTES),),
    "paging.out": (_memory("swap_out_per_s", 1 / PAGE_BYTES),),
    "memory_usage.free": (_memory("free_bytes"),),
    "memory_usage.buff": (_memory("page_cache_bytes"),),
    "memory_usage.cach": (_memory("page_cache_bytes"),),
    "swap.used": (_memory("swap_total_bytes"),),
    "swap.free": (_memory("swap_total_bytes"), _memory("swap_free_bytes")),
    "virtual_memory.majpf": (_memory("major_faults_per_s"),),
    "virtual_memory.minpf": (_memory("minor_faults_per_s"),),
    "advanced_virtual_memory.scanK": (_memory("scan_per_s"),),
    "advanced_virtual_memory.scanD": (_memory("scan_per_s"),),
    "tcp_sockets.act": (NamedColumn("network", "established", of=(("interface", None),)),),
}
DBSHERLOCK: Final = {
    "AvgCpuUser": (_cpu("usr_pct"),),
    "AvgCpuSys": (_cpu("sys_pct"),),
    "AvgCpuIdle": (_cpu("idle_pct"),),
    "AvgCpuWai": (_cpu("wait_io_pct"),),
    "AvgCpuHiq": (_cpu("irq_pct"),),
    "AvgCpuSiq": (_cpu("irq_pct"),),
    "osNumberOfContextSwitches": (_cpu("csw_per_s"),),
    "osNumberOfProcessesCreated": (_cpu("forks_per_s"),),
    "osNumberOfProcessesCurrentlyRunning": (_cpu("run_queue"),),
    "osNumberOfSectorReads": (_disk("read_bytes_per_s", MIB),),
    "osNumberOfSectorWrites": (_disk("write_bytes_per_s", MIB),),
    "osNumberOfReadsIssued": (_disk("reads_per_s", MIB),),
    "osNumberOfWritesCompleted": (_disk("writes_per_s", MIB),),
    "osDiskUtilization": (_disk("util_pct"),),
    "osNetworkSendKB": (_network("tx_bytes_per_s", 1024.0),),
    "osNetworkRecvKB": (_network("rx_bytes_per_s", 1024.0),),
    "osNumberOfMajorPageFaults": (_memory("major_faults_per_s"),),
    "osNumberOfMinorPageFaults": (_memory("minor_faults_per_s"),),
}
CORE: Final = regex(r"cpu_(usr|sys|idl) \(core #(\d+)\)")
CORE_COLUMNS: Final = {"usr": "usr_pct", "sys": "sys_pct", "idl": "idle_pct"}
# Prefixes of names, and the world that they are of.
WORLDS: Final = (("mysql", "mysql"), ("dbms", "mysql"), ("os", "kernel"))


def places_of(name: str) -> tuple[NamedColumn, ...]:
    """Columns of the dataset that hold what a column of this name does; none where there is no such.

    >>> places_of("cpu_usr (core #2)")
    (NamedColumn(table='cpu', column='usr_pct', factor=1.0, of=(('cpu', 1),)),)
    """
    if core := CORE.fullmatch(name):
        return (_cpu(CORE_COLUMNS[core[1]], int(core[2]) - 1),)
    return DSTAT.get(name) or DBSHERLOCK.get(name) or ()


def world_of(name: str) -> str:
    """The component of `statistic` that a name is of: `table` where nothing tells.

    >>> world_of("mysql5_conn.Act"), world_of("tcp_sockets.tim"), world_of("orders")
    ('mysql', 'kernel', 'table')
    """
    known = next((world for prefix, world in WORLDS if name.startswith(prefix) and name != prefix), None)
    return known or ("kernel" if name.partition(".")[0] in DSTAT_GROUPS else "table")


DSTAT_GROUPS: Final = {name.partition(".")[0] for name in DSTAT} | {
    "load_avg", "interrupts", "async", "filesystem", "sysv_ipc", "file_locks", "raw", "sockets", "udp", "unix_sockets",
    "zones_memory",
}  # fmt: skip
