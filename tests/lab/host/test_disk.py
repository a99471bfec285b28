"""Whether the machine's own disk stood still."""

import time
from pathlib import Path

import pytest

from doctord.lab.host.disk import DiskPace, SyncedWrites, synced_writes
from lab.host.test_processes import wait_for


def test_writes_are_made_and_told_until_the_context_ends(tmp_path: Path) -> None:
    began = time.time()
    with synced_writes(tmp_path) as writes:
        wait_for(lambda: writes.slowest_ms(began, time.time()) is not None)
        assert (tmp_path / "synced-writes").exists()
    told = writes.report.read_text()
    time.sleep(0.3)
    assert writes.report.read_text() == told


def test_the_slowest_is_told_of_the_time_that_it_was_at_it(tmp_path: Path) -> None:
    report = tmp_path / "writes"
    report.write_text("\n100.0 0.001\n100.1 2.5\n102.7 0.002\n102.9")
    writes = SyncedWrites(report)
    assert writes.slowest_ms(102.0, 102.8) == 2500.0
    assert writes.slowest_ms(102.65, 102.8) == 2.0
    assert writes.slowest_ms(90.0, 100.05) == 1.0
    assert writes.slowest_ms(90.0, 95.0) is None
    assert writes.slowest_ms(102.8, 103.4) == pytest.approx(500.0)


def test_where_nothing_can_be_written_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "synced-writes").mkdir()
    began = time.time()
    with synced_writes(tmp_path) as writes:
        wait_for(lambda: "Error" in writes.report.read_text())
    assert writes.slowest_ms(began, time.time()) is None


def test_a_write_that_failed_is_not_one_that_is_under_way(tmp_path: Path) -> None:
    report = tmp_path / "writes"
    report.write_text("\n100.0 0.001\n100.1 failed")
    assert SyncedWrites(report).slowest_ms(99.0, 200.0) == 1.0
    report.write_text("\n100.0 0.001\n100.1Traceback (most recent call last):\n  File")
    assert SyncedWrites(report).slowest_ms(99.0, 200.0) == 1.0


@pytest.mark.parametrize(
    ("before_ms", "still"), [(None, False), (1.0, False), (99.9, False), (100.0, True), (812.4, True)]
)
def test_a_disk_stands_still_from_a_tenth_of_a_second_on(before_ms: float | None, still: bool) -> None:  # noqa: FBT001
    assert DiskPace(before_ms, 812.4).stood_still is still
