"""Disks that serve hardly any of the database's reads are not its own."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.oracle_hosts import START, oracle_host
from doctord.analyse.storage.other_storage import other_storage
from doctord.analyse.waits import foreground

READS: dict[str, tuple[float, float] | None] = {"db file sequential read": (70_000.0, 0.5)}
CACHED: dict[str, tuple[float, float] | None] = {"db file sequential read": (70_000.0, 0.05)}


def disk(reads_per_s: float | None, **more: Any) -> dict[str, Any]:
    return {"device": "sda", "reads_per_s": reads_per_s, "writes_per_s": 3.0, **more}


@pytest.mark.parametrize(
    ("waits", "disks", "is_other"),
    [
        (READS, [disk(0.0)], True),
        (READS, [disk(300.0), disk(400.0, device="sdb")], True),
        (READS, [disk(9000.0)], False),  # an eighth of them
        (READS, [disk(4000.0), disk(4000.0, device="sdb")], False),  # together
        (READS, [disk(None)], False),
        (READS, [], False),
        ({"db file sequential read": (60.0, 5.0)}, [disk(0.0)], False),  # few reads
        (CACHED, [disk(0.0)], True),  # writes are elsewhere, too
        (CACHED, [disk(0.0, writes_per_s=40.0)], False),  # the file system's cache
    ],
)
def test_other_storage(waits: dict[str, Any], disks: list[dict[str, Any]], *, is_other: bool) -> None:
    dataset = oracle_host(waits=waits, extra={"disk": disks})
    assert (other_storage(dataset, foreground(dataset)) is not None) is is_other


def test_how_much_is_told() -> None:
    dataset = oracle_host(waits=READS, extra={"disk": [disk(2.0), disk(1.0, device="sdb")]})
    found = other_storage(dataset, foreground(dataset))
    assert found
    assert (round(found.reads_per_s), found.seen_per_s, found.devices) == (70_005, 3.0, 2)


def test_disks_of_another_time_tell_nothing() -> None:
    dataset = oracle_host(waits=READS, extra={"disk": [disk(0.0)]})
    moved = dataset.frame("disk").with_columns(ts=START - timedelta(hours=5))
    later = dataset.replaced({"disk": moved.to_arrow()})
    assert other_storage(later, foreground(later)) is None
