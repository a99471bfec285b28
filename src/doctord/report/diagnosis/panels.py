"""Which plots a report shows of a dataset: one function per component, each nothing where nothing was measured."""

from collections.abc import Iterator

import polars as pl

from doctord.dataset.dataset import Dataset
from doctord.report.plot import Plot
from doctord.report.series import Series, active_by_class, layers, line
from doctord.units import GIB

MOST_DEVICES = 3


def panels(dataset: Dataset) -> list[Plot]:
    """The plots of a dataset, in the order of reading: time, CPU, memory, storage, network."""
    if dataset.since is None or dataset.until is None:
        return []
    since, until = dataset.since.timestamp(), dataset.until.timestamp()
    return [
        Plot(title, unit, tuple(series), since, until, stacked, limit)
        for title, unit, series, stacked, limit in _parts(dataset)
        if any(one.steps for one in series)
    ]


Part = tuple[str, str, list[Series], bool, tuple[str, float] | None]


def _parts(dataset: Dataset) -> Iterator[Part]:
    host = dataset.frame("cpu").filter(pl.col("cpu").is_null())
    count = dataset.frame("cpu")["cpu"].drop_nulls().n_unique()
    cpus = ("CPUs", float(count)) if count else None
    yield "Active sessions by wait class", "sessions, average", active_by_class(dataset), True, cpus
    yield "CPU used", "% of all CPUs", _cpu(host), True, ("all CPUs", 100.0)
    yield "Tasks running or ready to run", "tasks", line("run queue", host, "run_queue", colour=0), False, cpus
    yield "Pressure: some task waits", "% of the time", _pressure(host, dataset.frame("memory")), False, None
    yield from _memory(dataset.frame("memory"))
    yield from _devices(dataset.frame("disk"))
    yield from _network(dataset.frame("network").filter(pl.col("interface").is_null()))


def _cpu(host: pl.DataFrame) -> list[Series]:
    columns = {"user": "usr_pct", "kernel": "sys_pct", "interrupts": "irq_pct", "stolen": "steal_pct"}
    return layers(host, {name: (column, colour) for colour, (name, column) in enumerate(columns.items())})


def _pressure(host: pl.DataFrame, memory: pl.DataFrame) -> list[Series]:
    return [
        *line("CPU", host, "pressure_some_pct", colour=0),
        *line("memory", memory, "pressure_some_pct", colour=5, dash=1),
        *line("memory, all tasks", memory, "pressure_full_pct", colour=6, dash=2),
    ]


def _memory(memory: pl.DataFrame) -> Iterator[Part]:
    parts = {
        "processes": ("anon_bytes", 2),
        "shared": ("shmem_bytes", 5),
        "page tables": ("page_tables_bytes", 6),
        "page cache": ("page_cache_bytes", 3),
    }
    sizes = memory.with_columns(
        pl.col(column) / GIB for column in ("total_bytes", *(name for name, _ in parts.values()))
    )
    total = sizes["total_bytes"].drop_nulls()
    limit = ("total", float(total[-1])) if total.len() else None
    yield "Memory", "GiB", layers(sizes, parts), True, limit
    moving = {"swapped in": "swap_in_per_s", "swapped out": "swap_out_per_s", "scanned": "scan_per_s"}
    yield "Swap and reclaim", "pages per s", _not_all_zero(memory, moving), False, None


def _devices(disk: pl.DataFrame) -> Iterator[Part]:
    """Latency and queues of the devices that did most."""
    work = pl.col("reads_per_s").fill_null(0) + pl.col("writes_per_s").fill_null(0)
    busiest = (
        disk.group_by("device", maintain_order=True)
        .agg(work.sum().alias("work"))
        .filter(pl.col("work") > 0)
        .sort("work", "device", maintain_order=True)
    )
    devices = busiest["device"].to_list()[::-1][:MOST_DEVICES]
    for title, unit, columns in (
        ("Device latency", "ms", {"read": "read_ms", "write": "write_ms"}),
        ("Device queues", "requests", {"in the host": "host_queue", "at the device": "device_queue"}),
    ):
        series = [
            one
            for i, device in enumerate(devices)
            for j, (name, column) in enumerate(columns.items())
            for one in line(f"{device} {name}", _of(disk, device), column, colour=2 * i + j, dash=j)
        ]
        yield title, unit, series, False, None


def _of(disk: pl.DataFrame, device: str) -> pl.DataFrame:
    return disk.filter(pl.col("device") == device)


def _network(tcp: pl.DataFrame) -> Iterator[Part]:
    columns = {
        "retransmits": "retransmits_per_s",
        "dropped at a listening socket": "listen_drops_per_s",
        "accept queue full": "listen_overflows_per_s",
    }
    yield "TCP trouble", "per s", _not_all_zero(tcp, columns), False, None


def _not_all_zero(frame: pl.DataFrame, columns: dict[str, str]) -> list[Series]:
    """Lines of columns whose mere presence is news: none when all were zero throughout."""
    if not any((frame[column].drop_nulls() != 0).any() for column in columns.values()):
        return []
    return [
        one
        for i, (name, column) in enumerate(columns.items())
        for one in line(name, frame, column, colour=2 * i, dash=i)
    ]
