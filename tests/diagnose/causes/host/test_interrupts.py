"""Interrupts on one CPU: found where the others are free of them, and on no healthy host."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said


def with_interrupts(*irq_pct: float, idle_pct: float = 60.0, sources: dict[str, float] | None = None) -> Dataset:
    cpus = [{"cpu": number, "irq_pct": irq, "idle_pct": idle_pct} for number, irq in enumerate(irq_pct)]
    kernel: Any = {(entity, "interrupts_per_s"): value for entity, value in (sources or {}).items()}
    return host(cpus=0, extra={"cpu": cpus}, kernel=kernel)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_one_cpu_serves_them_all() -> None:
    sources = {"CPU 1 virtio1-input.0": 21000.0, "CPU 1 NET_RX": 43000.0, "CPU 0 LOC": 1100.0}
    finding = found(with_interrupts(1.0, 62.0, 2.0, 1.0, sources=sources))["interrupts_on_one_cpu"]
    assert said(finding.title) == "CPU 1 serves the interrupts: 62 % of its time"
    told = [said(evidence.figure) for evidence in finding.for_]
    assert told[2:] == ["NET_RX: 43,000 a second", "virtio1-input.0: 21,000 a second"]
    assert not finding.against


def test_where_the_others_are_busy_it_is_less_sure() -> None:
    finding = found(with_interrupts(1.0, 62.0, idle_pct=5.0))["interrupts_on_one_cpu"]
    assert finding.confidence == 0.6
    assert "5 % idle" in said(finding.against[0].figure)


@pytest.mark.parametrize("irq_pct", [(62.0,), (50.0, 40.0), (35.0, 1.0), (1.0, 1.0, 1.0)])
def test_even_or_few_interrupts_are_no_finding(irq_pct: tuple[float, ...]) -> None:
    assert "interrupts_on_one_cpu" not in found(with_interrupts(*irq_pct))


def in_a_long_time(busy: int, of: int, others_irq_pct: float = 1.0) -> Dataset:
    """Two CPUs, minute by minute; the second serves interrupts at the beginning."""
    at = [{"ts": START + timedelta(minutes=minute), "interval_s": 60.0, "host": "h"} for minute in range(of)]
    first = [row | {"cpu": 0, "irq_pct": others_irq_pct, "idle_pct": 60.0} for row in at]
    second = [row | {"cpu": 1, "irq_pct": 70.0 if n < busy else 1.0, "idle_pct": 5.0} for n, row in enumerate(at)]
    return Dataset.from_rows(cpu=[*first, *second])


def test_a_long_time_without_them_does_not_hide_them() -> None:
    finding = found(in_a_long_time(busy=20, of=600))["interrupts_on_one_cpu"]
    assert said(finding.title) == "CPU 1 serves the interrupts: 70 % of its time, for 3.3 % of the time"


@pytest.mark.parametrize("dataset", [in_a_long_time(10, 600), in_a_long_time(20, 600, others_irq_pct=30.0)])
def test_a_burst_of_them_or_one_that_all_share_is_no_finding(dataset: Dataset) -> None:
    assert "interrupts_on_one_cpu" not in found(dataset)
