"""Whether the machine's own disk stood still."""

import os
import time
from pathlib import Path

import pytest

from doctord.lab.host.disk import DiskPace, synced_writes

STALL_S = 0.3


def test_the_slowest_write_is_told_of_the_time_that_it_was_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stalls = iter([0.0, 0.0, STALL_S])
    monkeypatch.setattr(os, "fdatasync", lambda _file: time.sleep(next(stalls, 0.0)))
    with synced_writes(tmp_path) as writes:
        began = time.time()
        while (slowest_ms := writes.slowest_ms(began, time.time())) is None or slowest_ms < STALL_S * 500:
            time.sleep(0.02)
        at_it = time.time()
        time.sleep(2 * STALL_S)
    slowest_ms = writes.slowest_ms(began, time.time())
    assert slowest_ms is not None
    assert slowest_ms >= STALL_S * 1e3
    assert writes.slowest_ms(at_it, at_it) == slowest_ms
    assert writes.slowest_ms(began - 10, began - 5) is None


def test_where_nothing_can_be_written_nothing_is_told(tmp_path: Path) -> None:
    with synced_writes(tmp_path / "not there") as writes:
        time.sleep(0.05)
    assert writes.slowest_ms(0, time.time()) is None


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
