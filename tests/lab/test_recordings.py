"""A run of each fault, recorded once, is still judged rightly: changed causes are held against all in seconds."""

import tarfile
from pathlib import Path

import pytest

from benchmark_modules import benchmark
from doctord.app.lab import first_cause
from doctord.lab.fault import all_faults

judged_again = benchmark("lab_runs").judged_again
RECORDINGS = Path(__file__).with_name("recordings")
# Injected once each, on a machine that others had filled: their first recording has to be made on a quiet one.
TO_BE_RECORDED = {
    "archive_command_hangs",
    "archiver_keeps_up",
    "autovacuum_cancelled",
    "autovacuum_let_through",
    "ldap_answers_at_once",
    "ldap_answers_late",
    "neighbour_reads_files",
    "pool_exhausted",
    "pool_large_enough",
    "role_work_mem_enough",
    "role_work_mem_in_kilobytes",
}
RECORDED = sorted(all_faults().keys() - TO_BE_RECORDED)


def test_every_fault_has_a_recording() -> None:
    assert sorted(path.stem for path in RECORDINGS.glob("*.tar")) == RECORDED


@pytest.mark.parametrize("fault", RECORDED)
def test_the_injected_cause_is_named_first(fault: str, tmp_path: Path) -> None:
    with tarfile.open(RECORDINGS / f"{fault}.tar") as recording:
        recording.extractall(tmp_path, filter="data")
    assert first_cause(judged_again(tmp_path)) == all_faults()[fault].cause
