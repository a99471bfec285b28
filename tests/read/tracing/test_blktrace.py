"""Block requests one by one."""

from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file
from latency_files import latencies, read_text, reasons
from shared import CORPUS, sample

FTRACE = """# tracer: blk
#
             fio-6642    [000] d..1.  6180.000100: 254,0    Q  RS 44442224 + 16 [fio]
             fio-6642    [000] d..1.  6180.000101: 254,0    P   N [fio]
             fio-6642    [000] d..1.  6180.000130: 254,0    D  RS 44442224 + 16 [fio]
          <idle>-0       [001] d.s1.  6180.000230: 254,0    C  RS 44442224 + 16 [0]
    kworker/0:1H-54      [000] d..1.  6180.000300: 254,0    D  FN [kworker/0:1H]
          <idle>-0       [001] d.s1.  6180.000350: 254,0    C  FN 0 [0]
          <idle>-0       [001] d.s1.  6180.000351: 254,0    C  WS 0 [0]
          <idle>-0       [001] d.s1.  6180.000400: 254,0    C  WS 777 + 8 [0]
          <idle>-0
"""
BLKPARSE = """  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000010000   697  D   W 223490 + 8 [kjournald]
  8,0    3        3     0.000110000     0  C   W 223490 + 8 [0]
253,1    3        4     0.000200000   697  Q  FWFS 99 + 8 [x]
253,1    3        5     0.000250000     0  C  FWFS 99 + 8 [0]
CPU3 (sda):
 Reads Queued:           0,        0KiB	 Writes Queued:           1,        4KiB
"""


def waited(reading: Reading) -> dict[str, tuple[int, float]]:
    summed = latencies(reading).group_by("subject").agg(pl.col("count", "waited_us").sum())
    return {subject: (count, pytest.approx(us, abs=0.01)) for subject, count, us in summed.rows()}


def test_time_at_the_device_and_in_the_queue(tmp_path: Path) -> None:
    reading = read_text(tmp_path, FTRACE.replace("\n", "\r\n"))
    assert waited(reading) == {"254,0 read": (1, 100.0), "254,0 read queue": (1, 30.0), "254,0 flush": (1, 50.0)}
    assert [str(skipped) for skipped in reading.skipped if skipped.line] == [
        f"{tmp_path}/file:10: a completion of what was sent before the trace began",
        f"{tmp_path}/file:11: not an action on a request",
    ]


def test_blkparse_and_a_device_made_of_others(tmp_path: Path) -> None:
    reading = read_text(tmp_path, BLKPARSE)
    assert waited(reading) == {"8,0 write": (1, 100.0), "8,0 write queue": (1, 10.0), "253,1 write": (1, 50.0)}
    assert [skipped for skipped in reading.skipped if skipped.line] == []


def test_the_sample_agrees_with_its_text() -> None:
    """Reads of which both ends are in the text, matched here by other means."""
    file = sample(CORPUS / "testbed/blk_tracer_vda.txt")
    sent, expected = dict[str, float](), list[float]()
    for line in file.read_text().splitlines():
        words = line.partition(": ")[2].split()
        if len(words) > 3 and words[2][0] == "R" and words[1] in {"D", "C"}:
            seconds = float(line.partition(": ")[0].split()[-1])
            if words[1] == "D":
                sent[words[3]] = seconds
            elif words[3] in sent:
                expected.append(seconds - sent.pop(words[3]))
    found = latencies(read_file(file)).filter(subject="254,0 read")
    assert found["count"].sum() == len(expected) > 500
    assert found["waited_us"].sum() == pytest.approx(sum(expected) * 1e6, rel=1e-3)
    assert "a completion of what was sent before the trace began" not in reasons(read_file(file))


def test_each_request_is_a_row(tmp_path: Path) -> None:
    found = Dataset.from_batches(read_text(tmp_path, FTRACE).batches).frame("block_io")
    columns = ("device", "operation", "sector", "bytes", "latency_us", "queue_us")
    assert found.select(columns).rows()[0] == ("254,0", "read", 44442224, 8192, pytest.approx(100), pytest.approx(30))
    assert found["operation"].to_list() == ["read", "flush", "write"]
    assert found.filter(operation="write")["latency_us"].to_list() == [None], "it was sent before the trace began"
