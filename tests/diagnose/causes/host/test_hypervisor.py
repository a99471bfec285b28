"""Hypervisor: guests that wait for pages."""

from collections.abc import Mapping
from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from reading import read_sample

WAITING = {
    "guest": "ORA01", "page_wait_pct": 31.0, "page_reads_per_s": 25.0, "resident_bytes": 2**31,
    "paged_out_bytes": 2**30,
}  # fmt: skip


def found(changes: Mapping[str, Any], x_to_ds: float | None = None) -> list[Finding]:
    at = {"ts": 1_700_000_000_000_000, "interval_s": 60.0, "host": "zvm"}
    statistic = [at | {"component": "zvm", "entity": "ORA01", "name": "UPAGE.X>DS", "value": x_to_ds, "kind": "gauge"}]
    dataset = Dataset.from_rows(
        guest=[at | WAITING | changes], **({"statistic": statistic} if x_to_ds is not None else {})
    )
    return [finding for finding in diagnose(dataset).findings if finding.cause == "hypervisor_paging"]


def test_a_guest_that_waits_for_pages() -> None:
    (finding,) = found({}, x_to_ds=6.5)
    assert said(finding.title) == "Guest ORA01 waits for pages of the hypervisor in 31 % of its active time"
    assert (finding.impact.share, finding.confidence, finding.against) == (None, 0.85, ())
    assert [said(evidence.figure) for evidence in finding.for_] == [
        "31 % of samples waiting for a page",
        "25 pages/s read back",
        "6.5 pages/s from expanded storage to disk",
        "1.0 GiB paged out beside 2.0 GiB resident",
    ]


@pytest.mark.parametrize("changes", [{"page_wait_pct": 4.9}, {"page_wait_pct": None}])
def test_below_the_threshold_or_not_measured_nothing_is_said(changes: dict[str, Any]) -> None:
    assert found(changes) == []


def test_pages_that_do_not_come_back_speak_against_it() -> None:
    (finding,) = found({"page_reads_per_s": 0.5})
    assert finding.confidence == 0.6
    assert [said(evidence.why) for evidence in finding.against] == ["what lies out is hardly needed"]


def test_screens_of_the_hypervisor() -> None:
    batches = [*read_sample("zvm.ustat.txt", zone="UTC").batches, *read_sample("zvm.upage.txt", zone="UTC").batches]
    (finding,) = [one for one in diagnose(Dataset.from_batches(batches)).findings if one.cause == "hypervisor_paging"]
    assert "ORA01" in said(finding.title)
    assert "25 pages/s read back" in {said(evidence.figure) for evidence in finding.for_}
