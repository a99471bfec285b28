"""Interrupts on one CPU: found where the others are free of them, and on no healthy host."""

from typing import Any

import pytest

from diagnose.hosts import host
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
