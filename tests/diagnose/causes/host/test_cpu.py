"""Causes of the CPU: each fires on its own host, and on no healthy one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

FULL = {
    "idle_pct": 0.4,
    "wait_io_pct": 0.0,
    "usr_pct": 90.0,
    "sys_pct": 9.0,
    "run_queue": 9.0,
    "pressure_some_pct": 92.0,
}
QUEUEING = {"usr_pct": 6.0, "sys_pct": 2.0, "run_wait_pct": 24.0, "icsw_per_s": 60.0}
BUSY_TIME = {("CPU", "CPU"): 1.2, ("Commit", "WALSync"): 0.4}
HOGS = [{"command": "sha256sum", "user": "root", "usr_pct": 24.0, "run_wait_pct": 75.0} for _ in range(7)]
THROTTLED = {
    "cpu.limit_cpus": 0.5, "cpu.throttled_s_per_s": 1.6, "cpu.nr_throttled_per_s": 9.0, "cpu.nr_periods_per_s": 10.0,
}  # fmt: skip


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_helpers_that_come_and_go_take_the_cpus() -> None:
    churn = {
        ("gzip", "short_lived.ends_per_s"): 300.0,
        ("gzip", "short_lived.cpu_s_per_s"): 1.2,
        ("gzip", "short_lived.elapsed_s"): 0.012,
    }
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, kernel=churn))
    assert next(iter(findings)) == "cpu_other_processes"
    finding = findings["cpu_other_processes"]
    assert said(finding.title).startswith("gzip (processes that live shorter than a sample)")
    assert "300 of gzip come and go per s" in figures(finding.for_)
    assert "4.0 ms of CPU each, in a life of 12.0 ms" in [said(evidence.why) for evidence in finding.for_]
    assert ("statistic", "name = 'short_lived.cpu_s_per_s' and entity = 'gzip'") in [
        (evidence.table, evidence.filter) for evidence in findings["cpu_saturated"].for_
    ]


def test_backends_that_come_and_go_are_the_database_s_own() -> None:
    churn = {("postgres", "short_lived.ends_per_s"): 300.0, ("postgres", "short_lived.cpu_s_per_s"): 1.2}
    assert "cpu_other_processes" not in found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, kernel=churn))


def test_cpu_saturated_by_the_database_itself() -> None:
    finding = found(host(cpu=FULL, time={("CPU", "CPU"): 6.0}, backend={"usr_pct": 48.0, "run_wait_pct": 50.0}))[
        "cpu_saturated"
    ]
    assert finding.impact.share == pytest.approx(50 / 99.5, abs=0.02)
    assert finding.explained_by is None
    assert "0.4 % of the CPU time idle" in figures(finding.for_)
    assert "4.5 tasks running or ready per CPU" in figures(finding.for_)
    assert not finding.against


def test_another_process_explains_the_saturated_cpu() -> None:
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, other_processes=HOGS))
    other = findings["cpu_other_processes"]
    assert next(iter(findings)) == "cpu_other_processes"
    assert findings["cpu_saturated"].explained_by == "cpu_other_processes"
    assert "sha256sum (pid 5000 and 6 more, user root)" in said(other.title)
    assert "84 % of the CPUs" in said(other.title)
    assert other.impact.share is not None
    assert 0.4 < other.impact.share < 0.75


def test_units_and_users_of_the_cpus_are_named() -> None:
    hogs = [hog | {"unit": "backup.service"} for hog in HOGS]
    other = found(
        host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING | {"unit": "postgresql.service"}, other_processes=hogs)
    )
    assert "sha256sum (pid 5000 and 6 more, user root, backup.service)" in said(other["cpu_other_processes"].title)
    told = figures(other["cpu_saturated"].for_)
    assert "unit backup.service: 84 % of the host's CPU time, 7 processes, 358 MiB resident" in told
    assert "unit postgresql.service: 16 % of the host's CPU time, 4 processes" in told
    assert "user root: 84 % of the host's CPU time" in told


def test_a_control_group_made_by_hand_is_no_name_to_tell() -> None:
    hogs = [hog | {"unit": "/jobs/7"} for hog in HOGS]
    other = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, other_processes=hogs))["cpu_other_processes"]
    assert "sha256sum (pid 5000 and 6 more, user root)" in said(other.title)


def test_a_local_client_is_no_other_process() -> None:
    pgbench = {"command": "pgbench", "usr_pct": 150.0}
    sessions = [{"program": "pgbench", "interval_s": 0.1}]
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, other_processes=[pgbench], sessions=sessions))
    assert "cpu_saturated" in findings
    assert "cpu_other_processes" not in findings


def test_kernel_threads_are_no_other_process() -> None:
    flusher = {"command": "kswapd0", "sys_pct": 99.0, "rss_bytes": 0}
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, other_processes=[flusher]))
    assert "cpu_other_processes" not in findings


def test_low_pressure_speaks_against_saturation() -> None:
    finding = found(host(cpu=FULL | {"pressure_some_pct": 4.0}, time=BUSY_TIME, backend=QUEUEING))["cpu_saturated"]
    assert "pressure: some task waited for a CPU 4 % of the time" in figures(finding.against)
    assert finding.confidence == 0.6


def test_idle_time_with_io_outstanding_is_idle_time() -> None:
    waiting = {"idle_pct": 1.0, "wait_io_pct": 90.0}
    assert "cpu_saturated" not in found(host(cpu=waiting, time=BUSY_TIME, backend=QUEUEING))


def test_host_figures_alone_give_a_one_sided_finding() -> None:
    dataset = host(cpu=FULL, without=("session", "process"))
    finding = found(dataset)["cpu_saturated"]
    assert finding.impact.share is None
    assert finding.confidence == 0.6
    assert finding.severity == "warning"
    assert "who waited for a CPU" in said(finding.not_measured[0].what)


def test_as_many_tasks_as_cpus_are_a_note() -> None:
    finding = found(host(cpu=FULL | {"run_queue": 2.0}, without=("session", "process")))["cpu_saturated"]
    assert finding.severity == "note"


def test_a_host_that_is_full_for_part_of_the_time() -> None:
    """sar -u alone, 86 % on average."""
    at = {"ts": datetime(2026, 11, 20, 12, tzinfo=UTC), "interval_s": 600.0, "host": "h"}
    idle_pct = [2.0, 1.0, 22.0, 31.0]
    rows = [at | {"ts": at["ts"] + timedelta(minutes=10 * i), "idle_pct": idle} for i, idle in enumerate(idle_pct)]
    diagnosis = diagnose(Dataset.from_rows(cpu=rows))
    (finding,) = diagnosis.findings
    assert said(finding.title) == "The CPUs are saturated for 50 % of the time: 86 % of their time is used"
    assert diagnosis.health == "not_healthy"
    assert diagnose(Dataset.from_rows(cpu=rows[1:] + rows[2:])).healthy


def test_a_busy_host_that_makes_no_session_wait_is_a_note() -> None:
    diagnosis = diagnose(host(cpu=FULL, other_processes=HOGS))
    assert [(finding.cause, finding.severity) for finding in diagnosis.findings] == [("cpu_full", "note")]
    assert diagnosis.healthy


def test_throttled_group_is_seen_with_the_limit() -> None:
    dataset = host(time=BUSY_TIME, backend={"usr_pct": 10.0, "run_wait_pct": 5.0}, cgroup=THROTTLED)
    finding = found(dataset)["cpu_throttled"]
    assert "/postgres is limited to 0.5 CPUs" in said(finding.title)
    assert "90 % of the periods were cut short" in figures(finding.for_)
    assert "79 % of the host's CPU time is idle" in figures(finding.for_)
    assert finding.confidence == 0.95
    assert finding.impact.share is not None
    assert 0.5 < finding.impact.share <= 0.75


def test_throttling_explains_a_saturated_cpu() -> None:
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, cgroup=THROTTLED))
    assert findings["cpu_saturated"].explained_by == "cpu_throttled"
    assert "0 % of the host's CPU time is idle" in figures(findings["cpu_throttled"].against)


@pytest.mark.parametrize(
    "group",
    [
        {"cpu.limit_cpus": 2.0, "cpu.throttled_s_per_s": 0.0},
        THROTTLED | {"cpu.nr_throttled_per_s": 0.2, "cpu.throttled_s_per_s": 0.02},
        {"cpu.limit_cpus": 1.0},
    ],
    ids=["never", "rarely", "not measured"],
)
def test_group_with_a_limit_that_hardly_bites_is_healthy(group: dict[str, float]) -> None:
    assert "cpu_throttled" not in found(host(time=BUSY_TIME, cgroup=group))


def test_another_process_explains_the_log_writer() -> None:
    writer = {"icsw_per_s": 40.0, "vcsw_per_s": 20.0, "run_wait_pct": 20.0}
    findings = found(host(cpu=FULL, time=BUSY_TIME, backend=QUEUEING, other_processes=HOGS, log_writer=writer))
    assert findings["log_writer_preempted"].explained_by == "cpu_saturated"
    assert findings["cpu_saturated"].explained_by == "cpu_other_processes"


def test_stolen_time() -> None:
    stolen = {"usr_pct": 40.0, "sys_pct": 9.0, "irq_pct": 1.0, "steal_pct": 30.0, "idle_pct": 20.0, "wait_io_pct": 0.0}
    finding = found(host(cpu=stolen, time={("CPU", "CPU"): 2.0}))["cpu_stolen"]
    assert finding.impact.share == pytest.approx(30 / 80, abs=0.01)
    assert "30.0 % of all CPU time stolen" in figures(finding.for_)


@pytest.mark.parametrize("steal", [1.0, None])
def test_little_or_unknown_steal_is_no_finding(steal: float | None) -> None:
    assert "cpu_stolen" not in found(host(cpu={"steal_pct": steal}, time={("CPU", "CPU"): 2.0}))


def test_what_was_not_measured_speaks_for_nobody() -> None:
    nothing = dict.fromkeys(("idle_pct", "wait_io_pct", "run_queue", "pressure_some_pct", "steal_pct"))
    unknown = {"usr_pct": None, "sys_pct": None, "run_wait_pct": None, "icsw_per_s": None, "vcsw_per_s": None}
    dataset = host(cpu=nothing, backend=unknown, log_writer=unknown, other_processes=[unknown | {"command": "x"}])
    assert not found(dataset)
    assert not found(host(cpu=FULL, time=BUSY_TIME, without=("process",)))


@pytest.mark.parametrize(
    ("host", "is_full"),
    [
        ({"run_queue": 10.5, "idle_pct": 7.0}, True),
        ({"run_queue": 9.0, "idle_pct": 7.0}, True),
        ({"run_queue": 30.0, "idle_pct": 20.0}, False),
        ({"csw_per_s": 1000.0, "icsw_per_s": 320.0, "idle_pct": 2.0}, True),
        ({"csw_per_s": 1000.0, "icsw_per_s": 90.0, "idle_pct": 2.0}, True),
        ({"idle_pct": 2.0}, True),
    ],
)
def test_a_host_of_which_the_number_of_cpus_is_not_told(host: dict[str, float], *, is_full: bool) -> None:
    """As vmstat of Solaris prints it: nobody's time, a run queue, no CPUs."""
    dataset = Dataset.from_rows(cpu=[{"ts": 1_000_000, "sys_pct": 30.0, "wait_io_pct": 0.0} | host])
    found = {finding.cause: finding for finding in diagnose(dataset).findings}
    assert ("cpu_saturated" in found) is is_full
    for finding in found.values():
        assert "30 % of the time in the kernel" in [said(evidence.figure) for evidence in finding.for_]
        assert finding.confidence == 0.6


def test_full_cpus_name_their_users_also_behind_row_locks() -> None:
    locks = {("Application", "transactionid"): 6.0, ("CPU", "CPU"): 0.1}
    findings = found(host(cpu=FULL, time=locks, other_processes=[{"command": "sha256sum", "usr_pct": 98.0}] * 2))
    assert next(iter(findings)) == "row_locks"
    full = findings["cpu_full"]
    assert "sha256sum" in said(full.title)
    assert full.severity == "note"
    assert "sha256sum" in figures(full.for_)


def test_full_cpus_that_nobody_waits_for_are_well_used() -> None:
    calm = FULL | {"pressure_some_pct": 3.0, "run_queue": 2.0}
    assert "cpu_full" not in found(host(cpu=calm, other_processes=[{"command": "sha256sum", "usr_pct": 98.0}] * 2))


# A host as sar, or top, and pidstat show it: full for half of the time, its processes told, no session sampled.
HOGS_BESIDE = [
    {"command": "sh", "user": "root", "usr_pct": 60.0, "run_wait_pct": 30.0},
    {"command": "cron", "usr_pct": 0.5},
]
WAITING = {"usr_pct": 15.0, "sys_pct": 5.0, "run_wait_pct": 31.0}


def pidstat(*, idle_pct: tuple[float, float], without: tuple[str, ...] = (), **states: Any) -> Dataset:
    """Half of the time with the first idle time, half with the second, each second told by its own row."""
    both = (
        host(cpu=FULL | {"idle_pct": idle}, seconds=20, start=START + timedelta(seconds=20 * half), backend=WAITING,
             other_processes=HOGS_BESIDE, without=("session", "wait", "statistic", *without), **states)
        for half, idle in enumerate(idle_pct)
    )  # fmt: skip
    return Dataset.joined(both)


def test_cpus_full_for_a_part_of_the_time_name_their_users_where_processes_alone_are_told() -> None:
    """A process of the database that waits for a CPU is what follows, not the cause."""
    findings = found(pidstat(idle_pct=(1.0, 40.0)))
    assert next(iter(findings)) == "cpu_saturated"
    assert findings["process_waits_for_cpu"].explained_by == "cpu_saturated"
    finding = findings["cpu_saturated"]
    assert "sh (pid 5000, user root): 30 % of the host's CPU time" in figures(finding.for_)
    assert "(pid 1000 and 3 more, user postgres): 40 % of the host's CPU time" in figures(finding.for_)
    assert "cron" not in figures(finding.for_)
    whose = {said(item.figure).split()[0]: said(item.why) for item in finding.for_ if item.table == "process"}
    assert whose["sh"] == "uses the CPUs, and is no process of the database"
    assert whose["postgres:"] == "uses the CPUs"
    assert "what it cost the sessions" in said(finding.not_measured[0].what)


def test_who_takes_full_cpus_from_a_database_that_was_not_asked() -> None:
    findings = found(pidstat(idle_pct=(1.0, 1.0)))
    assert next(iter(findings)) == "cpu_other_processes"
    other = findings["cpu_other_processes"]
    assert other.impact.share is None
    assert said(other.not_measured[0].what) == "whether they are the database's own clients"
    assert findings["cpu_saturated"].explained_by == "cpu_other_processes"


def test_where_cpus_are_not_counted_users_are_named_in_cpus() -> None:
    """As pidstat beside sar -u, or top: neither tells how many CPUs there are."""
    dataset = pidstat(idle_pct=(1.0, 40.0))
    uncounted = dataset.replaced({"cpu": dataset.frame("cpu").filter(pl.col("cpu").is_null()).to_arrow()})
    assert "sh (pid 5000, user root): 0.6 CPUs" in figures(found(uncounted)["cpu_saturated"].for_)


def test_a_process_that_waits_names_who_uses_the_cpus_where_the_host_was_not_measured() -> None:
    findings = found(pidstat(idle_pct=(1.0, 1.0), without=("cpu",)))
    assert next(iter(findings)) == "process_waits_for_cpu"
    assert "sh (pid 5000, user root): 0.6 CPUs" in figures(findings["process_waits_for_cpu"].for_)


def test_processes_are_measured_against_their_own_time() -> None:
    """A sar of a whole hour beside a pidstat of its first seconds halves nobody's CPU time."""
    dataset = pidstat(idle_pct=(1.0, 1.0))
    hour = {"ts": START + timedelta(hours=1), "interval_s": 3600.0, "host": "host", "idle_pct": 3.0}
    beside = Dataset.joined([dataset, Dataset.from_rows(cpu=[hour])])
    told = (figures(found(one)["cpu_other_processes"].for_) for one in (dataset, beside))
    assert len({text.partition(" | ")[0] for text in told}) == 1
