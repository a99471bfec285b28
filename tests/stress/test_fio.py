"""Steps of load that fio gives to a real file."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctord.errors import UserError
from doctord.stress import fio
from doctord.stress.fio import Done, Job, lay_out, open_job, step

MIB = 1 << 20
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A file on a disk, whose blocks are there."""
    with tempfile.TemporaryDirectory(prefix="doctord-test-", dir="/var/tmp") as folder:
        file = Path(folder) / "da:ta"  # fio parts names at a colon
        file.write_bytes(os.urandom(8 * MIB))
        yield file


def given(job: Job, seconds: int = 1) -> Done:
    return step(job, seconds=seconds, seed=1, watch=lambda _elapsed_s: "")


@needs_fio
def test_a_closed_step_keeps_its_depth(data: Path) -> None:
    done = given(Job(str(data), 8 * MIB, 8192, 4, is_direct=False), 2)
    assert (done.last_words, done.errors, done.seconds, set(done.by_direction)) == ("", 0, 2, {"read"})
    assert done.latencies.number > 0
    assert done.per_s == done.latencies.number / 2
    assert done.bytes_per_s == done.per_s * 8192
    assert done.outstanding <= 5


@needs_fio
def test_an_open_step_gives_what_is_due_and_a_mix_both_ways(data: Path) -> None:
    job = open_job(Job(str(data), 8 * MIB, 4096, 1, 50, is_direct=False), 100)
    done = given(job, 2)
    assert job.rate_per_s == pytest.approx(100, rel=0.05)
    assert set(done.by_direction) == {"read", "write"}
    assert 0 < done.latencies.number <= 500  # 200 are due; where fio stood still, what was due before and since too
    assert done.moved_bytes >= 4096 * done.latencies.number
    assert data.stat().st_size == 8 * MIB


@needs_fio
def test_a_step_ends_when_somebody_says_so(data: Path) -> None:
    job = Job(str(data), 8 * MIB, 8192, 1, is_direct=False)
    done = step(job, seconds=3600, seed=1, watch=lambda elapsed_s: "no room" if elapsed_s > 0.5 else "")
    assert done.last_words == "no room"
    assert not done.keeps_up


@needs_fio
def test_what_fio_cannot_do_is_told(tmp_path: Path) -> None:
    done = given(Job(str(tmp_path / "none"), MIB, 8192, 1))
    assert done.last_words
    assert done.latencies.number == 0


@needs_fio
def test_reads_write_nothing(data: Path) -> None:
    before = data.read_bytes()
    given(Job(str(data), 8 * MIB, 8192, 8, is_direct=False))
    assert data.read_bytes() == before


@needs_fio
def test_a_file_is_laid_out_to_its_end(data: Path) -> None:
    file = data.with_name("laid")
    with file.open("wb") as opened:
        opened.truncate(3 * MIB)
    assert lay_out(str(file), 3 * MIB, is_direct=False, watch=lambda: "") == ""
    assert file.stat().st_blocks * 512 >= 3 * MIB
    assert lay_out(str(file), 3 * MIB, is_direct=False, watch=lambda: "no room") == "no room"


@pytest.mark.parametrize("rate", [1, 5, 63, 200, 1234, 15_000, 73_333])
@pytest.mark.parametrize("read_pct", [100, 70])
def test_rates_are_met_in_whole_numbers_of_each_thread(rate: float, read_pct: int) -> None:
    job = open_job(Job("x", MIB, 8192, 1, read_pct), rate)
    each = (job.rate_per_s or 0) / job.depth
    assert each == int(each)
    assert 1 <= job.depth <= fio.IN_FLIGHT
    assert job.rate_per_s == pytest.approx(rate, rel=0.02, abs=4)
    assert sum(map(int, fio._split(job).split(","))) == each


def test_fio_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="fio was not found"):
        fio.version()
    program = tmp_path / "fio"
    program.write_text("#!/bin/sh\necho fio-2.21\n")
    program.chmod(0o755)
    with pytest.raises(UserError, match=r"fio-2\.21 is not known here"):
        fio.version()
