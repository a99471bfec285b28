"""AWR reports in HTML."""

import re
from pathlib import Path

import polars as pl
import pytest

from doctord.errors import Refusal
from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.histograms import ROUNDED
from latency_files import CORPUS, buckets, latencies, read_text, reasons, sample

HISTOGRAMS = """<html><head><title>AWR Report for DB: PRD, Inst: prd1, Snaps: 1-2</title></head><body>
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


def test_fine_tables_tell_what_wide_buckets_hold(tmp_path: Path) -> None:
    main = table(
        ("Event", "Total Waits", "<512us", ">=512us"), ("read", "1,000", "60.0", "40.0"), ("x", "3", "", "100")
    )
    fine = table(
        ("Event", "Waits 1ms to 2ms", "<512us", "<1ms", "<2ms", ">=2ms"), ("read", "400", "60.0", "", "30.0", "0.0(7)")
    )
    reading = read_text(tmp_path, HISTOGRAMS.format(main=main, fine=fine))
    assert sorted(buckets(reading, "subject")) == [
        ("read", 0.0, 512.0, 600),
        ("read", 1024.0, 2048.0, 300),
        ("read", 2048.0, None, 7),
        ("x", 512.0, None, 3),
    ]
    assert reasons(reading) == [ZONE_ASSUMED, ROUNDED]
    assert latencies(reading)["db"].unique().to_list() == ["oracle:PRD"]


def test_a_histogram_without_a_number_of_waits_is_told(tmp_path: Path) -> None:
    main = table(("Event", "Total Waits", "<512us", ">=512us"), ("read", "10", "100", ""), ("y", "many", "1", "2"))
    reading = read_text(tmp_path, HISTOGRAMS.format(main=main, fine=""))
    assert buckets(reading, "subject") == [("read", 0.0, 512.0, 10)]
    assert "a histogram without a number of waits: 'y'" in reasons(reading)


def test_a_report_that_does_not_say_when_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="does not say from when to when"):
        read_text(tmp_path, HISTOGRAMS.format(main="", fine="").replace("End Snap", "End"))


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
