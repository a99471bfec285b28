import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doctord._native import SegmentWriter, read_segment
from doctord.chart.rows import rows
from doctord.lake.place import LakeError
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter
from lake_rows import segments, statistic, values


def test_rows_are_there_before_and_after_sealing(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1, 2))
        writer.sync()
        assert values(path) == [1, 2]
        writer.append(statistic(3))
    assert values(path) == [1, 2, 3]
    assert segments(path) == []


def test_tick_syncs_only_when_it_is_time(path: Path) -> None:
    with LakeWriter(path, sync_s=0.2) as writer:
        writer.append(statistic(1))
        writer.tick()
        assert values(path) == []
        time.sleep(0.2)
        writer.tick()
        assert values(path) == [1]


def test_a_full_segment_is_sealed_and_the_next_begun(path: Path) -> None:
    with LakeWriter(path, rotate_bytes=1) as writer:
        for value in range(3):
            writer.append(statistic(value))
            writer.sync()
    assert len(list(path.glob("sealed/statistic/*/*.parquet"))) == 3
    assert values(path) == [0, 1, 2]


def test_a_second_writer_is_refused_by_name(path: Path) -> None:
    with LakeWriter(path), pytest.raises(LakeError, match=f"process {os.getpid()}") as refusal:
        LakeWriter(path)
    assert "--lake" in refusal.value.hint


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(LakeError, match="Not a directory"):
        LakeWriter(tmp_path / "file" / "lake")


def test_files_are_for_owner_and_group_only(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
        writer.sync()
        [segment] = segments(path)
        assert segment.stat().st_mode & 0o777 == 0o640
    [parquet] = path.glob("sealed/*/*/*.parquet")
    assert parquet.stat().st_mode & 0o777 == 0o640
    assert parquet.parent.stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o750


RECORD_AND_WAIT = """
import sys, time
from pathlib import Path
from doctord.chart.rows import rows
from doctord.lake.writer import LakeWriter
writer = LakeWriter(Path(sys.argv[1]))
for value in range(5):
    writer.append(rows("statistic", [{"ts": value, "host": "h", "value": float(value)}]))
    if value < 4:
        writer.sync()
print("written", flush=True)
time.sleep(60)
"""


def test_kill_9_costs_what_was_not_synced_and_the_next_start_seals_the_rest(path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RECORD_AND_WAIT, path], stdout=subprocess.PIPE) as recorder:
        assert recorder.stdout
        assert recorder.stdout.readline() == b"written\n"
        recorder.send_signal(signal.SIGKILL)
    assert values(path) == [0, 1, 2, 3]
    LakeWriter(path).close()
    assert segments(path) == []
    assert values(path) == [0, 1, 2, 3]


def test_a_crash_between_sealing_and_removing_loses_and_doubles_nothing(path: Path) -> None:
    writer = LakeWriter(path)
    writer.append(statistic(1, 2))
    writer.sync()
    [segment] = segments(path)
    content = segment.read_bytes()
    writer.close()
    segment.write_bytes(content)
    assert values(path) == [1, 2]
    LakeWriter(path).close()
    assert segments(path) == []
    assert values(path) == [1, 2]


def test_a_damaged_segment_is_sealed_without_the_damage_and_that_is_said(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    LakeWriter(path).close()
    segment = path / "open" / "20261120T100000Z-0000abcd.segment"
    writer = SegmentWriter(segment)
    ends = []
    for value in range(3):
        writer.append(statistic(value))
        ends.append(writer.sync())
    content = bytearray(segment.read_bytes())
    content[ends[0] + 40] ^= 1
    segment.write_bytes(content)
    assert read_segment(segment)[1] == [(ends[0], "damaged", ends[1] - ends[0])]
    assert values(lake := Lake(path)) == [0, 2]
    assert "damaged" in lake.problems[0]
    LakeWriter(path).close()
    assert "damaged" in caplog.text
    assert values(path) == [0, 2]


def test_a_row_reads_the_same_before_and_after_sealing(path: Path) -> None:
    query = "SELECT * FROM process"
    row = {"ts": 1, "interval_s": 1.00049, "host": "h", "pid": 7, "started": -1, "sleep_pct": 99.98765, "command": "ü"}
    with LakeWriter(path) as writer:
        writer.append(rows("process", [row]))
        writer.sync()
        with Lake(path).connect() as connection:
            before = connection.execute(query).fetchall()
    with Lake(path).connect() as connection:
        assert connection.execute(query).fetchall() == before
        assert connection.execute("SELECT interval_s, sleep_pct FROM process").fetchone() == (1.0, 99.988)
