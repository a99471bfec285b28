"""Latency logs of fio."""

from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.loadtest.fio_log import mean_of_ms
from doctord.read.single_waits import CLOCK_FROM_1970
from latency_files import latencies, read_text, reasons
from reading import figure, read_sample

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


def test_four_columns_of_fio_2_are_microseconds() -> None:
    reading = read_sample("fio_log.fio2.log")
    found = latencies(reading)
    assert found.filter(subject="fio read")["waited_us"].sum() == 8250.0, "1.9 ms each, and not 1.9 us"
    assert any("taken for microseconds" in note for note in reading.notes)
    assert latencies(read_sample("fio_log.fio2.log", unit_us=1e-3))["waited_us"].sum() == pytest.approx(10.05), (
        "--unit decides"
    )


def test_four_columns_of_fio_3_are_nanoseconds(tmp_path: Path) -> None:
    text = "".join(f"{at}, 950000, 0, 4096\n" for at in range(50))
    reading = read_text(tmp_path, text)
    assert latencies(reading)["waited_us"].sum() == pytest.approx(50 * 950.0)


def test_a_mean_is_no_wait() -> None:
    reading = read_sample("fio_log.avg.log")
    assert latencies(reading).is_empty()
    assert figure(reading, "fio.lat_mean", entity="read") == pytest.approx([1850.412, 1902.331, 1899.17, 2150.023])
    assert any("means over 250 ms" in note for note in reading.notes)


def test_even_lines_are_means_and_uneven_ones_are_waits() -> None:
    assert mean_of_ms("".join(f"{at}, 5, 0, 4096, 0\n" for at in range(1000, 6000, 1000))) == 1000.0
    assert mean_of_ms("".join(f"{at}, 5, 0, 4096, 0\n" for at in (12, 31, 44, 90, 91))) is None
