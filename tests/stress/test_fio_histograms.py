"""fio's log of histograms."""

from pathlib import Path

import pytest

from doctord.stress.fio_histograms import latencies_of

BINS = 1856


def line(ended_ms: int, direction: int, counts: dict[int, int]) -> str:
    return ", ".join(map(str, (ended_ms, direction, 8192, *(counts.get(at, 0) for at in range(BINS)))))


def test_threads_are_added_by_second_and_direction(tmp_path: Path) -> None:
    one = [line(1003, 0, {1000: 7}), line(2010, 0, {1000: 5}), line(2010, 1, {1100: 2}), line(3100, 0, {1000: 1})]
    other = [line(1150, 0, {1000: 3}), line(2040, 0, {1000: 4})]
    (tmp_path / "log_clat_hist.1.log").write_text("\n".join(one) + "\n")
    (tmp_path / "log_clat_hist.2.log").write_text("\n".join(other) + "\n")
    found = latencies_of(tmp_path, 1, 2)
    assert {name: one.counts.sum(axis=1).tolist() for name, one in found.items()} == {"read": [9, 1], "write": [2, 0]}
    assert found["read"].quantile_us(0.5) == pytest.approx(1712, rel=0.024)  # the middle of bin 1000


def test_no_log_is_nothing(tmp_path: Path) -> None:
    assert latencies_of(tmp_path, 1, 2) == {}
    (tmp_path / "log_clat_hist.1.log").touch()
    assert latencies_of(tmp_path, 1, 2) == {}
