"""Oracle's waits one by one, as a tool of bcc prints them."""

from pathlib import Path

import polars as pl

from doctord.read.formats import read_file
from latency_files import latencies, read_text, reasons
from shared import CORPUS, sample

LINES = """Start tracing oracle wait events... Hit Ctrl-C to end.
23:59:59  pid=10456 event=db file sequential read wait_time=434
00:00:01  pid=10456 event#=145 wait_time=6
25:00:01  pid=10456 event#=145 wait_time=6
00:00:01  pid=10456 event=db file seq"""


def test_waits_are_summed_by_event_and_second(tmp_path: Path) -> None:
    reading = read_text(tmp_path, LINES.replace("\n", "\r\n"))
    found = latencies(reading).filter(pl.col("count") > 0).select("ts", "db", "subject", "count", "waited_us")
    assert [(str(row[0])[:19], *row[1:]) for row in found.rows()] == [
        ("1970-01-01 23:59:59", "oracle", "db file sequential read", 1, 434.0),
        ("1970-01-02 00:00:01", "oracle", "145", 1, 6.0),
    ]
    assert reasons(reading).count("not a wait") == 2


def test_the_sample_is_read_whole() -> None:
    reading = read_file(sample(CORPUS / "bpf/LucaCanali_ora_wait_trace_example.txt"))
    found = latencies(reading)
    assert (found["count"].sum(), found["waited_us"].sum()) == (8, 19430133 + 869 + 434 + 446 + 430 + 6 + 2494 + 829)
