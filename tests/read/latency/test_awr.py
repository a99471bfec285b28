"""Wait event histograms in reports of AWR and Statspack."""

import re
from pathlib import Path

import polars as pl
import pytest

from doctord.errors import Refusal
from doctord.read.formats import read_file
from doctord.read.latency.awr import ROUNDED
from doctord.read.moments import ZONE_ASSUMED
from latency_files import CORPUS, buckets, latencies, read_text, reasons, sample

STATSPACK = """STATSPACK report for

            Snap Id     Snap Time      Sessions Curs/Sess Comment
          --------- ------------------ -------- --------- ------------------
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
"""
HTML = """<html><head><title>AWR Report for DB: PRD, Inst: prd1, Snaps: 1-2</title></head><body>
<h1>WORKLOAD REPOSITORY report for</h1>
<table><tr><td>Begin Snap:</td><td>1</td><td>23-Jan-22 10:00:39</td></tr>
<tr><td>End Snap:</td><td>2</td><td>23-Jan-22 11:00:39</td></tr></table>
<h3 class="awr">Wait Event Histogram</h3>{main}
<h3 class="awr">Wait Event Histogram (up to 32 ms)</h3>{fine}
<h3 class="awr">Service Statistics</h3><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
</body></html>"""


def table(*rows: tuple[str, ...]) -> str:
    names, *held = rows
    lines = ["".join(f'<th id="{name}">{name.replace("<", "&lt;")}</th>' for name in names)]
    lines += ["".join(f"<td>{cell or '&nbsp;'}</td>" for cell in row) for row in held]
    return "<table><tr><td>&nbsp;</td><th>% of Total</th></tr><tr>" + "</tr><tr>".join(lines) + "</tr></table>"


def test_statspack_as_text(tmp_path: Path) -> None:
    for text in (STATSPACK, STATSPACK.replace("\n", "\r\n")):
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


def test_fine_tables_tell_what_wide_buckets_hold(tmp_path: Path) -> None:
    main = table(
        ("Event", "Total Waits", "<512us", ">=512us"), ("read", "1,000", "60.0", "40.0"), ("x", "3", "", "100")
    )
    fine = table(
        ("Event", "Waits 1ms to 2ms", "<512us", "<1ms", "<2ms", ">=2ms"), ("read", "400", "60.0", "", "30.0", "0.0(7)")
    )
    reading = read_text(tmp_path, HTML.format(main=main, fine=fine))
    assert sorted(buckets(reading, "subject")) == [
        ("read", 0.0, 512.0, 600),
        ("read", 1024.0, 2048.0, 300),
        ("read", 2048.0, None, 7),
        ("x", 512.0, None, 3),
    ]
    assert reasons(reading) == [ZONE_ASSUMED, ROUNDED]


def test_a_strange_row_is_told(tmp_path: Path) -> None:
    main = table(("Event", "Total Waits", "<512us", ">=512us"), ("read", "10", "100", ""), ("y", "many", "1", "2"))
    reading = read_text(tmp_path, HTML.format(main=main, fine=""))
    assert buckets(reading, "subject") == [("read", 0.0, 512.0, 10)]
    assert "not an event and its waits: 'y many 1 2'" in reasons(reading)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (STATSPACK[:300], "has no histograms of wait events"),
        (STATSPACK[: STATSPACK.index("db file")], "has no histograms of wait events"),
        (STATSPACK.replace("End Snap", "End"), "does not say from when to when"),
    ],
)
def test_a_report_that_lacks_something_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(Refusal, match=why):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("name", "event", "end"),
    [
        ("DBS", "ADR block file read", "2022-01-26 10:00:35"),
        ("DBU", "ADR block file write", "2023-02-21 00:00:00"),
        ("DBY", "ADR file lock", "2023-02-22 00:00:00"),
    ],
)
def test_the_samples_sum_to_their_numbers_of_waits(name: str, event: str, end: str) -> None:
    file = sample(CORPUS / f"awr/Azure_AWR_{name}.html")
    found = latencies(read_file(file))
    text = file.read_text(errors="replace")
    section = text[re.search(r"<h3[^>]*>Wait Event Histogram", text, re.IGNORECASE).start() :]  # type: ignore[union-attr]
    total = re.search(rf">{event}</td>\s*<td[^>]*>([\d.]+)([KM]?)<", section, re.IGNORECASE)
    assert total is not None
    waits = float(total[1]) * {"": 1, "K": 1e3, "M": 1e6}[total[2]]
    assert found.filter(subject=event)["count"].sum() == pytest.approx(waits, rel=0.01)
    assert str(found["ts"][0])[:19] == end
    assert found["subject"].n_unique() > 100
    assert found.filter(pl.col("count") < 0).is_empty()
