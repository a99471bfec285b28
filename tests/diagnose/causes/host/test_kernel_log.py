"""What the kernel's log tells of memory, devices and tasks."""

from datetime import UTC, datetime, timedelta

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from reading import read_sample

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def events(*told: tuple[str, str]) -> Dataset:
    return Dataset.from_rows(event=[{"ts": NOON, "kind": kind, "subject": who, "text": who} for kind, who in told])


def test_a_log_with_everything() -> None:
    findings = found(Dataset.from_batches(read_sample("kernel_log.syslog.log", zone="UTC").batches))
    assert set(findings) == {"oom_killed", "devices_fail", "tasks_hung"}
    assert findings["tasks_hung"].explained_by == "devices_fail"
    assert said(findings["oom_killed"].title) == "The memory of the host ran out: postgres was killed"
    assert said(findings["devices_fail"].title) == "The kernel reports 3 errors of devices, most of all of sde"


@pytest.mark.parametrize(("who", "severity"), [("mysqld", "critical"), ("postgres", "critical"), ("java", "warning")])
def test_a_database_that_was_killed_is_critical(who: str, severity: str) -> None:
    assert found(events(("oom kill", who)))["oom_killed"].severity == severity


@pytest.mark.parametrize(
    ("kind", "later", "severity"),
    [
        ("oom kill in control group", timedelta(hours=1), "note"),
        ("oom kill", timedelta(hours=1), "warning"),
        ("oom kill", timedelta(days=-2), "critical"),
    ],
)
def test_a_kill_that_the_servers_here_have_outlived_is_of_another_one(
    kind: str, later: timedelta, severity: str
) -> None:
    started = {one for one in host().frame("process")["started"].to_list() if one}
    killed = [{"ts": max(started) + later, "kind": kind, "subject": "postgres", "text": "postgres"}]
    finding = found(host(events=killed))["oom_killed"]
    assert finding.severity == severity
    assert [said(one.why) for one in finding.against] == ([] if severity == "critical" else ["none of them was hit"])


@pytest.mark.parametrize(
    ("group", "unit", "severity"),
    [
        ("/batch/ledger", None, "note"),
        ("/batch/ledger", "/postgres", "note"),
        ("/postgres-batch", "/postgres", "note"),
        ("/system.slice/mypostgresql.service", "postgresql.service", "note"),
        ("/postgres", "/postgres", "critical"),
        ("/postgres-test", "/postgres", "note"),
        ("/postgres/backends", "/postgres", "critical"),
        ("/", None, "critical"),
        ("/system.slice/old-app.service", "app.service", "note"),
        ("/postgres/7", "/postgres", "critical"),
        ("/system.slice/postgresql@15-main.service", "postgresql@15-main.service", "critical"),
        ("/system.slice/docker-4f1c0a2b3c4d5e6f.scope", "container 4f1c0a2b3c4d", "critical"),
        (None, "/postgres", "critical"),
    ],
)
def test_a_kill_in_another_control_group_is_of_another_server(
    group: str | None, unit: str | None, severity: str
) -> None:
    others = [{"unit": "cron.service"}]
    seen = host(backend={"unit": unit}, log_writer={"unit": unit, "started": NOON}, other_processes=others)
    killed = {"ts": NOON - timedelta(days=900), "kind": "oom kill in control group", "subject": "postgres"}
    told = Dataset.from_rows(
        event=[killed | {"unit": group, "text": "postgres"}], process=seen.frame("process").to_dicts()
    )
    assert found(told)["oom_killed"].severity == severity


@pytest.mark.parametrize(
    ("subject", "severity"), [(DB, "critical"), ("pg_stat_database shop", "note")], ids=["the server", "its statistics"]
)
def test_who_resets_statistics_after_a_kill_has_restarted_no_server(subject: str, severity: str) -> None:
    started = max(one for one in host().frame("process")["started"].to_list() if one)
    killed = {"ts": started + timedelta(hours=1), "kind": "oom kill in control group", "subject": "postgres"}
    anew = {"kind": "restart", "db": DB, "subject": subject, "text": "the statistics were reset at noon"}
    finding = found(host(events=[killed | {"text": "postgres"}, anew]))["oom_killed"]
    assert finding.severity == severity


def test_where_no_process_tells_its_group_the_servers_may_have_been_hit() -> None:
    seen = host(log_writer={"started": NOON})
    killed = {
        "ts": NOON - timedelta(days=900), "kind": "oom kill in control group", "subject": "postgres",
        "unit": "/kubepods.slice/ledger", "text": "postgres",
    }  # fmt: skip
    told = Dataset.from_rows(event=[killed], process=seen.frame("process").to_dicts())
    assert found(told)["oom_killed"].severity == "critical"


def test_kills_of_a_group_are_not_those_of_the_host() -> None:
    told = events(("oom kill in control group", "mysqld"), ("oom kill in control group", "mysqld"))
    (finding,) = diagnose(told).findings
    assert said(finding.title) == "The memory of a control group ran out: 2 processes were killed, mysqld last"


@pytest.mark.parametrize(
    ("told", "severity"),
    [
        ([("I/O error", "sr0")], "note"),
        ([("I/O error", "fd0"), ("I/O error", "fd0"), ("I/O error", "sr0")], "note"),  # a machine without either
        ([("I/O error", "sda"), ("device reset", "ata1")], "warning"),
        ([("read-only", "dm-3")], "critical"),
    ],
)
def test_devices_by_what_they_do(told: list[tuple[str, str]], severity: str) -> None:
    assert found(events(*told))["devices_fail"].severity == severity


def test_tasks_that_hang() -> None:
    finding = found(events(("hung task", "jbd2/dm-3-8"), ("hung task", "postgres")))["tasks_hung"]
    assert said(finding.title) == "Tasks hung in the kernel 2 times: jbd2/dm-3-8, postgres"


def test_one_task_hung_once() -> None:
    assert "1 time: postgres" in said(found(events(("hung task", "postgres")))["tasks_hung"].title)


def test_other_events_and_none_are_no_finding() -> None:
    assert diagnose(events(("restart", "mysql"))).findings == ()
    assert diagnose(host()).healthy


def test_a_reset_behind_a_deep_queue_is_the_queues() -> None:
    reset = {
        "kind": "device reset",
        "subject": "vda",
        "text": "sd 2:0:0:0: [vda] tag#3 timing out command, waited 180s",
    }
    told = [
        said(item.figure)
        for depth in (64.0, 20.0)
        for finding in diagnose(host(disk={"device_queue": depth}, events=[reset])).findings
        if finding.cause == "devices_fail"
        for item in finding.for_
        if item.table == "disk"
    ]
    assert told == ["64 requests at a time given to vda"]
