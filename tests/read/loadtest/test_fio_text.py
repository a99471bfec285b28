"""What fio prints for people, and the rates in its JSON."""

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from doctord.read.formats import read_file
from doctord.read.loadtest.fio_json import PERCENTILES_ONLY
from reading import SAMPLES, figure, frame, picked, read_sample
from shared import CORPUS, sample


def test_text() -> None:
    reading = read_sample("fio_text.randrw.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines, reading.notes) == ("fio's text", 0, [PERCENTILES_ONLY])
    assert frame(reading, "latency")["ts"][0] == datetime(2026, 11, 21, 9, 54, 22, tzinfo=UTC)
    assert figure(reading, "fio.iops", entity="rr read") == [pytest.approx(35825 / 3.001)]
    assert figure(reading, "fio.bw", entity="rr read") == [pytest.approx(280 * 2**20 / 3.001)]
    assert figure(reading, "fio.lat_p99", entity="rr write") == [3982.0]
    assert figure(reading, "fio.lat_mean", entity="rr read") == [pytest.approx(123.14973)]
    reads = frame(reading, "latency").filter(subject="rr read")
    assert reads["count"].sum() == 35825
    assert reads["le_us"].max() == 8691.6
    disk = picked(reading, "disk", "device", "reads_per_s", "read_ms", "util_pct")
    assert disk == [("vda", pytest.approx(33514 / 3.001), pytest.approx(4354 / 33514), 45.3)]


def test_jobs_and_what_they_sync() -> None:
    reading = read_sample("fio_text.two_jobs.txt", zone="UTC")
    assert reading.skipped_lines == 0
    assert set(frame(reading, "latency")["subject"]) == {"a read", "b write"}
    assert frame(reading, "latency").filter(subject="b write")["count"].sum() == 478
    assert figure(reading, "fio.lat_max", entity="b write") == [128.0]


@pytest.mark.parametrize("name", ["bg-randrw", "io_uring.4k.64.1", "randwrite8k"])
def test_rates_in_json(name: str) -> None:
    file = sample(CORPUS / f"testbed/{name}.json")
    document = json.loads(file.read_text())
    (job,), reading = document["jobs"], read_file(file)
    for direction in ("read", "write"):
        entity = f"{job['jobname']} {direction}"
        expected = [job[direction]["iops"]] if job[direction]["iops"] else []
        assert figure(reading, "fio.iops", entity=entity) == expected
    assert len(frame(reading, "disk")) == len(document["disk_util"])


def test_fio_2_in_its_own_words() -> None:
    reading = read_sample("fio_text.fio2.txt", zone="UTC")
    assert (reading.format, reading.skipped_lines) == ("fio's text", 0)
    assert frame(reading, "latency")["ts"][0] == datetime(2015, 5, 12, 10, 0, 33, tzinfo=UTC)
    assert figure(reading, "fio.iops", entity="seq read") == [pytest.approx(262144 / 30)]
    assert figure(reading, "fio.bw") == [pytest.approx(2048 * 2**20 / 30)]
    assert figure(reading, "fio.lat_mean") == [pytest.approx(1870.55)], "microseconds"
    assert frame(reading, "latency")["count"].sum() == 262144
    assert frame(reading, "latency")["le_us"].max() == 90123.0
    assert picked(reading, "disk", "device", "util_pct") == [("sda", 99.8)]


def test_two_runs_in_one_file() -> None:
    text = (SAMPLES / "fio_text.fio2.txt").read_text()
    twice = text + text.replace("10:00:33", "11:00:33").replace("seq:", "again:")
    with NamedTemporaryFile("w") as file:
        file.write(twice)
        file.flush()
        found = frame(read_file(Path(file.name), zone="UTC"), "latency")
    assert sorted(found["ts"].unique().dt.hour().to_list()) == [10, 11]
    assert set(found["subject"]) == {"seq read", "again read"}
