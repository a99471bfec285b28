"""Weighing figures, and evidence that leads back to the rows that it came from."""

from datetime import timedelta

import duckdb
import pytest

from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.engine import diagnose
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.report.phrases import said, threshold


def sign(value: float | None, *, below: bool = False, why_not: str = "no") -> Sign:
    return Sign("cpu", "cpu is null", value, 20.0, "busy {:.1f %} of the time", "yes", why_not, below=below)


@pytest.mark.parametrize(
    ("value", "below", "sides"),
    [
        (30.0, False, "for"),
        (20.0, False, "for"),
        (10.0, False, "against"),
        (10.0, True, "for"),
        (30.0, True, "against"),
    ],
)
def test_a_figure_is_on_one_side_of_its_threshold(value: float, sides: str, *, below: bool) -> None:
    for_, against = weigh([sign(value, below=below)])
    told = {"for": for_, "against": against}
    assert [said(evidence.figure) for evidence in told.pop(sides)] == [f"busy {value:.1f} % of the time"]
    assert list(told.values()) == [[]]


def test_the_threshold_is_written_with_its_unit() -> None:
    assert threshold(sign(30.0).evidence()) == "at least 20.0 %"
    assert threshold(sign(30.0, below=True).evidence()) == "at most 20.0 %"


def test_what_was_not_measured_says_nothing() -> None:
    assert weigh([sign(None), sign(None, below=True)]) == ([], [])


def test_a_side_without_words_is_not_told() -> None:
    assert weigh([sign(1.0, why_not="")]) == ([], [])


def test_own_past_is_on_the_side_that_it_speaks_for() -> None:
    earlier = host(seconds=240, start=START - timedelta(hours=1))
    assert past(Case(host()), "CPU used") == []
    (usual,) = past(Case(host(), earlier), "CPU used")
    (high,) = past(Case(host(cpu={"idle_pct": 5.0, "wait_io_pct": 0.0}), earlier), "CPU used")
    assert (usual.speaks_for, high.speaks_for) == (False, True)


HUNGRY = {"usr_pct": 6.0, "run_wait_pct": 24.0, "icsw_per_s": 60.0, "vcsw_per_s": 40.0, "memory_wait_pct": 20.0}
TIME = {
    ("CPU", "CPU"): 1.0,
    ("Commit", "WALSync"): 2.0,
    ("User I/O", "DataFileRead"): 2.0,
    ("Network", "ClientWrite"): 1.0,
}
EVERYTHING_AT_ONCE = host(
    time=TIME,
    cpu={"idle_pct": 0.4, "wait_io_pct": 0.0, "run_queue": 9.0, "steal_pct": 30.0, "pressure_some_pct": 90.0},
    memory={"available_bytes": 2**30, "swap_in_per_s": 900.0, "pressure_some_pct": 30.0, "pressure_full_pct": 20.0,
            "major_faults_per_s": 200.0, "page_tables_bytes": 2**31, "shmem_bytes": 2**33},
    disk={"reads_per_s": 900.0, "read_ms": 16.0, "write_ms": 16.0, "device_queue": 20.0, "host_queue": 4.0,
          "util_pct": 99.0},
    tcp={"segments_out_per_s": 2000.0, "retransmits_per_s": 60.0, "listen_overflows_per_s": 1.0},
    filesystems=[{"used_bytes": 249 * 2**30, "inodes_used_pct": 99.0}],
    backend=HUNGRY,
    log_writer=HUNGRY,
    other_processes=[{"command": "rsync", "usr_pct": 150.0, "read_bytes_per_s": 90e6, "write_bytes_per_s": 90e6}],
    cgroup={"cpu.limit_cpus": 1.0, "cpu.throttled_s_per_s": 0.5, "cpu.nr_throttled_per_s": 5.0,
            "cpu.nr_periods_per_s": 10.0, "memory.limit_bytes": 1e9, "memory.usage_bytes": 1e9,
            "memory.failures_per_s": 900.0, "memory.refaults_per_s": 9000.0},
    cgroup_io={"io.read_limit_per_s": 900.0, "io.reads_per_s": 899.0},
    kernel={("0.0.0.0:5432", "listen.accept_queue"): 129.0, ("0.0.0.0:5432", "listen.backlog"): 128.0},
)  # fmt: skip
SLOW = host(
    time=TIME, disk={"reads_per_s": 40.0, "read_ms": 20.0, "write_ms": 20.0, "writes_per_s": 10.0, "device_queue": 1.0}
)


@pytest.mark.parametrize("dataset", [EVERYTHING_AT_ONCE, SLOW], ids=["everything at once", "a slow disk"])
def test_evidence_leads_back_to_rows(dataset: Dataset) -> None:
    findings = diagnose(dataset).findings
    assert findings
    with duckdb.connect() as connection:
        for name in dataset.tables:
            connection.register(name, dataset.frame(name).to_arrow())
        for finding in findings:
            for evidence in (*finding.for_, *finding.against):
                query = f'select count(*) from "{evidence.table}" where {evidence.filter}'
                assert connection.execute(query).fetchall()[0][0], f"{finding.cause}: {evidence}"


def test_the_host_with_everything_has_every_cause_of_the_host() -> None:
    causes = {finding.cause for finding in diagnose(EVERYTHING_AT_ONCE).findings}
    assert causes >= {
        "cpu_saturated", "cpu_other_processes", "cpu_throttled", "cpu_stolen", "log_writer_preempted", "memory_short",
        "cgroup_memory_limit", "huge_pages_unused", "device_saturated", "io_by_others", "cgroup_io_limit",
        "filesystem_full", "network_retransmits", "accept_queue_overflow",
    }  # fmt: skip
    assert Case(EVERYTHING_AT_ONCE).dbs == [DB]
