"""Histograms of wait events in AWR and Statspack reports."""

from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.oracle.awr.histograms import ROUNDED
from latency_files import buckets, latencies, read_text, reasons

STATSPACK = """STATSPACK report for

            Snap Id     Snap Time      Sessions Curs/Sess Comment
~~~~~~~~  --------- ------------------ -------- --------- ------------------
Begin Snap:       1 01-Aug-13 10:00:00       25       1.0
  End Snap:       2 01-Aug-13 10:30:00       25       1.0
   Elapsed:               30.00 (mins)

Wait Event Histogram  DB/Inst: ORCL/orcl  Snaps: 1-2
-> % of Waits - value: .0 indicates value was <.05%, null is truly 0

                           Total ----------------- % of Waits ------------------
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read      12K  75.0  20.0                     .0   5.0
log file sync                200                         100.0
          -------------------------------------------------------------

Instance Activity Stats  DB/Inst: ORCL/orcl  Snaps: 1-2
Statistic                                      Total     per Second    per Trans
--------------------------------- ------------------ -------------- ------------
CPU used by this session                       1,000            1.0          1.0

End of Report
"""


@pytest.mark.parametrize("text", [STATSPACK, STATSPACK.replace("\n", "\r\n")])
def test_statspack_as_text(tmp_path: Path, text: str) -> None:
    reading = read_text(tmp_path, text, zone="Europe/Paris")
    assert sorted(buckets(reading, "db", "subject", "interval_s")) == [
        ("oracle:ORCL", "db file sequential read", 1800.0, 0.0, 1000.0, 9000),
        ("oracle:ORCL", "db file sequential read", 1800.0, 1000.0, 2000.0, 2400),
        ("oracle:ORCL", "db file sequential read", 1800.0, 16000.0, 32000.0, 1),
        ("oracle:ORCL", "db file sequential read", 1800.0, 32000.0, 1024000.0, 600),
        ("oracle:ORCL", "log file sync", 1800.0, 8000.0, 16000.0, 200),
    ]
    assert str(latencies(reading)["ts"][0]) == "2013-08-01 08:30:00+00:00"
    assert reasons(reading) == [ROUNDED]


def test_a_report_without_its_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not say from when to when"):
        read_text(tmp_path, STATSPACK.replace("End Snap", "End"))
