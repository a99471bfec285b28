"""Microstates of a database's processes, where the database itself was not asked."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from read.texts import dataset_of, dataset_of_sample
from shared import CASEBOOK, sample


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def process(**states: Any) -> Dataset:
    row = {
        "ts": 1_000_000,
        "pid": 7,
        "command": "oracle",
        "usr_pct": 5.0,
        "sys_pct": 1.0,
        "sleep_pct": 94.0,
        "lock_pct": 0.0,
    }
    return Dataset.from_rows(process=[row | {"run_wait_pct": 0.0} | states])


def test_the_casebooks_process_is_bound_by_its_cpu_and_the_other_waits() -> None:
    findings = found(dataset_of(sample(CASEBOOK / "cpu/prstat-m.txt")))
    assert list(findings) == ["process_on_one_cpu"]
    finding = findings["process_on_one_cpu"]
    assert said(finding.title) == "oracle (pid 5221) uses the whole of one CPU"
    assert said(finding.for_[0].figure) == "oracle (pid 5221): user 100 %, 11 involuntary switches in an interval"
    assert "asleep 69 %" in said(finding.against[0].figure)
    assert "waits" in said(finding.against[0].why)


@pytest.mark.parametrize(("usr_pct", "is_bound"), [(93.0, False), (94.0, True), (None, False)])
def test_a_whole_cpu(usr_pct: float | None, *, is_bound: bool) -> None:
    assert ("process_on_one_cpu" in found(process(usr_pct=usr_pct, sleep_pct=0.0))) is is_bound


@pytest.mark.parametrize(("run_wait_pct", "waits"), [(9.9, False), (10.0, True), (None, False)])
def test_waiting_for_a_cpu(run_wait_pct: float | None, *, waits: bool) -> None:
    assert ("process_waits_for_cpu" in found(process(run_wait_pct=run_wait_pct))) is waits


@pytest.mark.parametrize(("lock_pct", "waits"), [(19.9, False), (20.0, True), (None, False)])
def test_waiting_for_locks(lock_pct: float | None, *, waits: bool) -> None:
    assert ("process_waits_for_locks" in found(process(lock_pct=lock_pct))) is waits


def test_processes_of_others_are_not_judged() -> None:
    assert not found(process(usr_pct=99.0, command="java"))


def test_sampled_sessions_tell_better() -> None:
    findings = found(host(backend={"usr_pct": 97.0, "sys_pct": 2.0, "run_wait_pct": 20.0}))
    assert not {"process_on_one_cpu", "process_waits_for_cpu"} & findings.keys()


def test_a_full_host_explains_it() -> None:
    both = Dataset.joined([dataset_of_sample("prstat.m.txt"), dataset_of_sample("vmstat.solaris.txt")])
    findings = found(both)
    assert next(iter(findings)) == "cpu_saturated"
    assert findings["process_waits_for_cpu"].explained_by == "cpu_saturated"


@pytest.mark.parametrize(
    ("states", "is_bound"),
    [
        ({"command": "mysqld", "usr_pct": 583.0, "sys_pct": 40.0}, False),  # six CPUs are not one
        ({"command": "mysqld", "usr_pct": 98.0}, False),  # of all its threads together
        ({"command": "mysqld", "usr_pct": 98.0, "threads": 1}, True),
        ({"command": "oracle", "usr_pct": 98.0, "threads": 30}, False),
        ({"command": "oracle", "usr_pct": 98.0}, True),
    ],
)
def test_of_several_threads_nothing_is_said_of_one(states: dict[str, Any], *, is_bound: bool) -> None:
    assert ("process_on_one_cpu" in found(process(sleep_pct=None, **states))) is is_bound


@pytest.mark.parametrize(
    ("command", "named", "others"),
    [
        ("mysqld", "performance_schema.threads", ("v$process", "pg_stat_activity")),
        ("oracle", "v$process", ("performance_schema", "pg_stat_activity")),
        ("postgres", "pg_stat_activity", ("v$process", "performance_schema")),
    ],
)
def test_where_to_look_is_said_for_the_vendor_that_is_there(command: str, named: str, others: tuple[str, ...]) -> None:
    (unseen,) = found(process(command=command, run_wait_pct=30.0))["process_waits_for_cpu"].not_measured
    assert named in said(unseen.grant)
    assert not any(other in said(unseen.grant) for other in others)


def test_many_threads_wait_more_than_all_of_the_time() -> None:
    finding = found(process(command="mysqld", run_wait_pct=350.0))["process_waits_for_cpu"]
    assert said(finding.title) == "3.5 threads of mysqld (pid 7) wait for a CPU on average"


def test_advice_is_of_the_vendor_whose_processes_run() -> None:
    case = Case(process(command="mysqld"))
    assert case.vendors == {"mysql"}
    assert case.components == set()
    assert Case(host()).vendors == {"postgresql"}


SECOND = 1_000_000


def reports(*shares: float, command: str = "mysqld", **states: Any) -> Dataset:
    """A process in reports of 5 s each, with these shares of a CPU."""
    row = {"pid": 7, "command": command, "interval_s": 5.0, "sys_pct": 0.5, "run_wait_pct": 0.0} | states
    return Dataset.from_rows(
        process=[row | {"ts": 5 * SECOND * (number + 1), "usr_pct": share} for number, share in enumerate(shares)]
    )


@pytest.mark.parametrize(
    ("command", "shares", "title"),
    [
        ("mysqld", (1, 1, 1, 93, 99), "mysqld (pid 7) uses the whole of one CPU for 40 % of the time"),
        ("mysqld", (99, 99, 99, 1, 1), "mysqld (pid 7) uses the whole of one CPU for 60 % of the time"),
        ("postgres", (70, 60, 20, 96, 99), "postgres (pid 7) uses the whole of one CPU for 40 % of the time"),
        ("mysqld", (70, 60, 20, 96, 99), None),  # threads that happen to meet at one CPU
        ("mysqld", (1, 1, 1, 93, 199), None),
        ("mysqld", (1, 1, 1, 1, 99), None),  # a burst
        ("mysqld", (99, 99, 99, 99, 99), None),
        ("postgres", (1,) * 40 + (99, 99), None),
    ],
)
def test_a_whole_cpu_late_in_a_file(command: str, shares: tuple[float, ...], title: str | None) -> None:
    finding = found(reports(*shares, command=command)).get("process_on_one_cpu")
    assert (finding and said(finding.title)) == title


def test_threads_speak_against_one_of_them() -> None:
    finding = found(reports(1, 1, 99, 99))["process_on_one_cpu"]
    assert (finding.confidence, said(finding.against[-1].figure)) == (0.6, "it has several threads")
    assert "user 99 %" in said(finding.for_[0].figure)  # of that part, not of all


def test_waiting_late_in_a_file() -> None:
    early, late = reports(5, 5, 5, 5, 5, 5), reports(5, 5, 5, run_wait_pct=25.0)
    late_rows = late.frame("process").to_dicts()
    rows = [row | {"ts": row["ts"].timestamp() * SECOND} for row in early.frame("process").to_dicts()]
    after = [row | {"ts": row["ts"].timestamp() * SECOND + 30 * SECOND} for row in late_rows]
    finding = found(Dataset.from_rows(process=[*rows, *after]))["process_waits_for_cpu"]
    assert said(finding.title) == "mysqld (pid 7) waits for a CPU 25 % of the time, in 33 % of the reports"


def test_the_sum_of_user_and_kernel_is_of_an_interval_or_not_judged() -> None:
    rows = [{"ts": n * SECOND, "pid": 7, "command": "oracle", "cpu_pct": 99.0} for n in (5, 10, 15)]
    assert "process_on_one_cpu" in found(Dataset.from_rows(process=[row | {"interval_s": 5.0} for row in rows]))
    assert "process_on_one_cpu" not in found(Dataset.from_rows(process=rows[:1]))


def test_bytes_alone_earn_no_clean_bill_of_processes() -> None:
    rows = [
        {"ts": 5 * SECOND * n, "pid": pid, "command": "mysqld", "interval_s": 5.0, "write_bytes_per_s": 5e8}
        for n in (1, 2, 3)
        for pid in (7, 8)
    ]
    assert diagnose(Dataset.from_rows(process=rows)).health == "not_judged"
    timed = [row | {"usr_pct": 1.0, "sys_pct": 0.5} for row in rows]
    assert diagnose(Dataset.from_rows(process=timed)).health == "healthy"
