"""What follows from several metrics of one scrape together: the whole host of its CPUs, the time of one request, ..."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from doctord.dataset.waits.events import find, kind_of

Row: TypeAlias = dict[str, Any]


def whole_host(cpus: dict[int | None, Row]) -> None:
    """Adds the whole host: the mean of its CPUs."""
    single = [row for cpu, row in cpus.items() if cpu is not None]
    for column in {column for row in single for column in row}:
        cpus.setdefault(None, {})[column] = sum(row.get(column, 0.0) for row in single) / len(single)


def _disk(disk: Row) -> None:
    """Milliseconds of I/O per second become those of one request; null without requests."""
    for time, count in (("read_ms", "reads_per_s"), ("write_ms", "writes_per_s")):
        if (spent := disk.pop(time, None)) is not None and disk.get(count):
            disk[time] = spent / disk[count]


def _memory(memory: Row) -> None:
    """Shared memory is counted in the cache, and major faults among all faults."""
    for whole, part in (("page_cache_bytes", "shmem_bytes"), ("minor_faults_per_s", "major_faults_per_s")):
        if whole in memory:
            memory[whole] -= memory.get(part, 0.0)


def _filesystem(filesystem: Row) -> None:
    """What is not free is used, with what is reserved for root where only what is available is told."""
    free = filesystem.get("_free_bytes", filesystem.get("available_bytes"))
    if "size_bytes" in filesystem and free is not None:
        filesystem["used_bytes"] = filesystem["size_bytes"] - free
    if filesystem.get("_inodes") and "_inodes_free" in filesystem:
        filesystem["inodes_used_pct"] = 100.0 - 100.0 * filesystem["_inodes_free"] / filesystem["_inodes"]


def _wait(wait: Row) -> None:
    """The mean of a wait, and its class and kind as those of its vendor."""
    if (count := wait.get("waits_per_s")) and "average_active_sessions" in wait:
        wait["avg_wait_ms"] = 1000.0 * wait["average_active_sessions"] / count
    known = find(wait["db"].partition(":")[0], wait["event"])
    wait.setdefault("wait_class", known.wait_class if known else "Other")
    wait["wait_kind"] = kind_of(wait["event"], wait["wait_class"])


def finished(table: str, rows: Iterable[Row]) -> Iterable[Row]:
    """The rows of a table with what follows; columns that only help (`_inodes`) are left out."""
    for row in rows:
        FINISHING.get(table, _as_it_is)(row)
        yield {name: value for name, value in row.items() if name[0] != "_"}


def _as_it_is(_row: Row) -> None:
    """Nothing follows."""


FINISHING: Final[dict[str, Callable[[Row], None]]] = {
    "disk": _disk, "memory": _memory, "filesystem": _filesystem, "wait": _wait
}  # fmt: skip
