"""Severity and health: what is an alarm, and what a clean bill rests on."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Diagnosis, Impact, at_most, measured
from doctord.report.phrases import said
from doctord.report.wording import verdict

AT = {"ts": datetime(2026, 11, 20, 12, 0, tzinfo=UTC), "interval_s": 600.0, "host": "h"}
SATURATED = {"util_pct": 100.0, "queue": 4230.0, "read_ms": 7700.0, "reads_per_s": 500.0, "write_ms": 7700.0}


@pytest.mark.parametrize(
    ("impact", "confidence", "severity"),
    [
        (measured(0.6), 0.85, "critical"),
        (measured(0.6), 0.6, "warning"),
        (at_most(0.2), 0.6, "warning"),
        (measured(0.052), 0.95, "note"),
        (NOT_MEASURED, 0.6, "warning"),
        (NOT_MEASURED, 0.4, "note"),
        (NONE_YET, 0.95, "note"),
    ],
)
def test_severity_follows_from_what_it_costs_and_how_sure_that_is(
    impact: Impact, confidence: float, severity: str
) -> None:
    assert Claim("It is slow", impact=impact, confidence=confidence, for_=()).graded == severity


def test_what_was_measured_of_a_host_alone_is_said() -> None:
    diagnosis = diagnose(host(without=("session", "process", "wait")))
    assert diagnosis.health == "healthy"
    assert "database time" in diagnosis.not_judged
    assert "database time" not in diagnosis.judged
    assert verdict(diagnosis).startswith("No finding as far as CPUs")


@pytest.mark.parametrize(("pids", "health"), [((7,), "not_judged"), ((7, 8), "healthy")])
def test_one_process_alone_shows_nothing_of_its_host(pids: tuple[int, ...], health: str) -> None:
    rows = [AT | {"pid": pid, "command": "python3", "usr_pct": 1.0, "sys_pct": 0.0} for pid in pids]
    assert diagnose(Dataset.from_rows(process=rows)).health == health


@pytest.mark.parametrize("is_timed", [True, False])
def test_of_a_test_of_the_storage_its_own_latencies_tell(*, is_timed: bool) -> None:
    test = {"component": "fio", "name": "fio.iops", "entity": "randread read", "value": 9e4}
    latency = {"subject": "randread read", "count": 9, "low_us": 64.0, "high_us": 128.0}
    diagnosis = diagnose(
        Dataset.from_rows(
            disk=[AT | {"device": "sda"} | SATURATED], statistic=[AT | test], latency=[AT | latency] if is_timed else []
        )
    )
    assert diagnosis.health == ("healthy" if is_timed else "not_judged")


def test_a_saturated_disk_of_which_nobodys_wait_is_known_is_a_warning() -> None:
    """sar -d: 100 % busy, 4,230 requests outstanding, 7.7 s each."""
    diagnosis = diagnose(Dataset.from_rows(disk=[AT | {"device": "sda"} | SATURATED]))
    (finding,) = diagnosis.findings
    assert (finding.cause, finding.severity, finding.impact) == ("device_saturated", "warning", NOT_MEASURED)
    assert diagnosis.health == "not_healthy"


@pytest.mark.parametrize(
    ("disk", "is_slow"),
    [({"write_ms": 60.0, "writes_per_s": 20.0}, True), ({"write_ms": 20.0, "writes_per_s": 20.0}, False)],
)
def test_a_slow_disk_of_a_host_alone_is_one_at_which_no_drive_is_at_work(
    disk: dict[str, float], *, is_slow: bool
) -> None:
    diagnosis = diagnose(Dataset.from_rows(disk=[AT | {"device": "sda"} | disk]))
    assert [finding.cause for finding in diagnosis.findings] == ["device_slow"] * is_slow
    assert diagnosis.healthy is not is_slow


def test_a_server_that_was_named_and_did_not_answer_gets_no_clean_bill() -> None:
    diagnosis = diagnose(host(without=("session", "process", "wait", "statistic")), servers=1)
    assert diagnosis.health == "not_judged"
    assert verdict(diagnosis) == "No verdict: the server that was named could not be asked"


def test_a_server_that_turned_us_down_gets_no_clean_bill_though_its_log_was_read() -> None:
    log = {
        "component": "postgresql",
        "db": DB,
        "name": "log.messages",
        "entity": "FATAL",
        "value": 0.0,
        "unit": "per_s",
    }
    of_host = ("session", "process", "wait")
    diagnosis = diagnose(host(without=of_host, extra={"statistic": [log]}), servers=1)
    assert (diagnosis.unanswered, diagnosis.health) == (1, "not_judged")
    told = {(None, "pg_stat_database.xact_commit"): 100.0}
    assert diagnose(host(without=of_host, extra={"statistic": [log]}, postgres=told), servers=1).unanswered == 0


def test_figures_that_cannot_tell_are_no_verdict() -> None:
    row: dict[str, Any] = AT | {"component": "kernel", "name": "uptime.load_1m", "value": 8.87}
    diagnosis = diagnose(Dataset.from_rows(statistic=[row]))
    assert diagnosis.health == "not_judged"
    assert verdict(diagnosis).startswith("No verdict: Cannot tell where time goes")


def test_no_session_is_said_to_be_idle_that_was_not_looked_at() -> None:
    log = AT | {"component": "postgresql", "db": "postgresql:log", "name": "log.messages", "value": 4.0}
    told = [said(line) for line in diagnose(Dataset.from_rows(statistic=[log])).looked_at]
    assert "postgresql:log: neither sessions nor waits" in told
    assert not any("no session at work" in line for line in told)


@pytest.mark.parametrize(("util_pct", "is_found"), [(99.9, True), (83.0, False)])
def test_a_disk_of_which_only_its_busy_time_is_known(util_pct: float, *, is_found: bool) -> None:
    """dstat --disk-util: no latency, no queue."""
    diagnosis = diagnose(Dataset.from_rows(disk=[AT | {"device": "sda", "util_pct": util_pct}]))
    assert [finding.cause for finding in diagnosis.findings] == ["device_saturated"] * is_found
    assert all(finding.confidence == 0.6 for finding in diagnosis.findings)


def test_half_a_minute_of_a_busy_disk_of_which_no_more_is_known() -> None:
    at = AT["ts"]
    assert isinstance(at, datetime)

    def judged(busy_s: int, **told: float) -> Diagnosis:
        rows = [
            {"ts": at + timedelta(seconds=second), "interval_s": 1.0, "host": "h", "device": "sda"}
            | {"util_pct": 99.8 if 20 <= second < 20 + busy_s else 30.0}
            | told
            for second in range(100)
        ]
        return diagnose(Dataset.from_rows(disk=rows))

    untold = judged(30)
    (finding,) = untold.findings
    assert (untold.health, finding.severity) == ("not_judged", "note")
    assert verdict(untold) == "No verdict: Cannot tell whether sda has room: always busy for 30 s"
    assert judged(29).health == "healthy", "a burst"
    assert judged(30, queue=1.0, requests_per_s=90.0).health == "healthy", "nobody waits"
    assert judged(60).health == "not_healthy", "most of the time"


def test_a_disk_that_hangs_in_between_tells_no_latency() -> None:
    """util 100 % without a request that ended: nothing to take a mean of."""
    at = AT["ts"]
    assert isinstance(at, datetime)
    rows = [
        {"ts": at + timedelta(seconds=10 * n), "interval_s": 10.0, "host": "h", "device": "sda", "reads_per_s": reads}
        | {"read_ms": 1.0 if reads else None, "util_pct": 5.0 if reads else 100.0}
        for n, reads in enumerate([50.0] * 10 + [0.0] * 3 + [50.0] * 10)
    ]
    assert diagnose(Dataset.from_rows(disk=rows)).health == "not_judged"


def test_one_report_since_boot_is_no_clean_bill() -> None:
    since_boot = {"ts": AT["ts"], "host": "h"}
    single = Dataset.from_rows(
        cpu=[since_boot | {"idle_pct": 99.0}],
        disk=[since_boot | {"device": "sda", "write_ms": 1.0, "writes_per_s": 1.0}],
    )
    assert diagnose(single).health == "not_judged"
    later = {"ts": datetime(2026, 11, 20, 12, 1, tzinfo=UTC), "host": "h", "idle_pct": 99.0}
    assert diagnose(Dataset.from_rows(cpu=[since_boot | {"idle_pct": 99.0}, later])).health == "healthy"


def test_a_log_beside_one_look_at_sessions_does_not_make_it_many() -> None:
    server = {"host": "h", "db": "postgresql", "component": "postgresql"}
    minutes = [
        server | {"ts": AT["ts"] + timedelta(minutes=n), "interval_s": 60.0, "name": "log.messages", "value": 1.0}
        for n in range(30)
    ]
    look = {"ts": AT["ts"], "interval_s": 1.0, "host": "h", "db": "postgresql", "sid": 1, "state": "active"}
    assert "database time" not in diagnose(Dataset.from_rows(session=[look], statistic=minutes)).judged


def test_tasks_ready_at_some_moments_are_no_clean_bill() -> None:
    moments = [{"ts": AT["ts"] + timedelta(hours=n), "host": "h", "run_queue": 1.0} for n in range(3)]
    assert diagnose(Dataset.from_rows(cpu=moments)).health == "not_judged"
    assert diagnose(Dataset.from_rows(cpu=[row | {"interval_s": 60.0} for row in moments])).health == "healthy"


def test_half_an_hour_without_idle_time_in_a_whole_day_is_a_warning() -> None:
    at = datetime(2026, 11, 20, tzinfo=UTC)
    rows = [
        {
            "ts": at + timedelta(minutes=5 * i),
            "interval_s": 300.0,
            "host": "h",
            "idle_pct": 1.0 if 30 <= i < 36 else 55.0,
        }
        for i in range(132)
    ]
    (finding,) = diagnose(Dataset.from_rows(cpu=rows)).findings
    assert (finding.cause, finding.severity) == ("cpu_saturated", "warning")
    assert said(finding.title).startswith("The CPUs are saturated for 30 min on end")
    scattered = [row | {"idle_pct": 1.0 if i % 20 == 0 else 55.0} for i, row in enumerate(rows)]
    assert diagnose(Dataset.from_rows(cpu=scattered)).healthy


@pytest.mark.parametrize(
    ("disk", "is_found"),
    [
        ({"queue": 63.4, "read_ms": 3.3, "reads_per_s": 19500.0, "util_pct": 84.0}, True),
        ({"queue": 12.0, "read_ms": 0.0, "reads_per_s": 2.0, "util_pct": 100.0}, True),
        ({"queue": 12.0, "read_ms": 1.5, "reads_per_s": 8000.0, "util_pct": 100.0}, False),
    ],
    ids=["long queue of a parallel device", "stuck", "quick"],
)
def test_saturation_is_told_by_the_queue(disk: dict[str, float], *, is_found: bool) -> None:
    diagnosis = diagnose(Dataset.from_rows(disk=[AT | {"device": "sda"} | disk]))
    assert [finding.cause for finding in diagnosis.findings] == ["device_saturated"] * is_found


def test_half_a_minute_in_which_nobody_is_served_is_told_of_a_whole_hour() -> None:
    bad = {"util_pct": 99.0, "queue": 120.0, "write_ms": 300.0, "writes_per_s": 400.0}
    good = {"util_pct": 4.0, "queue": 0.1, "write_ms": 1.0, "writes_per_s": 20.0}
    at = datetime(2026, 11, 20, tzinfo=UTC)

    def hour(bad_reports: set[int]) -> Dataset:
        rows = [(bad if i in bad_reports else good) | {"ts": at + timedelta(seconds=5 * i)} for i in range(720)]
        return Dataset.from_rows(disk=[row | {"interval_s": 5.0, "host": "h", "device": "sda"} for row in rows])

    assert [finding.cause for finding in diagnose(hour(set(range(600, 608)))).findings] == ["device_saturated"]
    assert diagnose(hour(set(range(0, 720, 20)))).healthy
