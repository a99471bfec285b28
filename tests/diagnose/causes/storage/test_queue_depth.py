"""Queue depth: waiting in the host because the device is given few requests at a time."""

from typing import Any

import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report import wording
from doctord.report.phrases import said
from read.texts import dataset_of, dataset_of_sample
from shared import CASEBOOK, sample

CAPPED = {
    "device": "c1t0d0", "reads_per_s": 310.0, "writes_per_s": 90.0, "host_queue": 12.0, "device_queue": 8.0,
    "host_queue_ms": 30.0, "device_ms": 20.0, "util_pct": 100.0,
}  # fmt: skip

# Of disks of IBM Z.
READING = {("User I/O", "DataFileRead"): 6.0, ("CPU", "CPU"): 1.0}
BUSY = {"device": "dasda", "reads_per_s": 900.0, "read_ms": 9.0, "device_queue": 9.0, "util_pct": 99.0}
UNIT = "IBM.750000000BH411.d300"


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def alone(**changes: Any) -> Dataset:
    rows = [CAPPED | changes | {"ts": second, "interval_s": 1.0} for second in range(1, 6)]
    return Dataset.from_rows(disk=[row | {"ts": row["ts"] * 1_000_000} for row in rows])


def test_eight_at_a_time_are_too_few() -> None:
    finding = found(alone())["queue_depth_low"]
    assert said(finding.title) == "12 requests to c1t0d0 wait in the host, which gives it 8 at a time"
    assert (finding.impact.share, finding.confidence) == (None, 0.85)
    assert said(finding.for_[0].figure) == "12.0 requests waiting in the host"


@pytest.mark.parametrize(
    "changes",
    [
        {"host_queue": 0.9},
        {"host_queue_ms": 3.0},
        {"device_queue": 32.0},
        {"device_ms": 45.0},
        {"host_queue": None},
        {"host_queue_ms": None},
    ],
    ids=["nobody waits", "not felt", "deep already", "slow device", "not measured", "not timed"],
)
def test_queues_that_are_no_cause(changes: dict[str, Any]) -> None:
    assert "queue_depth_low" not in found(alone(**changes))


@pytest.mark.parametrize(
    ("name", "depth", "is_capped"),
    [("queue_depth", "8", True), ("queue_depth", "254", False), ("nr_requests", "256", False)],
)
def test_a_device_that_may_hold_more_is_not_short_of_depth(name: str, depth: str, *, is_capped: bool) -> None:
    told = {"ts": START, "component": "linux", "name": f"block.c1t0d0.{name}", "value": depth, "host": "host"}
    findings = found(Dataset.joined([alone(), Dataset.from_rows(setting=[told])]))
    assert ("queue_depth_low" in findings) == is_capped


def test_a_queue_that_was_longer_before_is_not_capped() -> None:
    longer = alone(device_queue=20.0, host_queue=0.0)
    assert "queue_depth_low" not in found(Dataset.joined([alone(), longer]))


def test_with_sessions_it_must_be_felt() -> None:
    waiting = {("User I/O", "DataFileRead"): 2.0}
    finding = found(host(extra={"disk": [CAPPED]}, time=waiting))["queue_depth_low"]
    assert finding.impact.share == pytest.approx(1.0)
    assert "queue_depth_low" not in found(host(extra={"disk": [CAPPED]}, time={("CPU", "CPU"): 0.5}))


def test_what_the_system_counts_itself_is_said() -> None:
    finding = found(dataset_of_sample("iostat_aix.D.txt"))["queue_depth_low"]
    assert "its queue was found full 480 times per s" in [said(evidence.figure) for evidence in finding.for_]
    assert finding.confidence == 0.6, "one report says little"


def test_the_casebooks_idle_disk_is_no_finding() -> None:
    diagnosis = diagnose(dataset_of(sample(CASEBOOK / "queue_depth/iostat-xnM.txt")))
    assert not diagnosis.findings
    assert diagnosis.health == "not_judged", "one report says little"
    assert [f"{vital.name} {wording.vital(vital)}" for vital in diagnosis.figures] == ["c1t10d0 latency 22.4 ms"]


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def unit(volumes: float, aliases: float) -> dict[tuple[str | None, str], float]:
    return {(UNIT, "dasd.volumes"): volumes, (UNIT, "dasd.aliases"): aliases}


def test_requests_wait_for_a_volume_with_few_aliases() -> None:
    findings = found(host(disk=BUSY, time=READING, kernel=unit(2, 6)))
    finding = findings["dasd_aliases_few"]
    assert said(finding.title) == f"2 volumes have 6 aliases in control unit {UNIT}"
    assert finding.impact.share == pytest.approx(6 / 7)
    assert figures(finding.for_) == "3.0 aliases for each volume | 8.0 requests that wait"
    assert not finding.against
    assert findings["device_saturated"].explained_by == "dasd_aliases_few"


def test_aliases_that_any_volume_may_use_speak_against_it() -> None:
    finding = found(host(disk=BUSY, time=READING, kernel=unit(4, 12)))["dasd_aliases_few"]
    assert figures(finding.against) == "12 aliases for 8.0 requests that wait"


@pytest.mark.parametrize(
    ("disk", "kernel"),
    [
        (BUSY, unit(2, 14)),
        (BUSY, unit(30, 20)),
        (BUSY | {"device_queue": 1.5}, unit(2, 0)),
        (BUSY, {}),
        (BUSY, {(UNIT, "dasd.volumes"): 0.0, (UNIT, "dasd.aliases"): 3.0}),
    ],
    ids=["seven each", "twenty of the unit", "nothing waits", "not measured", "aliases alone"],
)
def test_volumes_that_are_well(disk: dict[str, Any], kernel: dict[tuple[str | None, str], float]) -> None:
    assert "dasd_aliases_few" not in found(host(disk=disk, time=READING, kernel=kernel))


def test_lsdasd_alone_gives_a_note() -> None:
    finding = found(dataset_of_sample("lsdasd.txt"))["dasd_aliases_few"]
    assert said(finding.title) == "3 volumes have 2 aliases"
    assert finding.severity == "note"


def of_lscss(dasds: float, devices: int) -> dict[str, Finding]:
    """With so many DASDs in use by lscss, and block devices dasda, dasdb, ... by iostat, the first of them busy."""
    names = [f"dasd{letter}" for letter in "abcdefgh"[1:devices]]
    idle = [
        {"device": name, "reads_per_s": 1.0, "read_ms": 1.0, "device_queue": 0.0, "util_pct": 1.0} for name in names
    ]
    return found(host(disk=BUSY, time=READING, kernel={(None, "lscss.dasds"): dasds}, extra={"disk": idle}))


def test_what_lscss_counts_beyond_the_block_devices_are_aliases() -> None:
    finding = of_lscss(6.0, 4)["dasd_aliases_few"]
    assert said(finding.title) == "4 volumes have 2 aliases"
    assert "0.5 aliases for each volume" in said(finding.for_[0].figure)


@pytest.mark.parametrize(("dasds", "devices"), [(32.0, 4), (3.0, 4)], ids=["seven each", "fewer than block devices"])
def test_lscss_of_volumes_that_are_well_or_of_others(dasds: float, devices: int) -> None:
    assert "dasd_aliases_few" not in of_lscss(dasds, devices)


def test_control_units_of_lsdasd_by_unique_ids() -> None:
    findings = diagnose(dataset_of_sample("lsdasd.u.txt")).findings
    titles = {said(finding.title) for finding in findings if finding.cause == "dasd_aliases_few"}
    assert titles == {
        "2 volumes have 1 alias in control unit IBM.750000000BH411.d300",
        "1 volume has 0 aliases in control unit IBM.750000000BH411.d400",
    }
