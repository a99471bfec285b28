"""PyLatencyMap's records, those of its own samples among them."""

import gzip
import itertools
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import Reading, read_file
from shared import CORPUS, sample

RECORD = """<begin record>
timestamp, microsec, {clock}, 26-AUG-13 04.26.{second:02d}.000000 PM +02:00
label, log file sync
latencyunit, microsec
datasource, {source}
{counts}
<end record>
"""


def record(second: int, counts: str, source: str = "oracle") -> str:
    return RECORD.format(clock=second * 1_000_000, second=second, source=source, counts=counts)


def read(tmp_path: Path, text: str | bytes, zone: str | None = None) -> Reading:
    file = tmp_path / "records"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_file(file, zone=zone)


def latencies(reading: Reading) -> pl.DataFrame:
    return Dataset.from_batches(reading.batches).frame("latency")


def recorded(name: str) -> Path:
    return sample(CORPUS / "latencymap" / f"LucaCanali_{name}")


def test_counts_are_what_came_between_two_records(tmp_path: Path) -> None:
    found = latencies(read(tmp_path, record(1, "64, 5\n128, 1") + record(4, "64, 7\n128, 1\n256, 2")))
    held = found.select("interval_s", "subject", "gt_us", "le_us", "count").rows()
    assert held == [(3.0, "log file sync", 32.0, 64.0, 2), (3.0, "log file sync", 128.0, 256.0, 2)]
    assert str(found["ts"][0]) == "2013-08-26 14:26:04+00:00"


def test_systemtap_names_buckets_by_their_lower_edge(tmp_path: Path) -> None:
    found = latencies(read(tmp_path, record(1, "64, 5", "systemtap") + record(2, "64, 6", "systemtap")))
    assert found.select("gt_us", "le_us").rows() == [(64.0, 128.0)]


def test_an_interval_without_a_wait_is_a_row_that_counts_none(tmp_path: Path) -> None:
    found = latencies(read(tmp_path, record(1, "64, 5") + record(2, "64, 5")))
    assert found.select("interval_s", "count").rows() == [(1.0, 0)]


def test_counts_that_fall_are_a_restart_and_a_gap(tmp_path: Path) -> None:
    text = record(1, "64, 5") + record(2, "64, 2") + record(3, "64, 4")
    dataset = Dataset.from_batches(read(tmp_path, text).batches)
    assert dataset.frame("latency")["count"].to_list() == [2]
    assert dataset.frame("event")["kind"].to_list() == ["restart"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (record(1, "64, 5") + record(2, "64, 6\n!! ORA-01034"), "not part of a record: '!! ORA-01034'"),
        (record(1, "64, 5") + record(2, "64, 6") + "<begin record>\n64, 7\n", "a record without an end"),
        (record(1, "64, 5") + record(2, "64, 6") + record(2, "64, 7"), "whose time does not follow"),
    ],
)
def test_a_bad_line_costs_that_line(tmp_path: Path, text: str, reason: str) -> None:
    reading = read(tmp_path, text)
    assert latencies(reading)["count"].sum() == 1
    assert len(reading.skipped) == 1
    assert reason in str(reading.skipped[0])


def test_packed_utf16_and_windows_lines(tmp_path: Path) -> None:
    text = record(1, "64, 5") + record(2, "64, 6")
    for packed in (gzip.compress(text.encode()), text.encode("utf-16"), text.replace("\n", "\r\n").encode()):
        assert latencies(read(tmp_path, packed))["count"].to_list() == [1]


@pytest.mark.parametrize("text", [b"", b"root:x:0:0\n", bytes(range(256)) * 10])
def test_another_file_is_refused(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(UserError, match=r"is empty|no format that Doctor D reads"):
        read(tmp_path, text)


def test_truncated_anywhere_it_is_read_up_to_there(tmp_path: Path) -> None:
    text = "".join(record(second, f"64, {second}") for second in range(1, 20))
    for tenth in range(2, 10):
        reading = read(tmp_path, text[: len(text) * tenth // 10])
        assert 0 < latencies(reading)["count"].sum() < 18


def test_the_sample_of_an_oracle_cluster_sums_as_its_text_does() -> None:
    """Sums per interval against those worked out from the raw text by other means."""
    file = recorded("example_latency_data.txt")
    records = re.findall(r"<begin record>(.*?)<end record>", file.read_text(), re.DOTALL)
    expected = []
    for text in records:
        counts: Counter[int] = Counter()
        for edge, count in re.findall(r"^(\d+), (\d+)$", text, re.MULTILINE):
            counts[int(edge)] += int(count)
        expected.append((sum(counts.values()), sum(edge * 0.75 * count for edge, count in counts.items())))
    differences = [(after[0] - before[0], after[1] - before[1]) for before, after in itertools.pairwise(expected)]
    found = latencies(read_file(file)).group_by("ts").agg(
        pl.col("count").sum(), waited_ms=(pl.col("le_us") * 0.75 * pl.col("count")).sum() / 1000
    ).sort("ts")  # fmt: skip
    assert len(differences) == 71
    assert found["count"].to_list() == [count for count, _ in differences]
    assert found["waited_ms"].to_list() == pytest.approx([waited for _, waited in differences])


@pytest.mark.parametrize(
    ("name", "intervals", "skipped"),
    [("calibration_data.txt", 2, 0), ("calibration_data_oracle.txt", 2, 0), ("test_DTrace_data.txt", 30, 0)],
)
def test_the_other_samples_are_read_whole(name: str, intervals: int, skipped: int) -> None:
    reading = read_file(recorded(name), zone="UTC")
    assert latencies(reading)["ts"].n_unique() == intervals
    assert len(reading.skipped) == skipped
