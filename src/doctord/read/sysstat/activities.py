"""What sar measures: its columns, by what they are about, and where each goes in the dataset.

A column that is not named here becomes a `statistic` under its own name; so does one that is `kept` beside the column
of the dataset that it fills. Names are those of sar's text; `sections.py` says how sadf's JSON calls them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

KIB, MIB = 1024.0, 1024.0**2


class To(NamedTuple):
    """A column of the dataset that a figure fills, times a factor; or to which it is added where something is there."""

    column: str
    factor: float = 1.0
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Activity:
    """One kind of figures.

    Attributes:
        name: What to call it; some names have rules of their own in native/src/sar/derived.rs.
        marks: Columns by which its heading is known.
        by_item: Whether each line is about one of several; null: it may be either.
        table: The table that has its columns.
        key: The column that says what a line is about.
        prefix: Stands before its columns in the name of a statistic, where they do not speak for themselves.
        columns: Where sar's columns go.
        kept: Columns that are statistics as well, because several go into one column of the dataset.
        left_out: Columns that follow from others.
    """

    name: str
    marks: frozenset[str]
    by_item: bool | None = None
    table: str | None = None
    key: str | None = None
    prefix: str = ""
    columns: Mapping[str, tuple[To, ...]] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _other(name: str, marks: str, *, prefix: str = "", key: str | None = None) -> Activity:
    return Activity(name, _names(marks), prefix=prefix, key=key)


_CPU = Activity(
    "cpu",
    _names("%usr %user"),
    table="cpu",
    key="cpu",
    columns={
        "%usr": (To("usr_pct"),),
        "%user": (To("usr_pct"),),
        "%nice": (To("usr_pct", adds=True),),
        "%guest": (To("usr_pct", adds=True),),
        "%gnice": (To("usr_pct", adds=True),),
        "%sys": (To("sys_pct"),),
        "%system": (To("sys_pct"),),
        "%iowait": (To("wait_io_pct"),),
        "%wio": (To("wait_io_pct"),),
        "%irq": (To("irq_pct"),),
        "%soft": (To("irq_pct", adds=True),),
        "%steal": (To("steal_pct"),),
        "%idle": (To("idle_pct"),),
    },
    kept=_names("%nice %guest %gnice %soft"),
)
_TASKS = Activity(
    "tasks",
    _names("proc/s cswch/s"),
    table="cpu",
    key="cpu",
    columns={"proc/s": (To("forks_per_s"),), "cswch/s": (To("csw_per_s"),)},
)
_QUEUE = Activity(
    "queue",
    _names("runq-sz"),
    table="cpu",
    key="cpu",
    columns={"runq-sz": (To("run_queue"),), "blocked": (To("blocked_tasks"),)},
)
_SYSTEM_CALLS = Activity(
    "system calls",
    _names("swrit/s"),
    table="cpu",
    key="cpu",
    columns={"scall/s": (To("syscalls_per_s"),), "fork/s": (To("forks_per_s"),)},
)
_SWITCHING = Activity("switching", _names("pswch/s"), table="cpu", key="cpu", columns={"pswch/s": (To("csw_per_s"),)})
_CPU_PRESSURE = Activity(
    "cpu pressure", _names("%scpu"), table="cpu", key="cpu", columns={"%scpu": (To("pressure_some_pct"),)}
)

_MEMORY = Activity(
    "memory",
    _names("kbmemfree kbswpfree"),
    table="memory",
    columns={
        "kbmemfree": (To("free_bytes", KIB),),
        "kbavail": (To("available_bytes", KIB),),
        "kbanonpg": (To("anon_bytes", KIB),),
        "kbpgtbl": (To("page_tables_bytes", KIB),),
        "kbshmem": (To("shmem_bytes", KIB),),
        "kbswpfree": (To("swap_free_bytes", KIB), To("swap_total_bytes", KIB)),
        "kbswpused": (To("swap_total_bytes", KIB, adds=True),),
    },
)
_PAGING = Activity(
    "paging",
    _names("pgpgin/s"),
    table="memory",
    columns={
        "pgpgin/s": (To("page_in_kib_per_s"),),
        "pgpgout/s": (To("page_out_kib_per_s"),),
        "fault/s": (To("minor_faults_per_s"),),
        "majflt/s": (To("major_faults_per_s"), To("minor_faults_per_s", -1.0, adds=True)),
        "pgscank/s": (To("scan_per_s"),),
        "pgscand/s": (To("scan_per_s", adds=True),),
    },
    kept=_names("pgscank/s pgscand/s"),
)
_SWAPPING = Activity(
    "swapping",
    _names("pswpin/s"),
    table="memory",
    columns={"pswpin/s": (To("swap_in_per_s"),), "pswpout/s": (To("swap_out_per_s"),)},
)
_PAGE_OUT = Activity("page-out", _names("pgscan/s"), table="memory", columns={"pgscan/s": (To("scan_per_s"),)})
_MEMORY_PRESSURE = Activity(
    "memory pressure",
    _names("%smem"),
    table="memory",
    columns={"%smem": (To("pressure_some_pct"),), "%fmem": (To("pressure_full_pct"),)},
)

_DISK = Activity(
    "disk",
    _names("tps %busy"),
    by_item=True,
    table="disk",
    key="device",
    columns={
        "tps": (To("requests_per_s"),),
        "rkB/s": (To("read_bytes_per_s", KIB),),
        "wkB/s": (To("write_bytes_per_s", KIB),),
        "rd_sec/s": (To("read_bytes_per_s", 512.0),),
        "wr_sec/s": (To("write_bytes_per_s", 512.0),),
        "aqu-sz": (To("queue"),),
        "avgqu-sz": (To("queue"),),
        "await": (To("request_ms"),),
        "%util": (To("util_pct"),),
        "%busy": (To("util_pct"),),
        "avque": (To("queue"),),
        "r+w/s": (To("requests_per_s"),),
        "avwait": (To("host_queue_ms"),),
        "avserv": (To("device_ms"),),
    },
    left_out=_names("areq-sz avgrq-sz"),
)
_FILE_SYSTEM = Activity(
    "filesystem",
    _names("MBfsfree"),
    table="filesystem",
    key="device",
    columns={
        "MBfsfree": (To("size_bytes", MIB),),
        "MBfsused": (To("used_bytes", MIB), To("size_bytes", MIB, adds=True)),
        "%Iused": (To("inodes_used_pct"),),
    },
    kept=_names("MBfsfree"),
)

_INTERFACE = Activity(
    "interface",
    _names("rxpck/s rxbyt/s"),
    table="network",
    key="interface",
    columns={
        "rxkB/s": (To("rx_bytes_per_s", KIB),),
        "txkB/s": (To("tx_bytes_per_s", KIB),),
        "rxbyt/s": (To("rx_bytes_per_s"),),
        "txbyt/s": (To("tx_bytes_per_s"),),
    },
)
_INTERFACE_ERRORS = Activity(
    "interface errors",
    _names("rxerr/s"),
    table="network",
    key="interface",
    columns={
        "rxerr/s": (To("errors_per_s"),),
        "txerr/s": (To("errors_per_s", adds=True),),
        "rxdrop/s": (To("errors_per_s", adds=True),),
        "txdrop/s": (To("errors_per_s", adds=True),),
    },
    kept=_names("rxerr/s txerr/s rxdrop/s txdrop/s"),
)
_TCP = Activity(
    "tcp", _names("active/s"), table="network", prefix="tcp.", columns={"oseg/s": (To("segments_out_per_s"),)}
)
_TCP_ERRORS = Activity(
    "tcp errors",
    _names("atmptf/s"),
    table="network",
    prefix="tcp.",
    columns={"retrans/s": (To("retransmits_per_s"),), "retrseg/s": (To("retransmits_per_s"),)},
)

# Those come first whose marks are surer: the first whose marks are among the columns of a heading is it.
ACTIVITIES = (
    _CPU,
    _TASKS,
    _other("interrupts", "INTR"),
    _SWAPPING,
    _PAGING,
    _DISK,
    _other("io", "tps"),
    _other("memory changes", "frmpg/s"),
    _MEMORY,
    _other("huge pages", "kbhugfree"),
    _other("kernel tables", "dentunusd"),
    _QUEUE,
    _INTERFACE,
    _INTERFACE_ERRORS,
    _SYSTEM_CALLS,
    _SWITCHING,
    _other("nfs server", "scall/s badcall/s", prefix="nfsd."),
    _TCP_ERRORS,
    _TCP,
    _other("nfs", "call/s", prefix="nfs."),
    _other("sockets", "totsck tcp6sck"),
    _other("datagrams", "irec/s ihdrerr/s imsg/s ierr/s idgm/s irec6/s ihdrer6/s imsg6/s ierr6/s idgm6/s"),
    _other("fibre channel", "fch_rxf/s"),
    _other("softnet", "total/s dropd/s", prefix="softnet.", key="cpu"),
    _other("frequency", "MHz wghMHz", key="cpu"),
    _other("sensors", "rpm degC inV %cap"),
    _other("ignored", "idvendor"),
    _FILE_SYSTEM,
    _CPU_PRESSURE,
    _other("io pressure", "%sio"),
    _MEMORY_PRESSURE,
    _PAGE_OUT,
    _other("serial lines", "rcvin/s rawch/s", prefix="tty."),
    _other("buffers", "bread/s"),
    _other("name lookup", "iget/s"),
    _other("system tables", "proc-sz text-sz inod-sz"),
    _other("messages", "msg/s"),
    _other("page-in", "atch/s"),
    _other("free memory", "freemem"),
    _other("kernel memory", "sml_mem"),
    _other("paging space", "cycle/s"),
    _other("kernel processes", "ksched/s"),
)


def free_memory(page_bytes: int) -> Activity:
    """Free memory of Solaris, which counts pages of the machine and blocks of the swap space."""
    columns = {"freemem": (To("free_bytes", page_bytes),), "freeswap": (To("swap_free_bytes", 512.0),)}
    return Activity("free memory", _names("freemem"), table="memory", columns=columns)
