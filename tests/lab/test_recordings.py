"""A run of each fault, recorded once, is still judged rightly: changed causes are held against all in seconds."""

import tarfile
from pathlib import Path

import pytest

from benchmark_modules import benchmark
from doctord.app.lab import first_cause
from doctord.lab.fault import all_faults

judged_again = benchmark("lab_runs").judged_again
RECORDINGS = Path(__file__).with_name("recordings")
RECORDED = sorted(all_faults())


def test_every_fault_has_a_recording() -> None:
    assert sorted(path.stem for path in RECORDINGS.glob("*.tar")) == RECORDED


@pytest.mark.parametrize("fault", RECORDED)
def test_the_injected_cause_is_named_first(fault: str, tmp_path: Path) -> None:
    with tarfile.open(RECORDINGS / f"{fault}.tar") as recording:
        recording.extractall(tmp_path, filter="data")
    assert first_cause(judged_again(tmp_path)) == all_faults()[fault].cause
