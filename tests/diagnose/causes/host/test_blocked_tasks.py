"""Tasks blocked on I/O, where no latency of a device is told."""

from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

READING = {"run_queue": 3.0, "blocked_tasks": 12.0, "idle_pct": 5.0, "wait_io_pct": 75.0, "usr_pct": 20.0}


def vmstat(*, swapped: float = 0.0, disk: dict[str, Any] | None = None, **cpu: float | None) -> Dataset:
    """A minute of what vmstat tells, as twelve reports of five seconds."""
    times = [{"ts": 5_000_000 * number, "interval_s": 5.0} for number in range(1, 13)]
    memory = {"page_in_kib_per_s": 4000.0, "swap_in_per_s": swapped}
    return Dataset.from_rows(
        cpu=[time | READING | cpu for time in times],
        memory=[time | memory for time in times],
        disk=[time | {"device": "sda"} | disk for time in times] if disk else [],
    )


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_tasks_that_wait_for_an_unknown_device() -> None:
    finding = found(vmstat())["tasks_blocked"]
    assert said(finding.title) == "Most tasks wait for I/O: 12.0 blocked, 3.0 running or ready"
    assert (finding.severity, finding.impact.share) == ("warning", None)
    assert "80 % of the tasks" in " | ".join(said(item.figure) for item in finding.for_)
    assert "pages from swap" in said(finding.against[0].figure)


def test_pages_from_swap_are_among_what_is_read() -> None:
    finding = found(vmstat(swapped=300.0))["tasks_blocked"]
    assert "30 % of what is read are pages from swap" in " | ".join(said(item.figure) for item in finding.for_)


@pytest.mark.parametrize(
    "cpu",
    [
        {"run_queue": 30.0},  # more have work to do than wait
        {"blocked_tasks": 1.0, "run_queue": 0.0},  # a backup
        {"blocked_tasks": None},
    ],
)
def test_few_blocked_tasks_are_nothing(cpu: dict[str, float | None]) -> None:
    assert "tasks_blocked" not in found(vmstat(**cpu))


@pytest.mark.parametrize(
    ("cpu", "health"),
    [
        ({"idle_pct": 60.0, "wait_io_pct": 20.0}, "not_judged"),  # a large host, with a queue before some device
        ({"wait_io_pct": None, "idle_pct": 60.0}, "not_judged"),
        ({"idle_pct": 90.0, "wait_io_pct": 5.0, "blocked_tasks": 2.5, "run_queue": 1.0}, "healthy"),
    ],
)
def test_fewer_than_cpus_are_a_note_and_a_queue_is_no_clean_bill(cpu: dict[str, float | None], health: str) -> None:
    diagnosis = diagnose(vmstat(**cpu))
    assert (diagnosis.findings[0].severity, diagnosis.health) == ("note", health)
    assert diagnosis.findings[0].cause == "tasks_blocked"


@pytest.mark.parametrize(("disk", "told"), [({"read_ms": 0.2, "reads_per_s": 9000.0}, False), ({"util_pct": 60}, True)])
def test_latencies_of_devices_say_more(disk: dict[str, Any], *, told: bool) -> None:
    assert ("tasks_blocked" in found(vmstat(disk=disk))) is told
