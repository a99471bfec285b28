"""Counts of calls with their time."""

from pathlib import Path

import polars as pl
import pytest

from doctord.analyse.latency.map import subjects
from doctord.dataset.dataset import Dataset
from doctord.read.formats import Reading, read_file
from latency_files import read_text, reasons
from shared import CORPUS, sample

TABLE = """Tracing syscalls, printing top 10... Ctrl+C to quit.
[23:03:02]
SYSCALL                   COUNT        TIME (us)
futex                        10         5000.500
[23:03:07]
SYSCALL                   COUNT        TIME (us)
futex                         4         1000.000
pread64                       2           10.000
"""


def waits(reading: Reading) -> pl.DataFrame:
    return Dataset.from_batches(reading.batches).frame("wait")


def test_means_of_intervals_between_stamps(tmp_path: Path) -> None:
    reading = read_text(tmp_path, TABLE.replace("\n", "\r\n"))
    found = waits(reading).select("interval_s", "event", "waits_per_s", "avg_wait_ms", "average_active_sessions")
    assert found.rows() == [
        (5.0, "futex", 2.0, pytest.approx(0.50005), pytest.approx(0.0010001)),
        (5.0, "futex", 0.8, 0.25, pytest.approx(0.0002)),
        (5.0, "pread64", 0.4, 0.005, pytest.approx(0.000002)),
    ]


def test_how_long_one_table_counted_is_not_known(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "\n".join(TABLE.splitlines()[:4]))
    assert waits(reading)["interval_s"].to_list() == [1.0]
    assert "it does not say how long it counted: it is drawn as one second" in reasons(reading)


def test_two_maps_of_bpftrace_belong_together(tmp_path: Path) -> None:
    reading = read_text(
        tmp_path, "Attaching 4 probes...\n\n@c[fio, 0]: 4\n@c[x]: 1\n\n@t_us[fio, 0]: 80\n@odd[fio, 0]: 1\n"
    )
    assert waits(reading).select("event", "avg_wait_ms").rows() == [("fio 0", 0.02)]
    assert "neither a count nor a time by its name" in reasons(reading)


def test_counts_alone_are_no_means(tmp_path: Path) -> None:
    reading = read_text(tmp_path, "PID    COMM               COUNT\n6818   pgbench           680953\n")
    dataset = Dataset.from_batches(reading.batches)
    assert dataset.frame("wait").height == 0
    assert dataset.frame("statistic").select("entity", "value").rows() == [("6818 pgbench", 680953.0)]
    assert reasons(reading) == ["a count without a time: syscount -L prints it"]


@pytest.mark.parametrize(
    ("name", "subject", "count"),
    [
        ("bpftrace_syscalls.txt", "postgres 45", 233_138),
        ("libbpf_syscount_L.txt", "recvfrom", 41_905),
        ("libbpf_syscount_LP.txt", "6626 pgbench", 439_905),
    ],
)
def test_the_samples_give_means(name: str, subject: str, count: int) -> None:
    known = subjects(Dataset.from_batches(read_file(sample(CORPUS / "testbed" / name)).batches))
    assert [(found.kind, found.count) for found in known if found.name == subject] == [("mean", count)]
