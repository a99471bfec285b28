"""Means since boot in files that have one each."""

from datetime import UTC, datetime, timedelta

from doctord.analyse.since_boot import without_means_since_boot
from doctord.dataset.dataset import Dataset
from doctord.dataset.tables import MEANS_SINCE_BOOT
from doctord.diagnose.engine import diagnose

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
AT = [{"ts": NOON + timedelta(hours=hour), "host": "h"} for hour in range(3)]


def host(reports: int) -> Dataset:
    """Reports since boot of some hours, and a figure of a minute that was measured at the first of them."""
    events = [{"kind": "not measured", "subject": MEANS_SINCE_BOOT, "text": "t", "hint": "h"} | at for at in AT]
    disks = [at | {"device": "sda", "write_ms": 1.0, "writes_per_s": 9.0} for at in AT[:reports]]
    measured = AT[0] | {"device": "sdb", "interval_s": 60.0, "write_ms": 2.0, "writes_per_s": 9.0}
    return Dataset.from_rows(event=events[:reports], disk=[*disks, measured])


def test_of_several_moments_only_what_was_measured_is_left() -> None:
    assert without_means_since_boot(host(3)).frame("disk")["device"].to_list() == ["sdb"]
    assert without_means_since_boot(host(1)).frame("disk")["device"].to_list() == ["sda", "sdb"]
    assert without_means_since_boot(host(0)).frame("disk")["device"].to_list() == ["sdb"]


def test_they_are_no_clean_bill() -> None:
    rows = [at | {"device": "sda", "write_ms": 1.0, "writes_per_s": 9.0} for at in AT]
    assert diagnose(Dataset.from_rows(disk=rows)).health == "healthy", "reports that tell no interval"
    events = [{"kind": "not measured", "subject": MEANS_SINCE_BOOT, "text": "t", "hint": "h"} | at for at in AT]
    assert diagnose(Dataset.from_rows(disk=rows, event=events)).health == "not_judged"
