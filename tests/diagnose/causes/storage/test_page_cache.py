"""Causes of the page cache: each fires on its own host, and on no healthy one."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import GIB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

READING = {("User I/O", "DataFileRead"): 1.5, ("CPU", "CPU"): 0.5}
FOLDER = "/var/lib/postgresql/15/main"
BACKUP = {"command": "borg", "read_bytes_per_s": 80e6}
# Four backends read 200 MB/s together.
READS = {"read_bytes_per_s": 50e6}
Figures = Mapping[tuple[str | None, str], float]


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def looks(first: float, last: float, size: float = 8.0 * GIB, data: float | None = None) -> list[dict[str, Any]]:
    """What of the files is cached at the beginning and at the end, as the collector of each minute tells it."""
    row = {"component": "kernel", "entity": FOLDER, "unit": "bytes", "kind": "gauge", "host": "host"}
    return [
        row | {"ts": START + timedelta(seconds=second), "name": f"page_cache.{name}", "value": value}
        for second, cached in ((0, first), (20, last))
        for name, value in (
            ("data_bytes", data or size),
            ("file_bytes", size),
            ("cached_bytes", cached),
            ("recently_evicted_bytes", 0.0),
        )
    ]


def cached(
    first: float,
    last: float,
    size: float = 8.0 * GIB,
    data: float | None = None,
    kernel: Figures | None = None,
    **changes: Any,
) -> Dataset:
    given: dict[str, Any] = {"time": READING, "backend": READS, "log_writer": {"read_bytes_per_s": 0.0}} | changes
    return Dataset.joined([host(kernel=kernel, **given), Dataset.from_rows(statistic=looks(first, last, size, data))])


def test_a_backup_drops_what_the_database_reads() -> None:
    dataset = cached(2.0 * GIB, 1.9 * GIB, other_processes=[BACKUP])
    findings = found(dataset)
    finding = findings["page_cache_evicted"]
    assert said(finding.title) == ("191 MiB/s of data files are read from the disk and do not stay in the page cache")
    assert (finding.impact.share, finding.impact.known) == (pytest.approx(0.75), "at_most")
    assert "100 % of what the database read from the disk did not stay" in figures(finding.for_)
    assert f"24 % of 8.0 GiB in {FOLDER} is cached" in figures(finding.for_)
    assert "borg (pid 5000, user root) reads 76.3 MiB/s" in figures(finding.for_)
    assert not finding.against


def test_somebody_drops_the_whole_cache() -> None:
    dataset = cached(2.0 * GIB, 1.9 * GIB, kernel={(None, "vmstat.drop_pagecache"): 0.1})
    assert "drop_caches was written 2 times" in figures(found(dataset)["page_cache_evicted"].for_)


def test_what_the_kernel_took_for_others_is_told() -> None:
    dataset = cached(4.0 * GIB, 3.0 * GIB)
    evicted = looks(4.0 * GIB, 3.0 * GIB)
    for row in evicted:
        row["value"] = 6.0 * GIB if row["name"].endswith("evicted_bytes") else row["value"]
    with_evicted = Dataset.joined([dataset, Dataset.from_rows(statistic=evicted)])
    assert "6144 MiB of the files dropped lately" in figures(found(with_evicted)["page_cache_evicted"].for_)


def test_pressure_speaks_against_it() -> None:
    finding = found(cached(2.0 * GIB, 1.9 * GIB, memory={"pressure_some_pct": 9.0}))["page_cache_evicted"]
    assert "9.0 % of the time lost to memory" in figures(finding.against)


@pytest.mark.parametrize(
    "dataset",
    [
        cached(2.0 * GIB, 5.5 * GIB),
        cached(2.0 * GIB, 1.9 * GIB, time={("CPU", "CPU"): 2.0}),
        cached(2.0 * GIB, 1.9 * GIB, size=500.0 * GIB),
        cached(2.0 * GIB, 1.9 * GIB, data=12.0 * GIB),
        cached(2.0 * GIB, 1.9 * GIB, backend={"read_bytes_per_s": 20e3}),
        cached(
            0.0, 0.0,
            kernel={(f"{FOLDER} data", "open_files.writable"): 29.0, (f"{FOLDER} data", "open_files.direct"): 6.0},
        ),
        host(time=READING, backend=READS),
    ],
    ids=[
        "a cold cache fills", "nobody waits for reads", "larger than memory", "other files", "little", "direct",
        "not measured",
    ],
)  # fmt: skip
def test_a_page_cache_that_is_well(dataset: Dataset) -> None:
    assert "page_cache_evicted" not in found(dataset)


def test_a_group_at_its_limit_explains_it() -> None:
    group = {"memory.limit_bytes": 128e6, "memory.usage_bytes": 126e6, "memory.failures_per_s": 9e3}
    findings = found(cached(2.0 * GIB, 1.9 * GIB, cgroup=group, memory={"pressure_some_pct": 4.8}))
    assert findings["page_cache_evicted"].explained_by == "cgroup_memory_limit"


HALF = {"shared_buffers": str(8 * GIB // 8192)}


def test_data_that_is_cached_twice() -> None:
    finding = found(cached(8.0 * GIB, 8.0 * GIB, size=40.0 * GIB, settings=HALF))["data_cached_twice"]
    assert said(finding.title) == "8.0 GiB of data files are in the page cache beside a buffer pool of 8.0 GiB"
    assert f"20 % of 40.0 GiB in {FOLDER} is cached" in figures(finding.for_)
    assert "8.0 GiB, 20 % of the files" in figures(finding.for_)


@pytest.mark.parametrize(
    "changes",
    [
        {"settings": {"shared_buffers": "16384"}},
        {"settings": {}},
        {"size": 8.0 * GIB},
        {"time": {("CPU", "CPU"): 2.0}},
        {"kernel": {(f"{FOLDER} data", "open_files.writable"): 29.0, (f"{FOLDER} data", "open_files.direct"): 6.0}},
    ],
    ids=["a small pool", "pool unknown", "all is cached", "nobody waits for reads", "direct"],
)
def test_data_that_is_cached_once(changes: dict[str, Any]) -> None:
    given: dict[str, Any] = {"size": 40.0 * GIB, "settings": HALF} | changes
    assert "data_cached_twice" not in found(cached(8.0 * GIB, 8.0 * GIB, **given))
