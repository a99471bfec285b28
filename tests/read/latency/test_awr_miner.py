"""Histograms over snapshots, of AWR-miner."""

import re
from pathlib import Path

import pytest

from doctord.errors import Refusal
from doctord.read.formats import read_file
from doctord.read.latency.awr_miner import NO_SNAPSHOT
from doctord.read.moments import ZONE_ASSUMED
from latency_files import CORPUS, buckets, latencies, read_text, reasons, sample

OUTPUT = """~~BEGIN-OS-INFORMATION~~
DB_NAME                                                      PRD
~~END-OS-INFORMATION~~
~~BEGIN-MAIN-METRICS~~
      snap      dur_m end                  inst     os_cpu
---------- ---------- -------------- ---------- ----------
       800         60 13/11/23 21:59          1       27.6
       801         30 13/11/23 22:29          1       27.4
~~END-MAIN-METRICS~~
~~BEGIN-IO-WAIT-HISTOGRAM~~

   SNAP_ID WAIT_CLASS           EVENT_NAME                            WAIT_TIME_MILLI WAIT_COUNT
---------- -------------------- ------------------------------------- --------------- ----------
       800 User I/O             db file scattered read                              1          3
       800 User I/O             db file scattered read                              4          8
       801 Commit               log file sync                                       2          5
       802 Commit               log file sync                                       2          5
       801 Commit               log fi
~~END-IO-WAIT-HISTOGRAM~~
"""


def test_each_snapshot_is_an_interval(tmp_path: Path) -> None:
    reading = read_text(tmp_path, OUTPUT.replace("\n", "\r\n"))
    assert sorted(buckets(reading, "db", "interval_s", "subject")) == [
        ("oracle:PRD", 1800.0, "log file sync", 1000.0, 2000.0, 5),
        ("oracle:PRD", 3600.0, "db file scattered read", 0.0, 1000.0, 3),
        ("oracle:PRD", 3600.0, "db file scattered read", 2000.0, 4000.0, 8),
    ]
    assert latencies(reading).filter(count=0).height == 2
    assert reasons(reading) == [NO_SNAPSHOT, "not a bucket of a histogram", ZONE_ASSUMED]


def test_dates_and_edges_that_are_none_are_told(tmp_path: Path) -> None:
    text = OUTPUT.replace("13/11/23 22:29", "13/11/54 22:29").replace("    4          8", "    5          8")
    reading = read_text(tmp_path, text)
    assert latencies(reading)["count"].sum() == 3
    assert reasons(reading)[:2] == ["no date and time of day", "no power of two milliseconds"]


def test_without_histograms_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="nothing in it can be used"):
        read_text(tmp_path, OUTPUT.partition("~~BEGIN-IO")[0])


@pytest.mark.parametrize(
    ("name", "snapshots"), [("1592044769-BIPRD-23613-23822", 208), ("1836093013-FLAVIA-799-804", 5)]
)
def test_the_samples_sum_as_their_texts_do(name: str, snapshots: int) -> None:
    file = sample(CORPUS / f"awrminer/sfurlong_awr-hist-{name}.out")
    section = file.read_text().partition("~~BEGIN-IO-WAIT-HISTOGRAM~~")[2].partition("~~END")[0]
    found = latencies(read_file(file))
    assert found["count"].sum() == sum(map(int, re.findall(r"^ +\d+ .* (\d+)$", section, re.MULTILINE)))
    assert found["ts"].n_unique() == snapshots
