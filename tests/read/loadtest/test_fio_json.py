"""What fio says of a job in JSON."""

import json
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.loadtest.fio_json import PERCENTILES_ONLY
from latency_files import buckets, latencies, read_text, reasons
from reading import figure, read_sample
from shared import CORPUS, sample


def document(**clat: object) -> str:
    times = {"min": 10, "max": 4000, "mean": 1.0, "N": 10} | clat
    job = {
        "jobname": "j",
        "job_runtime": 5000,
        "read": {"runtime": 2000, "clat_ns": times},
        "write": {"clat_ns": {"N": 0}},
    }
    return json.dumps({"fio version": "fio-3.33", "timestamp": 9, "timestamp_ms": 9500, "jobs": [job, job]})


def test_bins_are_named_by_their_middle(tmp_path: Path) -> None:
    reading = read_text(tmp_path, document(bins={"77": 4, "502": 6}))
    assert buckets(reading, "subject", "interval_s")[:2] == [
        ("j read", 2.0, 0.077, 0.078, 4),
        ("j read", 2.0, 0.5, 0.504, 6),
    ]
    assert set(latencies(reading)["subject"]) == {"j read", "j 2 read"}
    assert latencies(reading)["ts"][0].timestamp() == 9.5
    assert reading.skipped == []


def test_percentiles_bound_counts(tmp_path: Path) -> None:
    text = document(percentile={"10.000000": 100, "50.000000": 200, "60.000000": 200, "99.000000": 4000})
    reading = read_text(tmp_path, text)
    assert buckets(reading)[:3] == [(0.0, 0.1, 1), (0.1, 0.2, 5), (0.2, 4.0, 4)]
    assert reasons(reading) == [PERCENTILES_ONLY]


@pytest.mark.parametrize("clat", [{"bins": {"x": 1}}, {"bins": 7}, {"percentile": {"10": None}}, {"N": "many"}])
def test_figures_that_are_none_are_refused(tmp_path: Path, clat: dict[str, object]) -> None:
    with pytest.raises(UserError, match="figures that fio does not write"):
        read_text(tmp_path, document(**clat))


@pytest.mark.parametrize("length", [40, 200])
def test_a_cut_document_is_refused(tmp_path: Path, length: int) -> None:
    with pytest.raises(UserError, match="not the whole document of fio"):
        read_text(tmp_path, document()[:length])


@pytest.mark.parametrize("name", ["bg-randrw", "fdatasync8k", "io_uring.4k.64.1", "libaio.8k.16.1", "randwrite8k"])
def test_the_samples_count_what_fio_counted(name: str) -> None:
    file = sample(CORPUS / f"testbed/{name}.json")
    (job,) = json.loads(file.read_text())["jobs"]
    expected = sum(job[kind].get("clat_ns", {}).get("N", 0) for kind in ("read", "write", "trim"))
    expected += job["sync"].get("lat_ns", {}).get("N", 0)
    assert latencies(read_file(file))["count"].sum() == expected


def test_fio_2_has_microseconds_and_no_number_of_them() -> None:
    reading = read_sample("fio_json.fio2.json")
    assert reading.skipped_lines == 0
    found = latencies(reading)
    assert found.filter(subject="oltp read")["count"].sum() == 30720
    assert found.filter(subject="oltp read")["le_us"].max() == 30400.0
    assert found.filter(subject="log write")["count"].sum() == 1000, "its rate over its run: total_ios is not there"
    assert figure(reading, "fio.lat_mean", entity="oltp read") == [1900.5]
    assert figure(reading, "fio.bw", entity="oltp read") == [8192 * 1024.0]
    assert sorted(found["ts"].unique().dt.epoch("s")) == [1431424833, 1431424900], "two documents, text around them"


def test_latencies_before_their_number_are_not_dropped(tmp_path: Path) -> None:
    job = {"jobname": "j", "read": {"total_ios": 10, "runtime": 1000, "clat_ns": {"max": 4000, "mean": 2000.0,
           "percentile": {"50.000000": 1000}}}}  # fmt: skip
    text = json.dumps({"fio version": "fio-3.1", "timestamp": 9, "jobs": [job]})
    assert latencies(read_text(tmp_path, text))["count"].sum() == 10


def test_a_document_that_is_cut_does_not_cost_the_others(tmp_path: Path) -> None:
    text = document(bins={"77": 4})
    reading = read_text(tmp_path, f"{text[:100]}\nfio: killed\n{text}\n")
    assert latencies(reading)["count"].sum() == 8
    assert any("not the whole document" in reason for reason in reasons(reading))
