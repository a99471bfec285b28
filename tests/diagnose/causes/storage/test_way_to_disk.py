"""The way to the disk: what splits requests fires on its own host, and on no healthy one."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

READING = {("User I/O", "DataFileRead"): 1.5, ("CPU", "CPU"): 0.5}
FOLDER = "/var/lib/postgresql/15/main"
SMALL_READS = {"reads_per_s": 20e3, "read_bytes_per_s": 20e3 * 4096, "util_pct": 80.0}
STACK = {
    f"path.{FOLDER}.filesystem": "xfs", f"path.{FOLDER}.mount": "/var", f"path.{FOLDER}.devices": "dm-0 vda",
    "block.dm-0.max_sectors_kb": "1280",
}  # fmt: skip
LIMITED = {"block.vda.max_sectors_kb": "4", "block.vda.max_hw_sectors_kb": "1280", "block.vda.nr_requests": "64"}


def found(disk: dict[str, Any], kernel: dict[str, str], **changes: Any) -> dict[str, Finding]:
    settings = [{"component": "kernel", "name": name, "value": value} for name, value in kernel.items()]
    given: dict[str, Any] = {"time": READING} | changes
    dataset: Dataset = host(disk=disk, extra={"setting": settings}, **given)
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_blocks_are_read_in_pieces() -> None:
    finding = found(SMALL_READS, STACK | LIMITED)["requests_split"]
    assert said(finding.title) == "Reads of vda are split into pieces of 4.0 KiB"
    assert (finding.impact.share, finding.impact.known) == (pytest.approx(0.75), "at_most")
    assert "4.0 KiB per read" in figures(finding.for_)
    assert "the device itself would take 1280 KiB" in figures(finding.for_)
    assert not finding.against


def test_the_way_is_told_in_one_line() -> None:
    finding = found(SMALL_READS, STACK | LIMITED)["requests_split"]
    (way,) = (evidence for evidence in finding.for_ if evidence.filter.startswith("name like 'path."))
    assert said(way.figure) == f"{FOLDER} > xfs on /var > dm-0 > vda"
    assert said(way.why) == "dm-0: requests of at most 1280 KiB; vda: requests of at most 4 KiB, 64 of them"


def test_a_device_with_time_to_spare_speaks_against_it() -> None:
    finding = found(SMALL_READS | {"util_pct": 20.0}, LIMITED)["requests_split"]
    assert "busy 20 % of the time" in figures(finding.against)


def test_long_writes_are_split_too() -> None:
    writes = {"writes_per_s": 900.0, "write_bytes_per_s": 900.0 * 65536, "reads_per_s": 0.0}
    limit = {"block.vda.max_sectors_kb": "64", "block.vda.max_hw_sectors_kb": "64"}
    finding = found(writes, limit, time={("Commit", "WALSync"): 2.0})["requests_split"]
    assert said(finding.title) == "Writes of vda are split into pieces of 64.0 KiB"
    assert "would take" not in figures(finding.for_), "the device takes no more"


@pytest.mark.parametrize(
    ("disk", "kernel", "time"),
    [
        (SMALL_READS, {"block.vda.max_sectors_kb": "1280"}, READING),
        (SMALL_READS, {}, READING),
        (SMALL_READS | {"read_bytes_per_s": 20e3 * 3000}, LIMITED, READING),
        (SMALL_READS | {"read_bytes_per_s": 20e3 * 8192}, {"block.vda.max_sectors_kb": "8"}, READING),
        ({"reads_per_s": 300.0, "read_bytes_per_s": 300.0 * 2**18}, {"block.vda.max_sectors_kb": "256"}, READING),
        (SMALL_READS, LIMITED, {("CPU", "CPU"): 2.0}),
    ],
    ids=["no limit", "limit unknown", "smaller requests", "just a block", "large pieces", "nobody waits"],
)
def test_requests_that_arrive_whole(disk: dict[str, Any], kernel: dict[str, str], time: Any) -> None:
    assert "requests_split" not in found(disk, kernel, time=time)


def test_a_finding_about_a_disk_shows_the_way_to_it() -> None:
    slow = {"reads_per_s": 90.0, "writes_per_s": 5.0, "read_ms": 40.0, "device_queue": 2.0, "util_pct": 60.0}
    finding = found(slow, STACK)["device_slow"]
    assert f"{FOLDER} > xfs on /var > dm-0 > vda" in figures(finding.for_)
