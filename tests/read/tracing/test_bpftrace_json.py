"""What `bpftrace -f json` prints."""

import json
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from latency_files import buckets, latencies, read_text, reasons
from shared import CORPUS, sample

BEGIN = '{"type": "attached_probes", "data": {"probes": 5}}\n'
HIST = (
    '{"type": "hist", "data": {"@read_us": {"vda,R": [{"max": -1, "count": 0}, {"min": 8, "max": 15, "count": 3}]}}}\n'
)


def test_the_same_key_again_is_the_next_interval(tmp_path: Path) -> None:
    reading = read_text(tmp_path, BEGIN + HIST + HIST)
    assert buckets(reading, "subject") == [("read vda R", 8.0, 16.0, 3)] * 2
    assert latencies(reading)["ts"].n_unique() == 2


def test_printed_times_are_the_ends_of_intervals(tmp_path: Path) -> None:
    stamp = '{{"type": "time", "data": "08:00:{:02d}\\n"}}\n'
    reading = read_text(tmp_path, BEGIN + stamp.format(5) + HIST + stamp.format(7) + HIST)
    assert set(latencies(reading)["interval_s"]) == {2.0}


def test_a_map_without_keys_and_an_open_end(tmp_path: Path) -> None:
    text = '{"type": "lhist", "data": {"@ms": [{"min": 100, "count": 2}]}}\n'
    assert buckets(read_text(tmp_path, text), "subject") == [("latency", 100_000.0, None, 2)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type": "map", "data": {"@c": 3}}', "no histogram: map"),
        ('{"type": "hist", "da', "no object of bpftrace"),
        ('{"type": "hist", "data": {"@us": [{"min": 3}]}}', "a histogram without counts"),
        ('{"type": "hist", "data": {"@us": [7]}}', "a histogram without counts"),
    ],
)
def test_a_bad_line_costs_itself(tmp_path: Path, line: str, reason: str) -> None:
    reading = read_text(tmp_path, (BEGIN + HIST + line).replace("\n", "\r\n"))
    assert latencies(reading)["count"].sum() == 3
    assert [str(skipped) for skipped in reading.skipped if skipped.line] == [f"{tmp_path}/file:3: {reason}"]


def test_nothing_but_probes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing in it can be used"):
        read_text(tmp_path, BEGIN)


def test_the_sample_sums_as_its_text_does() -> None:
    file = sample(CORPUS / "testbed/bpftrace_biolatency_1s.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines() if '"hist"' in line]
    sums = [sum(b["count"] for held in line["data"]["@us"].values() for b in held) for line in lines]
    found = latencies(read_file(file)).group_by("ts").agg(count="count").sort("ts")
    assert [sum(counts) for counts in found["count"].to_list()] == [total for total in sums if total]
    assert reasons(read_file(file)) == ["no moments in it: intervals are counted from 1970-01-01 00:00 UTC"]
