"""Hosts for the tests of causes: synthetic datasets, healthy unless told otherwise.

    dataset = host(cpu={"idle_pct": 1.0}, other_processes=[{"command": "stress", "usr_pct": 95.0}])

Everything is constant over the interval: one row per second and entity. A figure set to None was not measured; a table
named in `without` was not filled by any source.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

from doctord.dataset.dataset import Dataset

Row = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOST = "host"
# Of a host on which sessions wait and nothing else is wrong: that no cause explains what they wait for.
UNEXPLAINED = frozenset({"other_waits"})
DB = "postgresql:5432"
GIB = 2**30

# A virtual machine with two CPUs and a paced pgbench: commits on a real disk are most of very little database time.
HEALTHY_TIME = {("Commit", "WALSync"): 0.20, ("CPU", "CPU"): 0.08, ("User I/O", "DataFileRead"): 0.02}
HEALTHY_CPU = {
    "usr_pct": 14.0, "sys_pct": 6.0, "wait_io_pct": 9.0, "irq_pct": 1.0, "steal_pct": 0.2, "idle_pct": 69.8,
    "run_queue": 1.0, "csw_per_s": 4000.0, "forks_per_s": 2.0, "pressure_some_pct": 3.0,
}  # fmt: skip
HEALTHY_MEMORY = {
    "total_bytes": 24 * GIB, "free_bytes": 4 * GIB, "available_bytes": 20 * GIB, "page_cache_bytes": 15 * GIB,
    "page_tables_bytes": GIB // 50, "shmem_bytes": GIB // 4, "swap_total_bytes": 0, "swap_free_bytes": 0,
    "huge_pages_total": 0, "huge_pages_free": 0, "huge_page_bytes": 2**21, "swap_in_per_s": 0.0, "swap_out_per_s": 0.0,
    "scan_per_s": 0.0, "major_faults_per_s": 0.0, "pressure_some_pct": 0.0, "pressure_full_pct": 0.0,
}  # fmt: skip
HEALTHY_DISK = {
    "device": "vda", "reads_per_s": 10.0, "writes_per_s": 300.0, "read_bytes_per_s": 80e3, "write_bytes_per_s": 3e6,
    "read_ms": 0.3, "write_ms": 0.9, "host_queue": 0.0, "device_queue": 0.3, "util_pct": 20.0,
}  # fmt: skip
HEALTHY_TCP = {
    "segments_out_per_s": 900.0, "retransmits_per_s": 0.0, "listen_drops_per_s": 0.0, "listen_overflows_per_s": 0.0,
    "accept_queue": 0.0,
}  # fmt: skip
HEALTHY_FILESYSTEM = {
    "mount": "/", "device": "/dev/vda", "size_bytes": 250 * GIB, "used_bytes": 60 * GIB, "inodes_used_pct": 4.0,
}  # fmt: skip
HEALTHY_BACKEND = {
    "user": "postgres", "usr_pct": 3.0, "sys_pct": 1.5, "run_wait_pct": 0.3, "io_wait_pct": None,
    "memory_wait_pct": None, "vcsw_per_s": 400.0, "icsw_per_s": 3.0, "major_faults_per_s": 0.0, "rss_bytes": GIB // 20,
    "read_bytes_per_s": 20e3, "write_bytes_per_s": 400e3,
}  # fmt: skip
HEALTHY_LOG_WRITER = HEALTHY_BACKEND | {
    "command": "postgres: walwriter", "usr_pct": 0.3, "sys_pct": 0.3, "vcsw_per_s": 25.0, "icsw_per_s": 0.2,
}  # fmt: skip
OUTSIDER = HEALTHY_BACKEND | {
    "command": "sshd", "user": "root", "usr_pct": 0.1, "sys_pct": 0.1, "run_wait_pct": 0.0, "read_bytes_per_s": 0.0,
    "write_bytes_per_s": 0.0,
}  # fmt: skip


def host(
    *,
    seconds: int = 20,
    start: datetime = START,
    time: Mapping[tuple[str, str], float] = HEALTHY_TIME,
    cpu: Mapping[str, Any] | None = None,
    cpus: int = 2,
    memory: Mapping[str, Any] | None = None,
    disk: Mapping[str, Any] | None = None,
    tcp: Mapping[str, Any] | None = None,
    filesystems: Rows = ({},),
    backend: Mapping[str, Any] | None = None,
    backends: int = 4,
    log_writer: Mapping[str, Any] | None = None,
    other_processes: Rows = (),
    sessions: Rows = (),
    background: Rows = (),
    statements: Rows = (),
    cgroup: Mapping[str, float] | None = None,
    cgroup_io: Mapping[str, float] | None = None,
    kernel: Mapping[tuple[str | None, str], float] | None = None,
    postgres: Mapping[tuple[str | None, str], float] | None = None,
    settings: Mapping[str, str] | None = None,
    events: Rows = (),
    extra: Mapping[str, Rows] | None = None,
    without: Collection[str] = (),
) -> Dataset:
    """A dataset of a host who is healthy but for what the arguments change.

    Args:
        seconds: length of the interval, one row per second and entity.
        start: when it began.
        time: average number of active client sessions by wait class and event.
        cpu: changes to the whole-host row and the row of each CPU.
        cpus: number of CPUs.
        memory: changes to the row of `memory`.
        disk: changes to the row of the disk vda.
        tcp: changes to the row of TCP as a whole.
        filesystems: changes, one mapping per mount.
        backend: changes to each process of a client session.
        backends: number of client sessions' processes, pids from 1000; samples of `time` are dealt out over them.
        log_writer: changes to the process `postgres: walwriter`, pid 900.
        other_processes: changes, one mapping per process outside the database, pids from 5000.
        sessions: further sampled sessions, one sample per second each; `samples` limits them to the first so many.
        background: changes, one mapping per further background process of the database, pids from 910.
        statements: rows of `statement`.
        cgroup: figures of the database's control group `/postgres`.
        cgroup_io: figures of that group on the device vda.
        kernel: figures of component kernel by entity and name.
        postgres: figures of component postgresql by entity and name.
        settings: PostgreSQL's settings in force.
        events: rows of `event`.
        extra: further rows of any table, each repeated every second.
        without: tables to leave out.
    """
    host_cpu = HEALTHY_CPU | dict(cpu or {})
    per_second = {
        "cpu": [host_cpu, *({**host_cpu, "cpu": number, "run_queue": None} for number in range(cpus))],
        "memory": [HEALTHY_MEMORY | dict(memory or {})],
        "disk": [HEALTHY_DISK | dict(disk or {})],
        "network": [HEALTHY_TCP | dict(tcp or {})],
        "filesystem": [HEALTHY_FILESYSTEM | dict(changes) for changes in filesystems],
        "process": [
            *_processes(
                _of_cpu(time, backends) | dict(backend or {}), backends, log_writer or {}, background, other_processes
            )
        ],
        "session": [*_sessions(time, backends)],
        "statement": [{"db": DB, "database": "bench", **row} for row in statements],
        "statistic": [*_statistics(cgroup or {}, cgroup_io or {}, kernel or {}, postgres or {})],
    }
    for table, rows in (extra or {}).items():
        per_second.setdefault(table, []).extend(dict(row) for row in rows)
    tables = {name: [*_repeated(rows, seconds, start)] for name, rows in per_second.items()}
    for number, row in enumerate(sessions):
        one = dict(row)
        samples = one.pop("samples", seconds)
        tables["session"] += _repeated([_session(7000 + number) | one], samples, start)
    end = {"ts": start + timedelta(seconds=seconds), "host": HOST}
    tables["event"] = tables.get("event", []) + [end | dict(row) for row in events]
    tables["setting"] = tables.get("setting", []) + [
        end | {"component": "postgresql", "db": DB, "name": name, "value": value}
        for name, value in (settings or {}).items()
    ]
    return Dataset.from_rows(**{name: rows for name, rows in tables.items() if name not in without})


def _repeated(rows: Rows, seconds: int, start: datetime) -> Iterator[Row]:
    for second in range(1, seconds + 1):
        for row in rows:
            yield {"ts": start + timedelta(seconds=second), "interval_s": 1.0, "host": HOST, **row}


def _of_cpu(time: Mapping[tuple[str, str], float], backends: int) -> Row:
    """What a healthy backend used of CPUs, no more than its samples say."""
    columns = ("usr_pct", "sys_pct", "run_wait_pct")
    each_pct = 100 * time.get(("CPU", "CPU"), 0.0) / max(backends, 1)
    part = min(each_pct / sum(HEALTHY_BACKEND[column] for column in columns), 1.0)
    return {column: HEALTHY_BACKEND[column] * part for column in columns}


def _processes(
    backend: Mapping[str, Any],
    backends: int,
    log_writer: Mapping[str, Any],
    background: Rows,
    other_processes: Rows,
) -> Iterator[Row]:
    started = START - timedelta(days=1)
    for number in range(backends):
        title = {"pid": 1000 + number, "started": started, "command": "postgres: client backend"}
        yield HEALTHY_BACKEND | title | dict(backend)
    yield HEALTHY_LOG_WRITER | {"pid": 900, "started": started} | dict(log_writer)
    for number, changes in enumerate(background):
        yield HEALTHY_LOG_WRITER | {"pid": 910 + number, "started": started} | dict(changes)
    for number, changes in enumerate(other_processes):
        yield OUTSIDER | {"pid": 5000 + number, "started": started} | dict(changes)


def _session(sid: int) -> Row:
    return {
        "db": DB, "database": "bench", "sid": sid, "serial": sid, "pid": sid, "kind": "client", "user": "app",
        "program": "app", "state": "active", "wait_class": "CPU", "event": "CPU", "in_state_s": 0.01,
    }  # fmt: skip


def _sessions(time: Mapping[tuple[str, str], float], backends: int) -> Iterator[Row]:
    """Samples that add up to the average active sessions asked for, dealt out over the backends."""
    number = 0
    for (wait_class, event), average in time.items():
        count = ceil(average)
        for _ in range(count):
            row = _session(1000 + number % max(backends, 1))
            yield row | {"wait_class": wait_class, "event": event, "interval_s": average / count}
            number += 1


def _statistics(
    cgroup: Mapping[str, float],
    cgroup_io: Mapping[str, float],
    kernel: Mapping[tuple[str | None, str], float],
    postgres: Mapping[tuple[str | None, str], float],
) -> Iterator[Row]:
    for entity, values in (("/postgres", cgroup), ("/postgres vda", cgroup_io)):
        for name, value in values.items():
            yield {"component": "cgroup", "entity": entity, "name": name, "value": value, "kind": _kind(name)}
    for component, db, figures in (("kernel", None, kernel), ("postgresql", DB, postgres)):
        for (about, name), value in figures.items():
            yield {
                "component": component, "db": db, "entity": about, "name": name, "value": value, "kind": _kind(name),
            }  # fmt: skip


def _kind(name: str) -> str:
    return "rate" if name.endswith("per_s") and "limit" not in name else "gauge"
