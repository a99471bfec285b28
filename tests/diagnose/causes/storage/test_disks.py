"""Causes of storage: each fires on its own host, and on no healthy one."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import START, UNEXPLAINED, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

WAITING = {("User I/O", "DataFileRead"): 2.0, ("Commit", "WALSync"): 1.5, ("CPU", "CPU"): 0.5}
SATURATED = {
    "reads_per_s": 900.0, "writes_per_s": 100.0, "read_ms": 16.0, "write_ms": 16.0, "device_queue": 12.0,
    "host_queue": 4.0, "util_pct": 99.0,
}  # fmt: skip
SLOW = {
    "reads_per_s": 10.0, "writes_per_s": 30.0, "read_ms": 24.0, "write_ms": 24.0, "device_queue": 1.0,
    "host_queue": 0.0, "util_pct": 60.0,
}  # fmt: skip
COPY = {"command": "rsync", "user": "backup", "read_bytes_per_s": 40e6, "write_bytes_per_s": 40e6}
LIMITED = {
    "io.read_limit_per_s": 60.0, "io.reads_per_s": 59.0, "io.write_limit_per_s": 30.0, "io.writes_per_s": 30.0,
    "io.read_bytes_per_s": 480e3,
}  # fmt: skip


def found(dataset: Dataset, earlier: Dataset | None = None) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset, earlier).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_device_saturated() -> None:
    finding = found(host(disk=SATURATED, time=WAITING))["device_saturated"]
    assert said(finding.title) == "vda is saturated: 16 requests outstanding, 16 ms each"
    assert finding.impact.share == pytest.approx(3.5 / 4)
    assert "4.0 requests waiting in the host" in figures(finding.for_)
    assert not finding.against


def test_a_device_that_does_nothing_more_is_stuck() -> None:
    stuck = SATURATED | {"reads_per_s": 0.0, "writes_per_s": 0.0, "read_ms": None, "write_ms": None}
    finding = found(host(disk=stuck, time=WAITING))["device_saturated"]
    assert said(finding.title) == "vda is stuck: 16 requests outstanding, 0.0 requests/s done"


def test_a_test_of_the_storage_is_meant_to_keep_it_busy() -> None:
    test = {"component": "fio", "name": "fio.iops", "entity": "randread read", "value": 9e4}
    finding = found(host(disk=SATURATED, time=WAITING, extra={"statistic": [test]}))["device_saturated"]
    assert (finding.severity, said(finding.against[-1].figure)) == ("note", "fio ran")


def test_a_device_without_queue_figures_is_judged_by_littles_law() -> None:
    unknown = SATURATED | {"device_queue": None, "host_queue": None}
    finding = found(host(disk=unknown, time=WAITING))["device_saturated"]
    assert "16.0 requests outstanding" in figures(finding.for_)


def test_latency_that_does_not_rise_with_the_queue_speaks_against_saturation() -> None:
    other = [{"device": "vda", **SATURATED, "device_queue": 40.0, "host_queue": 0.0}]
    finding = found(host(disk=SATURATED, time=WAITING, extra={"disk": other}))["device_saturated"]
    assert "a request takes 1.0 times as long" in figures(finding.against)


def test_own_past_speaks_against_saturation() -> None:
    earlier = host(disk=SATURATED, time=WAITING, seconds=240, start=START - timedelta(hours=1))
    finding = found(host(disk=SATURATED, time=WAITING), earlier)["device_saturated"]
    assert "as it was" in said(finding.against[-1].why)


def test_device_slow() -> None:
    findings = found(host(disk=SLOW, time=WAITING))
    assert "device_saturated" not in findings
    assert said(findings["device_slow"].title) == "vda is slow: 24 ms per request at 40 requests/s"
    assert "1.0 requests outstanding" in figures(findings["device_slow"].for_)


@pytest.mark.parametrize(
    "disk",
    [
        SATURATED | {"read_ms": 0.5, "write_ms": 0.5},
        SLOW | {"reads_per_s": 1.0, "writes_per_s": 1.0},
        {"write_ms": 2.0, "util_pct": 60.0},
        dict.fromkeys(("reads_per_s", "writes_per_s", "read_ms", "write_ms", "device_queue", "host_queue", "util_pct")),
        SATURATED | {"util_pct": None, "device_queue": 8.0, "host_queue": 0.0},
    ],
    ids=["deep but quick", "slow but unused", "log on a plain disk", "not measured", "busy unknown"],
)
def test_devices_that_are_no_cause(disk: dict[str, Any]) -> None:
    assert found(host(disk=disk, time=WAITING)).keys() <= UNEXPLAINED


def test_a_slow_device_that_nobody_waits_for_is_no_finding() -> None:
    assert not found(host(disk=SATURATED, time={("CPU", "CPU"): 0.5}))
    assert not found(host(disk=SLOW, time={("Commit", "WALSync"): 0.05}))


def test_a_burst_is_no_saturation() -> None:
    burst = [{"device": "vda", **SATURATED, "interval_s": 0.1}]
    assert found(host(time=WAITING, extra={"disk": burst})).keys() <= UNEXPLAINED


def test_waiting_for_a_replica_is_no_device() -> None:
    assert list(found(host(disk=SLOW, time={("Commit", "SyncRep"): 3.0}))) == ["standby_slows_commits"]


def test_io_by_others_explains_the_device() -> None:
    findings = found(host(disk=SATURATED, time=WAITING, other_processes=[COPY]))
    assert findings["device_saturated"].explained_by == "io_by_others"
    others = findings["io_by_others"]
    assert next(iter(findings)) == "io_by_others"
    assert said(others.title).startswith("rsync (pid 5000, user backup)")
    assert "97 % of the I/O" in said(others.title)
    assert "76.3 MiB/s" in figures(others.for_)


SENDER = {"pid": 910, "command": "postgres: walsender", "read_bytes_per_s": 60e6}
SENDING = {
    "sid": 910,
    "pid": 910,
    "kind": "walsender",
    "wait_class": "System I/O",
    "event": "BaseBackupRead",
    "user": "backup",
}


@pytest.mark.parametrize(
    ("session", "is_backup"),
    [
        (SENDING | {"wait_kind": "backup"}, True),
        (SENDING | {"program": "pg_basebackup", "wait_class": "Network", "event": "ClientWrite"}, True),
        (SENDING | {"program": "pg_dump", "kind": "client", "wait_class": "CPU", "event": "CPU"}, True),
        (SENDING | {"program": "standby", "wait_class": "User I/O", "event": "WALRead"}, False),
        (SENDING | {"program": "shop", "kind": "client", "wait_class": "CPU", "event": "CPU"}, False),
    ],
    ids=["base backup", "pg_basebackup", "pg_dump", "a standby", "a client"],
)
def test_a_backup_through_the_server_is_no_work_of_the_database(session: dict[str, Any], *, is_backup: bool) -> None:
    findings = found(host(disk=SATURATED, time=WAITING, background=[SENDER], sessions=[session]))
    assert ("io_by_others" in findings) is is_backup
    if is_backup:
        others = findings["io_by_others"]
        assert said(others.title).startswith("postgres: walsender for a backup (pid 910, user postgres)")
        assert others.for_[1].filter == "pid = 910"
        assert any("-r 32M" in said(step) for step in others.remedy)


def test_the_tool_of_a_backup_that_writes_here_counts_too() -> None:
    tool = {"command": "pg_basebackup", "user": "postgres", "write_bytes_per_s": 90e6}
    session = SENDING | {"program": "pg_basebackup", "wait_class": "Network", "event": "ClientWrite"}
    dataset = host(disk=SATURATED, time=WAITING, background=[SENDER], sessions=[session], other_processes=[tool])
    others = found(dataset)["io_by_others"]
    assert said(others.title).startswith("pg_basebackup (pid 5000, user postgres)")
    assert said(others.title).endswith("143 MiB/s")


def test_a_saturated_device_names_who_issues_most() -> None:
    finding = found(host(disk=SATURATED, time=WAITING, backend={"read_bytes_per_s": 50e6}))["device_saturated"]
    assert "postgres: client backend (pid 1000 and 3 more, user postgres): " in figures(finding.for_)


@pytest.mark.parametrize(
    "changes",
    [
        {"other_processes": [COPY | {"read_bytes_per_s": 0.0, "write_bytes_per_s": 0.5e6}]},
        {"other_processes": [COPY | {"read_bytes_per_s": None, "write_bytes_per_s": None}]},
        {"other_processes": [COPY], "backend": {"read_bytes_per_s": 50e6}},
        {"other_processes": [COPY], "disk": {}},
        {"other_processes": [COPY | {"command": "jbd2/vda-8", "rss_bytes": 0}]},
    ],
    ids=["little", "not measured", "the database does more", "the device has room", "a thread of the kernel"],
)
def test_others_that_are_no_cause(changes: dict[str, Any]) -> None:
    assert "io_by_others" not in found(host(**{"disk": SATURATED, "time": WAITING} | changes))


def test_cgroup_io_limit_with_a_healthy_device_below() -> None:
    findings = found(host(time=WAITING, cgroup_io=LIMITED))
    finding = findings["cgroup_io_limit"]
    assert said(finding.title) == "Control group /postgres is at its write limit on vda"
    assert finding.impact.share == pytest.approx(3.5 / 4)
    assert finding.confidence == 0.95
    assert "59 requests/s on average, at the limit 100% of the time" in figures(finding.for_)
    assert "the device takes 0.9 ms per request" in figures(finding.for_)


def test_cgroup_io_limit_explains_a_slow_device() -> None:
    findings = found(host(disk=SLOW, time=WAITING, cgroup_io=LIMITED))
    assert findings["device_slow"].explained_by == "cgroup_io_limit"
    assert next(iter(findings)) == "cgroup_io_limit"


def test_a_read_limit_takes_no_blame_for_commits() -> None:
    limited = {"io.read_limit_bytes_per_s": 1e6, "io.read_bytes_per_s": 0.99e6}
    assert found(host(time=WAITING, cgroup_io=limited))["cgroup_io_limit"].impact.share == pytest.approx(0.5)


@pytest.mark.parametrize(
    "group",
    [
        {"io.read_limit_per_s": 600.0, "io.reads_per_s": 59.0},
        {"io.read_limit_per_s": 60.0},
        {"io.reads_per_s": 59.0},
    ],
    ids=["far from the limit", "rate not measured", "no limit"],
)
def test_io_limits_that_are_no_cause(group: dict[str, float]) -> None:
    assert found(host(time=WAITING, cgroup_io=group)).keys() <= UNEXPLAINED


def test_an_io_limit_that_nobody_waits_for_is_no_finding() -> None:
    assert not found(host(cgroup_io=LIMITED, time={("CPU", "CPU"): 0.5}))
