"""Whether the machine's own disk stood still."""

import time
from pathlib import Path

import pytest

from doctord.lab.host.disk import DiskPace, SyncedWrites, synced_writes


def test_writes_are_made_and_told_until_the_context_ends(tmp_path: Path) -> None:
    began = time.time()
    with synced_writes(tmp_path) as writes:
        while writes.slowest_ms(began, time.time()) is None:
            time.sleep(0.02)
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
        while "Error" not in writes.report.read_text():
            time.sleep(0.02)
    assert writes.slowest_ms(began, time.time()) is None


@pytest.mark.parametrize(
    ("pace", "during", "still"),
    [
        (DiskPace(1.0, 2.0), True, False),
        (DiskPace(100.0, 2.0), False, True),
        (DiskPace(1.0, 100.0), False, False),
        (DiskPace(1.0, 100.0), True, True),
        (DiskPace(None, None), True, False),
    ],
)
def test_a_disk_stands_still_from_a_tenth_of_a_second_on(pace: DiskPace, during: bool, still: bool) -> None:  # noqa: FBT001
    assert pace.stood_still(during=during) is still
