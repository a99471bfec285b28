"""The vocabulary: every table that a source may fill, with its columns, units and meaning.

Names are the field's own (Oracle's for waits, sysstat's and the kernel's for hosts). A unit stands in the name.
This file is plain data and imports nothing heavy: the recorder, which must stay small, reads it too.
`docs/reference/tables.md` is made from it.
"""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

ColumnType: TypeAlias = Literal["ts", "f64", "i64", "str"]


class Column(NamedTuple):
    """One column: its name (unit included), its type, and what it means."""

    name: str
    type: ColumnType
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row is, its columns, and the entity that its rows are about (the sort key beside time)."""

    name: str
    row: str
    columns: tuple[Column, ...]
    entity: tuple[str, ...]

    @property
    def columns_named(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def layout(self) -> list[tuple[str, str]]:
        """Name and type of each column, in order: what the native builders are given."""
        return [(column.name, column.type) for column in self.columns]


_EVERY_ROW: Final = (
    Column("ts", "ts", "End of the interval, UTC, microseconds."),
    Column("interval_s", "f64", "Seconds that the row covers; null for a point in time."),
    Column("host", "str", "Name of the host that was observed."),
)


def _table(name: str, row: str, *columns: tuple[str, ColumnType, str], entity: tuple[str, ...] = ()) -> Table:
    return Table(name, row, _EVERY_ROW + tuple(Column(*column) for column in columns), entity)


PLAN_HOLDS_S: Final = 4000
"""A plan that was read no longer ago than this holds: it is asked for again within the hour."""

TABLES: Final[dict[str, Table]] = {
    table.name: table
    for table in (
        _table(
            "cpu",
            "one CPU, or all of them together (cpu is null), over an interval",
            ("cpu", "i64", "CPU number; null for the whole host."),
            ("usr_pct", "f64", "User time with nice, % of the CPU (of all CPUs in the whole-host row)."),
            ("sys_pct", "f64", "Kernel time without interrupts, %."),
            ("wait_io_pct", "f64", "Idle time with a block I/O outstanding, %. Idle time: never evidence of anything."),
            ("irq_pct", "f64", "Hard and soft interrupts, %."),
            ("steal_pct", "f64", "Time the hypervisor gave to others, %."),
            ("idle_pct", "f64", "Idle time without outstanding I/O, %."),
            ("run_queue", "f64", "Tasks running or ready to run at the moment of the sample, without the sampler."),
            ("blocked_tasks", "f64", "Tasks that wait for I/O and cannot be woken, at the moment of the sample."),
            ("csw_per_s", "f64", "Context switches."),
            ("icsw_per_s", "f64", "Involuntary context switches."),
            ("migrations_per_s", "f64", "Tasks moved between CPUs."),
            ("interrupts_per_s", "f64", "Hard interrupts."),
            ("syscalls_per_s", "f64", "System calls."),
            ("xcalls_per_s", "f64", "Cross calls between CPUs."),
            ("forks_per_s", "f64", "Processes and threads created."),
            ("pressure_some_pct", "f64", "PSI: share of time in which some task waited for a CPU, %."),
            entity=("cpu",),
        ),
        _table(
            "memory",
            "the host's memory",
            ("total_bytes", "i64", "Memory the kernel manages."),
            ("free_bytes", "i64", "Unused memory."),
            ("available_bytes", "i64", "The kernel's estimate of what a new program could get without swapping."),
            ("anon_bytes", "i64", "Private, not file-backed memory of processes."),
            ("page_cache_bytes", "i64", "File pages and buffers in memory, without shared memory."),
            ("page_tables_bytes", "i64", "Memory spent on page tables."),
            ("shmem_bytes", "i64", "Shared memory and tmpfs."),
            ("swap_total_bytes", "i64", "Swap space."),
            ("swap_free_bytes", "i64", "Unused swap space."),
            ("huge_pages_total", "i64", "Huge pages in the pool, of huge_page_bytes each."),
            ("huge_pages_free", "i64", "Huge pages not in use."),
            ("huge_pages_rsvd", "i64", "Huge pages promised but not yet in use."),
            ("huge_page_bytes", "i64", "Size of a huge page."),
            ("page_in_kib_per_s", "f64", "KiB read from disk by paging (pgpgin), as sar -B counts them."),
            ("page_out_kib_per_s", "f64", "KiB written to disk by paging (pgpgout)."),
            ("swap_in_per_s", "f64", "Pages swapped in."),
            ("swap_out_per_s", "f64", "Pages swapped out."),
            ("scan_per_s", "f64", "Pages scanned for reclaim, by kswapd and directly."),
            ("minor_faults_per_s", "f64", "Page faults served without I/O."),
            ("major_faults_per_s", "f64", "Page faults that needed I/O."),
            ("pressure_some_pct", "f64", "PSI: share of time in which some task waited for memory, %."),
            ("pressure_full_pct", "f64", "PSI: share of time in which all runnable tasks waited for memory, %."),
        ),
        _table(
            "disk",
            "one block device",
            ("device", "str", "Kernel name of the device."),
            ("reads_per_s", "f64", "Reads completed."),
            ("writes_per_s", "f64", "Writes completed."),
            ("requests_per_s", "f64", "Reads and writes together, where the source does not tell them apart."),
            ("read_bytes_per_s", "f64", "Bytes read."),
            ("write_bytes_per_s", "f64", "Bytes written."),
            ("read_ms", "f64", "Mean time of a read from entering the block layer to completion; null without reads."),
            ("write_ms", "f64", "Mean time of a write, likewise; null without writes."),
            ("request_ms", "f64", "Mean time of a read or write, likewise, where the source does not tell them apart."),
            ("queue", "f64", "Mean number of requests outstanding, where the source does not split it as below."),
            ("host_queue", "f64", "Mean number of requests waiting in the host (wait, avque)."),
            ("device_queue", "f64", "Mean number of requests in flight at the device (actv)."),
            ("host_queue_ms", "f64", "Mean time of a request in the host queue."),
            ("device_ms", "f64", "Mean time of a request at the device."),
            ("util_pct", "f64", "Share of time with at least one request outstanding, %."),
            entity=("device",),
        ),
        _table(
            "filesystem",
            "one mounted file system",
            ("mount", "str", "Mount point."),
            ("device", "str", "Device or source that is mounted."),
            ("size_bytes", "i64", "Size."),
            ("used_bytes", "i64", "Used: the size less what is free."),
            ("available_bytes", "i64", "Free for who is not root; null: that is not told apart from what is free."),
            ("inodes_used_pct", "f64", "Inodes in use, %; null where the file system has no fixed number."),
            entity=("mount", "device"),
        ),
        _table(
            "network",
            "one interface, or TCP as a whole (interface is null)",
            ("interface", "str", "Interface name; null for TCP on the host."),
            ("rx_bytes_per_s", "f64", "Bytes received."),
            ("tx_bytes_per_s", "f64", "Bytes sent."),
            ("errors_per_s", "f64", "Errors and drops, both ways."),
            ("segments_out_per_s", "f64", "TCP segments sent, retransmits not counted."),
            ("retransmits_per_s", "f64", "TCP segments sent again."),
            ("listen_drops_per_s", "f64", "Connection requests dropped by a listening socket, for any reason."),
            ("listen_overflows_per_s", "f64", "Connection requests dropped because an accept queue was full."),
            ("accept_queue", "f64", "Connections waiting to be accepted, over all listening sockets."),
            ("established", "i64", "Established TCP connections."),
            entity=("interface",),
        ),
        _table(
            "process",
            "one process over an interval, with the microstates of Solaris' prstat -m",
            ("pid", "i64", "Process id."),
            ("ppid", "i64", "Parent's process id."),
            ("started", "ts", "Start time; with pid it identifies the process for good."),
            ("command", "str", "Name; for PostgreSQL's processes the title with its role. Never the arguments."),
            ("user", "str", "Effective user."),
            ("unit", "str", "systemd unit, container, or else control group that it runs in; null for the root group."),
            ("usr_pct", "f64", "User time, % of one CPU."),
            ("sys_pct", "f64", "Kernel time, % of one CPU."),
            ("cpu_pct", "f64", "Both together, % of one CPU, where the source does not tell them apart."),
            ("run_wait_pct", "f64", "Time ready to run but waiting for a CPU, %."),
            ("io_wait_pct", "f64", "Time waiting for block I/O, %; null unless delay accounting counts it."),
            ("memory_wait_pct", "f64", "Time waiting for memory (reclaim, swap, refault), %; null likewise."),
            ("lock_pct", "f64", "Time waiting for a user lock, %."),
            ("sleep_pct", "f64", "The rest of the interval: asleep, for whatever reason is not named above."),
            ("vcsw_per_s", "f64", "Voluntary context switches."),
            ("icsw_per_s", "f64", "Involuntary context switches."),
            ("migrations_per_s", "f64", "Moves between CPUs."),
            ("minor_faults_per_s", "f64", "Page faults served without I/O."),
            ("major_faults_per_s", "f64", "Page faults that needed I/O."),
            ("rss_bytes", "i64", "Resident memory, shared pages included."),
            (
                "anon_bytes",
                "i64",
                "Resident memory of its own (RssAnon), of a database server's processes; as of the last reading.",
            ),
            ("swap_bytes", "i64", "Memory of its own in swap (VmSwap), likewise."),
            ("read_bytes_per_s", "f64", "Bytes fetched from storage."),
            ("write_bytes_per_s", "f64", "Bytes sent to storage."),
            ("syscalls_per_s", "f64", "System calls."),
            ("threads", "i64", "Threads."),
            entity=("pid", "started"),
        ),
        _table(
            "wait",
            "one wait event of one database server over an interval",
            ("db", "str", "Database server, as in `session`."),
            ("instance", "str", "Instance of a clustered server; null elsewhere."),
            ("wait_class", "str", "Class: CPU, User I/O, System I/O, Commit, Application, Concurrency, ..."),
            (
                "event",
                "str",
                "The server's own name; `CPU`: on one or waiting for it, 0 too where sessions are sampled.",
            ),
            ("wait_kind", "str", "What is waited for, in the same words for all vendors; null where it is not known."),
            ("kind", "str", "`foreground` (part of database time) or `background`; null: the source adds both up."),
            ("waits_per_s", "f64", "Waits; null when sampled."),
            ("avg_wait_ms", "f64", "Mean duration of a wait; null when sampled."),
            ("average_active_sessions", "f64", "Seconds waited per second: the average number of sessions waiting."),
            ("timeouts_per_s", "f64", "Waits that timed out."),
            entity=("db", "instance", "event", "kind"),
        ),
        _table(
            "latency",
            "one bucket of a latency histogram over an interval",
            ("db", "str", "Database server; null for the host's own."),
            ("instance", "str", "Instance of a clustered server; null elsewhere."),
            ("subject", "str", "What was timed: a wait event, a system call, a device operation."),
            ("gt_us", "f64", "Lower edge of the bucket, microseconds, not in it itself; 0 for the first."),
            ("le_us", "f64", "Upper edge of the bucket, microseconds; null for everything above the last edge."),
            ("count", "i64", "Occurrences. Buckets without any may be left out; no row at all means not measured."),
            ("waited_us", "f64", "Time of these occurrences in sum, where the source gives it; null otherwise."),
            entity=("db", "instance", "subject", "gt_us"),
        ),
        _table(
            "session",
            "one sampled session that was not idle; interval_s is the time that the sample stands for",
            ("db", "str", "Database server: `postgresql:PORT`."),
            ("database", "str", "Database inside the server."),
            ("sid", "i64", "Session id (PostgreSQL: the backend's pid)."),
            ("serial", "i64", "Tells sessions apart that reuse a sid (PostgreSQL: start time, microseconds)."),
            (
                "kind",
                "str",
                "`client`, `parallel worker` of one, `replication applier` of MySQL, or the server's own name.",
            ),
            ("user", "str", "Database user."),
            ("program", "str", "What the client calls itself; of an autovacuum worker what it is at."),
            ("client", "str", "Client's address; null for a local socket."),
            ("state", "str", "active, idle in transaction, ..."),
            ("wait_class", "str", "Class of the wait, `CPU` when the session reports none."),
            ("event", "str", "Wait event, `CPU` when the session reports none."),
            ("wait_kind", "str", "What is waited for, as in `wait`."),
            ("statement_id", "str", "Identifier of the normalised statement; null when the server computes none."),
            ("blocker_sid", "i64", "First session that blocks this one; null when nothing does or it was not asked."),
            ("in_state_s", "f64", "Seconds since the state last changed."),
            ("statement_s", "f64", "Seconds since the running (or last) statement began."),
            ("transaction_s", "f64", "Seconds since the transaction began; null outside a transaction."),
            (
                "xmin_age",
                "i64",
                "Transactions since the oldest one that this session may still see, or is: vacuum keeps those.",
            ),
            ("pid", "i64", "Operating-system process."),
            entity=("db", "sid", "serial"),
        ),
        _table(
            "statement",
            "one normalised statement over an interval",
            ("db", "str", "Database server."),
            ("instance", "str", "Instance of a clustered server; null elsewhere."),
            ("database", "str", "Database inside the server."),
            ("statement_id", "str", "As in `session`."),
            ("text", "str", "Normalised text: constants replaced, never row data."),
            ("calls_per_s", "f64", "Executions."),
            ("elapsed_s_per_s", "f64", "Execution time: average number of sessions running it."),
            ("cpu_s_per_s", "f64", "CPU time."),
            ("rows_per_s", "f64", "Rows returned or affected."),
            ("read_blocks_per_s", "f64", "Blocks read from the operating system."),
            ("hit_blocks_per_s", "f64", "Blocks found in the buffer pool."),
            ("temp_bytes_per_s", "f64", "Bytes of temporary files written and read."),
            ("wal_bytes_per_s", "f64", "Redo (WAL) generated."),
            ("plan_id", "str", "Identifier of the plan."),
            entity=("db", "instance", "statement_id"),
        ),
        _table(
            "plan",
            "one node of the plan of a statement, as the planner makes it for no values in particular",
            ("db", "str", "Database server."),
            ("database", "str", "Database inside the server."),
            ("statement_id", "str", "As in `session`."),
            ("step", "i64", "Number of the node, from 0 (the top); each stands before those below it."),
            ("parent", "i64", "The node above; null for the top."),
            ("kind", "str", "What it does, in EXPLAIN's words (`Seq Scan`, `Hash Anti Join`, `HashAggregate`)."),
            ("relationship", "str", "What it is to the node above: `Outer`, `Inner`, `SubPlan 1`, `CTE x`, ..."),
            ("relation", "str", "Table (with its schema), function or CTE that it reads or changes."),
            (
                "alias",
                "str",
                "What the statement, or a view, calls the relation: conditions have it before their columns.",
            ),
            ("index", "str", "Index that it goes by."),
            ("rows", "f64", "Rows that the planner expects of each run of it."),
            ("width_bytes", "f64", "Bytes of a row, as it expects."),
            ("cost", "f64", "Cost of a run up to its last row, in the planner's units (seq_page_cost is 1)."),
            ("condition", "str", "What it looks up or joins by (Index Cond, Hash Cond, ...), without constants."),
            ("filter", "str", "What it throws rows away by (Filter, Join Filter, ...), without constants."),
            ("detail", "str", "What else is told of it: sort, group and cache keys, workers."),
            entity=("db", "database", "statement_id", "step"),
        ),
        _table(
            "statistic",
            "any other named figure",
            ("component", "str", "Where the name comes from: postgresql, cgroup, kernel, doctord, ..."),
            ("db", "str", "Database server; null for the host."),
            ("instance", "str", "Instance of a clustered server; null elsewhere."),
            ("entity", "str", "What the figure is about: a database, relation, slot, control group; null: all of it."),
            ("name", "str", "The source's own name, its view before the dot (`pg_stat_database.deadlocks`)."),
            ("value", "f64", "The figure."),
            ("unit", "str", "Unit, `per_s` in a rate's."),
            ("kind", "str", "gauge (a reading) or rate (an increase per second)."),
            entity=("component", "db", "instance", "entity", "name"),
        ),
        _table(
            "space",
            "one tablespace, data file, database or relation",
            ("db", "str", "Database server."),
            ("database", "str", "Database inside the server."),
            ("kind", "str", "tablespace, datafile, database, table, index."),
            ("name", "str", "Its name, schema included."),
            ("used_bytes", "i64", "Space taken."),
            ("available_bytes", "i64", "Space left to grow."),
            ("bloat_bytes", "i64", "Estimated space that holds nothing."),
            ("live_rows", "i64", "Rows, as the server estimates them."),
            ("dead_rows", "i64", "Dead row versions not yet removed."),
            entity=("db", "database", "name"),
        ),
        _table(
            "setting",
            "one configured value",
            ("component", "str", "postgresql, kernel, cgroup, ..."),
            ("db", "str", "Database server; null for the host."),
            ("instance", "str", "Instance of a clustered server; null elsewhere."),
            ("name", "str", "The component's own name of the setting."),
            ("value", "str", "Value in force, in the unit given."),
            ("unit", "str", "Unit of the value; null when it has none."),
            ("source", "str", "What set it: default, configuration file, command line; file: read from one, unasked."),
            ("source_file", "str", "File that set it."),
            ("line", "i64", "Line in that file."),
            entity=("component", "db", "instance", "name", "source_file", "line"),
        ),
        _table(
            "block_io",
            "one request in an I/O trace",
            ("device", "str", "Kernel name of the device."),
            ("operation", "str", "read, write, flush, discard."),
            ("sector", "i64", "First sector of 512 bytes."),
            ("bytes", "i64", "Length."),
            ("latency_us", "f64", "Time at the device."),
            ("queue_us", "f64", "Time in the host queue."),
            entity=("device",),
        ),
        _table(
            "translation",
            "address translation of one CPU, mode and page size",
            ("cpu", "i64", "CPU number."),
            ("mode", "str", "user or kernel."),
            ("page_bytes", "i64", "Page size."),
            ("itlb_misses_per_s", "f64", "Instruction TLB misses."),
            ("itlb_pct", "f64", "Time spent on them, %."),
            ("itsb_misses_per_s", "f64", "Instruction TSB misses."),
            ("itsb_pct", "f64", "Time spent on them, %."),
            ("dtlb_misses_per_s", "f64", "Data TLB misses."),
            ("dtlb_pct", "f64", "Time spent on them, %."),
            ("dtsb_misses_per_s", "f64", "Data TSB misses."),
            ("dtsb_pct", "f64", "Time spent on them, %."),
            entity=("cpu", "mode", "page_bytes"),
        ),
        _table(
            "guest",
            "one virtual machine as its hypervisor sees it",
            ("guest", "str", "Name."),
            ("cpu_pct", "f64", "CPU used, % of one."),
            ("page_wait_pct", "f64", "Samples in which it waited for a page, %."),
            ("resident_bytes", "i64", "Memory it holds."),
            ("paged_out_bytes", "i64", "Memory the hypervisor paged out."),
            ("page_reads_per_s", "f64", "Pages brought back."),
            entity=("guest",),
        ),
        _table(
            "timing",
            "one run or step of a workload",
            ("run", "str", "Name of the run."),
            ("step", "str", "Name of the step; null for the whole run."),
            ("duration_s", "f64", "How long it took."),
            ("requests", "i64", "Requests served."),
            ("over_limit", "i64", "Requests over the service-level limit."),
            entity=("run", "step"),
        ),
        _table(
            "event",
            "something that happened, or something that could not be seen (kind `not measured`)",
            (
                "kind",
                "str",
                "restart, crash, process crashed, checkpoint, settings change, gap, no answer and refused "
                "(`interval_s`: for how long), not_measured, ...",
            ),
            ("db", "str", "Database server; null for the host."),
            ("subject", "str", "What it happened to; for `not measured`, what could not be read."),
            ("unit", "str", "Control group that it happened in, whole; null for the host, or where it is not told."),
            ("text", "str", "What happened, or why it could not be read."),
            ("hint", "str", "What to do about it; for `not measured`, how to grant it."),
            entity=("kind", "subject"),
        ),
    )
}

# By table the columns that say what a row is about: files are sorted by these, and then by time.
ENTITIES: Final = {table.name: list(table.entity) for table in TABLES.values()}


# What is told once and then holds: settings, and among the events what could not be seen.
LASTING: Final = ("setting", "event")
# Those of which rows of before an interval hold in it: a plan for an hour, these for ever.
HOLDING: Final = (*LASTING, "plan")

# `kind` of a session of a client; and those whose time is database time: a parallel worker spends it on a client's
# behalf too, as Oracle counts its PX servers.
CLIENT: Final = "client"
WORKING: Final = (CLIENT, "parallel worker")
# Of MySQL's threads that apply what a replica has received; PostgreSQL has names of its own.
APPLIER: Final = "replication applier"

# Words of a column that lakes of before still hold, by table and column, and what is said instead.
OLD_WORDS: Final = {("session", "kind"): {"client backend": CLIENT}, ("event", "kind"): {"unseen": "not measured"}}

# What columns are called in lakes of before.
OLD_NAMES: Final = {
    ("disk", "util_pct"): "busy_pct",
    ("memory", "page_in_kib_per_s"): "page_in_per_s",
    ("memory", "page_out_kib_per_s"): "page_out_per_s",
    ("wait", "average_active_sessions"): "waited_s_per_s",
}

# `source` of a setting that a configuration file gave, and no running server.
FROM_FILE: Final = "file"

# The same of what a person wrote down: what is not in it may be set all the same.
NOTED: Final = f"{FROM_FILE}, noted by hand"

# What an event of kind `not measured` is about where a report is a mean of all the time since boot.
MEANS_SINCE_BOOT: Final = "what CPUs and disks did at these times"
