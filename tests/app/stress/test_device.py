"""Whole load tests of real files, with short steps."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from doctord.app.stress import device as stressing
from doctord.app.stress import device_steps
from doctord.app.stress.device import stress
from doctord.app.stress.device_asked import Asked, series_named
from doctord.app.stress.device_found import DeviceStress
from doctord.app.stress.kept import keep_device
from doctord.errors import UserError
from doctord.lab.host.cgroup import control_group
from doctord.lab.host.folder import private_folder
from doctord.lab.host.loop_device import loop_device
from doctord.lake.query import Lake
from doctord.stress.target import Counted

MIB = 1 << 20
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="doctord-test-", dir="/var/tmp") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def found(folder: Path) -> DeviceStress:
    """A load test of a file of our own, with two depths, a rate, a block size and sustained writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_steps, "DEPTHS", (1, 2))
        patch.setattr(device_steps, "PARTS", (0.05,))
        patch.setattr(device_steps, "BLOCKS", (1 << 20,))
        return stress(
            Asked(
                folder,
                16 * MIB,
                ("depth", "rate", "block", "sustained"),
                step_s=5,
                is_direct=False,
                steady_within_s=10,
                limit_ms=60_000,
            )
        )


@needs_fio
@pytest.mark.slow
def test_a_folder_is_loaded_and_left_as_it_was(found: DeviceStress, folder: Path) -> None:
    assert found.stopped == ""
    assert [ran.series for ran in found.steps] == ["depth", "depth", "rate", "block", "sustained"]
    assert {ran.done.job.depth for ran in found.of("depth")} == {1, 2}
    assert all(ran.done.latencies.number and ran.diagnosis for ran in found.steps)
    assert found.of("rate")[0].done.job.rate_per_s == pytest.approx(
        0.05 * (found.depth_knee or pytest.fail("no knee")).per_s.value, rel=0.1
    )
    assert found.of("block")[0].done.job.block_bytes == MIB
    assert set(found.of("sustained")[0].done.by_direction) == {"write"}
    assert found.pitfall is not None  # 16 MiB through the page cache
    assert not list(folder.iterdir())


@needs_fio
@pytest.mark.slow
def test_what_was_measured_is_kept(found: DeviceStress, tmp_path: Path) -> None:
    keep_device(found, tmp_path)
    lake = Lake(tmp_path)
    since, until = lake.span() or pytest.fail("the lake is empty")
    dataset = lake.dataset(since - timedelta(seconds=1), until)
    rows = dataset.frame("statistic")
    kept = rows.filter((rows["name"] == "fio.iops") & (rows["entity"] == "depth 1, 8 KiB read"))
    step = next(ran.done for ran in found.of("depth") if ran.done.job.depth == 1)
    assert kept["value"].to_list() == [step.per_s]
    assert set(dataset.frame("latency")["subject"]) >= {"fio read", "fio write"}
    assert not dataset.frame("cpu").is_empty()  # of the check-ups beside it


def test_what_a_device_moves_is_that_of_the_whole_load() -> None:
    before, after = Counted(requests=5, moved_bytes=MIB, queued_ms=100), Counted(900, 7 * MIB, queued_ms=14_100)
    assert stressing.of_device(before, after, ran_s=7) == (6 * MIB, 2.0)
    assert stressing.of_device(before, after, ran_s=0) == (None, None)  # it was ended, and told nothing
    assert stressing.of_device(None, after, ran_s=7) == (None, None)


@needs_fio
@pytest.mark.slow
@pytest.mark.root
def test_the_knee_of_a_throttled_device_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("no loop devices here")
    # One more than is enough on a busy machine: that the ceiling is reached is known by a depth that gains nothing.
    monkeypatch.setattr(device_steps, "DEPTHS", (1, 4, 16))
    monkeypatch.setattr(stressing.fio, "tied", lambda command: [*entrance, *command])
    with private_folder() as place, control_group("io") as group, loop_device(place, 64 * MIB) as mounted:
        entrance = group.entrance
        device = Path("/dev", mounted.name)
        number = Path("/sys/block", mounted.name, "dev").read_text(encoding="ascii").strip()
        group.limit_io(number, reads_per_s=200, writes_per_s=200)
        found = stress(Asked(device, None, ("depth",), step_s=5))
    knee = found.depth_knee
    assert knee is not None
    assert knee.per_s.value == pytest.approx(200, rel=0.25)
    assert knee.is_reached
    assert knee.enough in (1, 4)  # on a busy machine one request at a time does not take all that is allowed
    assert found.pitfall is None


@needs_fio
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind(folder: Path, how: signal.Signals) -> None:
    command = [Path(sys.executable).with_name("doctord"), "stress", "device", folder, "--size", "16MiB", "--buffered"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (children := _fio_below(process.pid)):
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(how)
        process.wait()
    assert not list(folder.iterdir())
    for child in children:
        while Path("/proc", str(child)).exists():  # the kernel ends it with its parent
            time.sleep(0.05)


def _fio_below(parent: int) -> list[int]:
    found = list[int]()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = entry.read_text().rpartition(")")
        except OSError:
            continue
        if int(words[2].split()[1]) == parent and "(fio" in words[0]:
            found.append(int(entry.parent.name))
    return found


@needs_fio
def test_a_file_system_without_direct_io_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stressing.fio, "lay_out", lambda *_, **__: "Invalid argument")
    with pytest.raises(UserError, match="could not be written: Invalid argument") as refused:
        stress(Asked(folder, 16 * MIB, ("depth",)))
    assert "--buffered" in str(refused.value.hint)


@pytest.mark.parametrize(
    "wrong",
    [
        {"step_s": 1},
        {"repeats": 0},
        {"most_depth": 1},
        {"most_depth": 1000},
        {"block_bytes": 100},
        {"block_bytes": 1000},
        {"read_pct": 101},
        {"steady_within_s": 5},
        {"size_bytes": 4096},
    ],
)
def test_what_is_out_of_bounds_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UserError):
        stress(Asked(Path("nowhere"))._replace(**wrong))


def test_series_are_named_in_any_order() -> None:
    assert series_named("block, rate") == ("rate", "block")
    assert series_named("") == ()
    with pytest.raises(UserError, match="'speed' is nothing that can be varied"):
        series_named("rate,speed")
