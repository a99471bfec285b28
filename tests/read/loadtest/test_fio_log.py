"""Latency logs of fio."""

from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.single_waits import CLOCK_FROM_1970
from latency_files import latencies, read_text, reasons

LOG = "0, 239571, 0, 4096, 0\n999, 103021, 1, 4096, 8192\n1001, 50000, 0, 4096, 0, 0x0001\n"


def test_waits_by_direction_and_second(tmp_path: Path) -> None:
    reading = read_text(tmp_path, LOG.replace("\n", "\r\n"))
    found = latencies(reading).filter(latencies(reading)["count"] > 0)
    assert [(ts.timestamp(), *rest) for ts, *rest in found.select("ts", "subject", "waited_us").rows()] == [
        (0.0, "fio read", 239.571),
        (1.0, "fio write", 103.021),
        (2.0, "fio read", 50.0),
    ]
    assert reasons(reading) == [CLOCK_FROM_1970]


def test_times_since_1970_are_the_wall_clocks(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "1717068453100, 239571, 0, 4096, 0\n")
    assert str(latencies(reading)["ts"][0]) == "2024-05-30 11:27:34+00:00"
    assert reading.skipped == []


def test_a_cut_line_costs_itself(tmp_path: Path) -> None:
    reading = read_text(tmp_path, LOG + LOG + "1002, 50")
    assert latencies(reading)["count"].sum() == 6
    assert reasons(reading)[0] == "not a line of a latency log"


@pytest.mark.parametrize("name", ["job_bw.1.log", "job_iops.2.log"])
def test_logs_of_something_else_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(LOG)
    with pytest.raises(UserError, match="not of latencies"):
        read_file(tmp_path / name)
