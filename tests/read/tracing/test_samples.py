"""Every sample that holds latencies is drawn; those that hold none say what they are taken for."""

from pathlib import Path

import pytest

from doctord.analyse.latency.map import latency_map, subjects
from doctord.dataset.dataset import Dataset
from doctord.read.formats import read_file
from doctord.report.map.terminal import frame
from doctord.report.map.view import View
from shared import CASEBOOK, CORPUS, sample

SAMPLES = (
    *(CORPUS / "latencymap" / f"LucaCanali_{name}" for name in (
        "calibration_data.txt", "calibration_data_oracle.txt", "example_latency_data.txt", "test_10046_tracefile.trc",
        "test_DTrace_data.txt",
    )),
    *(CORPUS / "bpf" / f"LucaCanali_ora_{name}_example.txt" for name in (
        "logicalIO_histogram", "wait_histogram", "wait_trace",
    )),
    *(CORPUS / "testbed" / name for name in (
        "bpftrace_biolatency.txt", "bpftrace_biolatency_1s.jsonl", "bpftrace_runqlat.txt", "bpftrace_syscalls.txt",
        "bpftrace_usdt_pg_lwlock.txt", "bpftrace_usdt_pg_smgr_read.txt", "libbpf_biolatency.txt",
        "libbpf_biolatency_D.txt", "libbpf_runqlat.txt", "libbpf_syscount_L.txt", "libbpf_syscount_LP.txt",
        "blk_tracer_vda.txt", "bg-randrw.json",
    )),
    CORPUS / "awr/Azure_AWR_DBS.html",
    CORPUS / "awrminer/sfurlong_awr-hist-1836093013-FLAVIA-799-804.out",
    CASEBOOK / "listener/loop_times.dtrace",
)  # fmt: skip


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_each_sample_is_drawn(path: Path) -> None:
    dataset = Dataset.from_batches(read_file(sample(path), zone="UTC").batches)
    most = max(subjects(dataset), key=lambda subject: subject.count)
    lines = frame(latency_map(dataset, most.name, db=most.db), View(), (80, 40), "none").lines
    assert lines[0].startswith(most.name)
    assert any(line.startswith("TIME WAITED") for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "name", ["bpf/LucaCanali_ora_sqlparse_trace_example.txt", "testbed/libbpf_syscount_P.txt", "testbed/vmstat.txt"]
)
def test_what_holds_no_latencies_gives_none(name: str) -> None:
    assert subjects(Dataset.from_batches(read_file(sample(CORPUS / name), zone="UTC").batches)) == []
