"""Tables of a time and a latency."""

from pathlib import Path

import polars as pl
import pytest

from doctord.errors import UserError
from doctord.read.formats import Reading
from doctord.read.moments import ZONE_ASSUMED
from latency_files import latencies, read_text, reasons
from reading import read_sample


def waits(reading: Reading) -> list[tuple[float, str, float]]:
    found = latencies(reading).filter(pl.col("count") > 0).select("ts", "subject", "waited_us")
    return [(ts.timestamp(), subject, pytest.approx(us)) for ts, subject, us in found.rows()]


@pytest.mark.parametrize(
    "text",
    [
        "time,latency_us\n1717068453.1,250\n",
        "timestamp_ms;name;elapsed (ms)\r\n1717068453100;latency;0,25\r\n",
        "\ufefflatencyNs\tdate\n250000\t2024-05-30T13:27:33.100+02:00\n",
        "# a remark\n\nts wait_ms\n1717068453100000 0.25\n",
        "latency[s],clock,query\n2.5e-4,2024-05-30 11:27:33Z,\n",
    ],
)
def test_columns_and_units_are_found_by_their_names(tmp_path: Path, text: str) -> None:
    reading = read_text(tmp_path, text)
    assert waits(reading)[0][1:] == ("latency", 250.0)
    assert waits(reading)[0][0] in {1717068453.0, 1717068454.0}
    assert reading.skipped == []


def test_what_was_timed_makes_subjects(tmp_path: Path) -> None:
    text = 'time_s,event,latency_ms\n1,"read, cached",2\n1,write,3\n'
    assert sorted(waits(read_text(tmp_path, text))) == [(1.0, "read, cached", 2000.0), (1.0, "write", 3000.0)]


def test_numbers_alone_need_a_unit(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not say the unit"):
        read_text(tmp_path, "1 250\n2 300\n")
    assert waits(read_text(tmp_path, "1 250\n2 300\n", unit_us=1.0)) == [
        (1.0, "latency", 250.0),
        (2.0, "latency", 300.0),
    ]


def test_times_of_day_need_a_zone(tmp_path: Path) -> None:
    text = "date,latency_us\n2024-05-30 13:27:33,7\n"
    assert waits(read_text(tmp_path, text, zone="Europe/Paris")) == [(1717068453.0, "latency", 7.0)]
    assert reasons(read_text(tmp_path, text)) == [ZONE_ASSUMED]


def test_bad_lines_cost_themselves(tmp_path: Path) -> None:
    text = "time,latency_us\n1,250\nx,1\n2\n3,-5\n4,nan\n2,300"
    for bad in (text, text.replace("\n", "\r\n")):
        reading = read_text(tmp_path, bad)
        assert latencies(reading)["count"].sum() == 2
        assert reasons(reading) == ["no time and latency"] * 2 + ["a time that cannot be one"] * 2


@pytest.mark.parametrize("text", ["time,latency_us\n", "a,b\n1,2\n", "name,latency_us\nx,1\n"])
def test_a_table_without_both_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        read_text(tmp_path, text)


def test_times_and_deltas_of_dtrace_with_their_units_in_the_heading() -> None:
    reading = read_sample("pairs_csv.delta.txt")
    assert waits(reading) == [(2.0, "sd1", 180.0), (2.0, "sd1", 9200.0), (2.0, "sd2", 640.0)]
