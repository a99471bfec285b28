from pathlib import Path

import pytest

from doctord.lab.load.workload import Pace, Workload

REPORT = """\
pgbench (15.18 (Debian 15.18-0+deb12u1))
progress: 1000.500 s, 90.0 tps, lat 9.000 ms stddev 1.000, 0 failed, lag 0.100 ms
progress: 1001.500 s, 100.0 tps, lat 1.000 ms stddev 0.100, 0 failed, lag 0.100 ms
progress: 1002.500 s, 50.0 tps, lat 4.000 ms stddev 0.100, 0 failed, lag 0.100 ms
progress: 1003.500 s, 0.0 tps, lat 0.000 ms stddev 0.000, 0 failed, lag 0.000 ms
"""


@pytest.fixture
def load(tmp_path: Path) -> Workload:
    report = tmp_path / "report.txt"
    report.write_text(REPORT)
    return Workload(report)


def test_pace_weighs_latency_by_transactions(load: Workload) -> None:
    assert load.pace(1000.4, 1003.0) == Pace(tps=75.0, latency_ms=2.0)


def test_a_second_that_began_before_the_window_does_not_count(load: Workload) -> None:
    assert load.pace(1000.0, 1001.6) == Pace(tps=100.0, latency_ms=1.0)


def test_no_transaction_has_no_latency(load: Workload) -> None:
    assert load.pace(1002.5, 1004.0) == Pace(tps=0.0, latency_ms=None)


def test_no_report_is_no_pace(load: Workload) -> None:
    assert load.pace(1003.5, 1004.0) is None
