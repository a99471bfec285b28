"""Reads, syncs, names and memory, as a call trace shows them."""

from typing import Any

import pytest

from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from traces import call, growth, healthy, loop, path_part, target, wait, without_loop

ORACLE = [call("read", "read", count=639326, seconds=40.74), call("lseek", "seek", count=608657, seconds=9.807)]
SUMMARY: dict[str, Any] = {
    "about": {"kind": "summary", "seconds": None},
    "totals": {"elapsed_s": 126.21, "in_calls_s": 52.328, "outside_calls_s": None, "user_s": 25.691},
}


def findings(trace: Trace) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(Dataset(), trace=trace).findings}


def summary(*calls: dict[str, Any]) -> Trace:
    return healthy(**SUMMARY, calls=list(calls), loop=None, repetitions=[], memory=[], births=[], targets=[])


def test_a_seek_for_each_read_of_a_summary() -> None:
    (finding,) = findings(summary(*ORACLE)).values()
    assert finding.cause == "tiny_reads"
    assert said(finding.title) == "Files are read in 639326 small pieces, 40 % of busy time"
    assert said(finding.for_[0].figure) == "40 % of busy time, 50.55 s: 639326 reads and 608657 seeks"
    assert said(finding.not_measured[0].what) == "Size of the reads"


def test_reads_of_a_summary_without_seeks_may_be_large() -> None:
    assert findings(summary(ORACLE[0])) == {}


@pytest.mark.parametrize(
    ("name", "mean_bytes", "tiny"),
    [("/data/a", 4095, True), ("/data/a", 4096, False), ("TCP:[127.0.0.1:5432]", 100, False), ("pipe:[7]", 10, False)],
)
def test_small_reads_of_a_file(name: str, mean_bytes: int, *, tiny: bool) -> None:
    read = target(name, calls=2000, reads=2000, read_bytes=2000 * mean_bytes, seconds=0.5)
    trace = without_loop(targets=[read], calls=[call("read", "read", count=2000, seconds=0.5)])
    assert ("tiny_reads" in findings(trace)) is tiny


def test_small_reads_that_take_no_time_are_no_finding() -> None:
    read = target("/data/a", reads=2000, read_bytes=2000, seconds=0.05)
    assert findings(without_loop(targets=[read], calls=[call("read", "read", count=2000, seconds=0.05)])) == {}


def test_a_lookup_in_the_pass() -> None:
    waits = [wait("poll", "[{fd=9}]", seconds=0.0005, on="name service")]
    (finding,) = findings(healthy(loop=loop(waits=waits))).values()
    assert finding.cause == "name_service_on_request_path"
    assert said(finding.title) == "A request waits for the name service, 50 % of each pass"
    path = [path_part(0, "server", "openat", 0.0001, 0.1, arguments='AT_FDCWD, "/etc/resolv.conf"')]
    assert list(findings(healthy(loop=loop(path=path)))) == ["name_service_on_request_path"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("UDP:[10.0.0.5:41000->10.0.0.1:53]", True),
        ("/etc/hosts", True),
        ("/var/run/nscd/socket", True),
        ("TCP:[10.0.0.5:41000->10.0.0.1:5300]", False),
        ("/etc/hostsfile", False),
    ],
)
def test_lookups_by_children(name: str, *, found: bool) -> None:
    trace = without_loop(targets=[target(name, seconds=0.2)])
    assert ("name_service_on_request_path" in findings(trace)) is found


@pytest.mark.parametrize(("syncs", "mean_bytes", "found"), [(100, 8192, True), (49, 8192, False), (100, 65536, False)])
def test_a_sync_for_each_small_write(syncs: int, mean_bytes: int, *, found: bool) -> None:
    log = target("/wal/0001", writes=100, written_bytes=100 * mean_bytes, syncs=syncs)
    trace = without_loop(targets=[log], calls=[call("fdatasync", "sync", count=syncs, seconds=0.4)])
    assert ("sync_per_write" in findings(trace)) is found


def test_syncs_that_take_no_time_are_no_finding() -> None:
    log = target("/wal/0001", writes=100, written_bytes=1000, syncs=100)
    assert findings(without_loop(targets=[log], calls=[call("fdatasync", "sync", count=100, seconds=0.09)])) == {}


EXTENT = [{"bytes": 2 * 2**20, "count": 1}]


@pytest.mark.parametrize(
    ("figures", "found"),
    [
        ({"extents": EXTENT, "chunks": [{"bytes": 65536, "count": 5}]}, True),
        ({"extents": EXTENT, "chunks": [{"bytes": 65536, "count": 5}], "page_size_requested": True}, False),
        ({"extents": EXTENT, "chunks": [{"bytes": 65536, "count": 2}], "mapped_bytes": 131072, "calls": 2}, True),
        ({"extents": EXTENT, "chunks": [{"bytes": 65536, "count": 5}], "mapped_bytes": 2**20}, False),
        ({"extents": EXTENT, "chunks": [{"bytes": 4 * 2**20, "count": 5}]}, False),
        ({"chunks": [{"bytes": 65536, "count": 1200}], "mapped_bytes": 75 * 2**20, "calls": 1200}, True),
        ({"chunks": [{"bytes": 65536, "count": 200}], "mapped_bytes": 12 * 2**20, "calls": 200}, False),
        ({}, False),
    ],
)
def test_memory_taken_in_small_pieces(figures: dict[str, Any], *, found: bool) -> None:
    trace = without_loop(memory=[growth(calls_per_mb=16.0, **figures)])
    assert ("page_size_not_requested" in findings(trace)) is found
