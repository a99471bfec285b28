import logging
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctord._native import read_segment
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter
from lake_rows import segments, statistic, values


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], check=True)
    yield disk
    subprocess.run(["umount", disk], check=True)


def gaps(path: Path) -> list[tuple[str, float]]:
    with Lake(path).connect(["event"]) as connection:
        return connection.execute("SELECT subject, interval_s FROM event WHERE kind = 'gap'").fetchall()


@pytest.mark.root
def test_a_full_disk_stops_recording_and_room_resumes_it(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(150_000))
    path = small_disk / "lake"
    with LakeWriter(path) as writer:
        written = 0
        while not caplog.records:
            writer.append(statistic(written))
            writer.sync()
            written += 1
        kept = values(path)
        assert kept == list(range(written - 1)), "all that was synced before the disk was full"
        assert read_segment(segments(path)[0])[1] == [], "the torn frame was cut off"

        writer.append(statistic(-1))
        writer.sync()
        assert len(caplog.records) == 1, "said once"
        assert "No space left" in caplog.text
        assert "hint:" in caplog.text

        ballast.unlink()
        writer.append(statistic(written))
        writer.sync()
        assert values(path) == [*kept, written]
        assert [subject for subject, _ in gaps(path)] == ["lake"]
    assert values(path) == [*kept, written]
    doctord = Path(sys.executable).with_name("doctord")
    told = subprocess.run([doctord, "diagnose", "--lake", path], capture_output=True, text=True, check=False)
    assert "lake: nothing was recorded for" in " ".join(told.stdout.split()), told


@pytest.mark.root
def test_a_disk_that_is_full_from_the_start_begins_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "lake"
    with LakeWriter(path) as writer:
        ballast = small_disk / "ballast"
        with pytest.raises(OSError, match="No space left"):
            ballast.write_bytes(bytes(1_000_000))
        writer.append(statistic(1))
        writer.sync()
        assert segments(path) == []
        ballast.unlink()
        writer.sync()
        writer.append(statistic(2))
    assert values(path) == [2]
    assert len(gaps(path)) == 1


def test_a_file_that_may_not_grow_is_cut_back_to_its_last_sound_frame(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
        writer.sync()
        [segment] = segments(path)
        sound = segment.read_bytes()
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(sound) + 100, hard))
        try:
            writer.append(statistic(2))
            writer.sync()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert segment.read_bytes() == sound
        assert "File too large" in caplog.text
        with caplog.at_level(logging.WARNING):
            writer.append(statistic(3))
            writer.sync()
        assert "recording again" in caplog.text
        assert values(path) == [1, 3]
