import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from doctord._native import SegmentWriter, read_segment
from doctord.dataset.rows import rows
from doctord.lake.claim import check_place
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


@pytest.mark.slow
def test_rows_are_on_disk_within_the_interval_that_was_asked_for(path: Path) -> None:
    with LakeWriter(path, sync_s=0.5) as writer:
        late = []
        for value in range(6):
            writer.append(statistic(value))
            appended = time.monotonic()
            while value not in values(path):
                time.sleep(0.01)
            late.append(time.monotonic() - appended)
    assert min(late) < 2, "as asked for, and not as it is by default, on a busy machine too"


def test_an_hour_that_is_over_is_sealed_and_no_row_lost(path: Path) -> None:
    with LakeWriter(path, sync_s=0.02, rotate_s=0.1) as writer:
        threads = [threading.Thread(target=append_for_a_second, args=(writer, start)) for start in (0, 100_000)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = values(path)
    assert len(found) == len(set(found)) > 100
    for start in (0, 100_000):
        own = [value for value in found if start <= value < start + 100_000]
        assert own == list(range(start, start + len(own)))
    assert len(list(path.glob("sealed/statistic/*/*.parquet"))) >= 3


def append_for_a_second(writer: LakeWriter, start: int) -> None:
    end = time.monotonic() + 1
    while time.monotonic() < end:
        writer.append(statistic(start))
        start += 1
        time.sleep(0.001)


def gaps(path: Path) -> list[tuple[str, float]]:
    with Lake(path).connect(["event"]) as connection:
        return connection.execute("SELECT text, interval_s FROM event WHERE kind = 'gap'").fetchall()


@pytest.mark.parametrize("gone", ["lake", "open", "segment"])
@pytest.mark.parametrize("is_moved", [False, True])
def test_a_lake_that_is_removed_begins_anew_and_tells_the_gap(
    path: Path, caplog: pytest.LogCaptureFixture, gone: str, *, is_moved: bool
) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
        writer.sync()
        victim = {"lake": path, "open": path / "open", "segment": segments(path)[0]}[gone]
        if is_moved:
            victim.rename(path.parent / "elsewhere")
        elif victim.is_dir():
            shutil.rmtree(victim)
        else:
            victim.unlink()
        writer.append(statistic(2))
        writer.sync()
        assert "removed or moved" in caplog.text
        writer.append(statistic(3))
        writer.sync()
        assert values(path) == [3]
        with pytest.raises(LakeError, match="another doctord"):
            LakeWriter(path)
    assert values(path) == [3]
    [(text, seconds)] = gaps(path)
    assert "nothing was recorded" in text
    assert seconds > 0


def test_more_rows_than_memory_is_to_hold_are_dropped_and_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctord.lake.writer._MOST_WAITING_ROWS", 10)
    with LakeWriter(path, sync_s=60) as writer:
        for value in range(20):
            writer.append(statistic(value))
        writer.sync()
        writer.append(statistic(20))
    assert values(path) == [*range(11), 20]
    [(text, _)] = gaps(path)
    assert "too slow" in text


def test_who_has_all_rows_in_hand_drowns_nobody(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctord.lake.writer._WAITING_ROWS", 5)
    monkeypatch.setattr("doctord.lake.writer._MOST_WAITING_ROWS", 10)
    with LakeWriter(path, sync_s=60) as writer:
        for value in range(100):
            writer.append(statistic(value))
            writer.sync_if_many()
    assert values(path) == list(range(100))
    assert gaps(path) == []


def test_a_segment_that_was_removed_before_it_was_sealed_is_told(path: Path) -> None:
    LakeWriter(path).close()
    segment = path / "open" / "20261120T100000Z-0000abcd.segment"
    with LakeWriter(path) as writer:
        writer._sealer.seal(segment)
        deadline = time.monotonic() + 10
        while not writer._segments and time.monotonic() < deadline:
            time.sleep(0.01)
    [(text, _)] = gaps(path)
    assert "removed before it was sealed" in text


def test_a_lake_that_others_took_over_is_left_to_them(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with LakeWriter(path) as writer:
        path.rename(path.parent / "elsewhere")
        with LakeWriter(path) as other:
            writer.append(statistic(1))
            writer.sync()
            assert writer.is_failing
            assert "another doctord" in caplog.text
            other.append(statistic(2))
        writer.append(statistic(3))
        writer.sync()
        assert not writer.is_failing
    assert values(path) == [2, 3]
    assert len(gaps(path)) == 1, "the first row is in it"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to anything")
def test_a_folder_that_may_not_be_written_any_more_is_told_once(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    told_when_shut(path, caplog)


def test_a_shut_folder_is_told_once(
    path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # For root every folder is open; access(2) is asked here as a user would be answered.
    monkeypatch.setattr(os, "access", lambda folder, _: Path(folder).stat().st_mode & 0o200 != 0)
    told_when_shut(path, caplog)


def told_when_shut(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with LakeWriter(path) as writer:
        for value in range(3):
            writer.append(statistic(value))
            if value == 1:
                (path / "open").chmod(0o550)
            writer.sync()
        assert values(path) == [0, 1, 2], "what is open goes on"
        assert caplog.text.count("may not be written any more") == 1
        (path / "open").chmod(0o750)


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


def test_a_lake_that_could_not_be_written_is_refused_before_and_nothing_is_left_of_the_question(path: Path) -> None:
    check_place(path / "new" / "lake")
    assert not path.exists()
    with LakeWriter(path), pytest.raises(LakeError, match="is recording into this lake"):
        check_place(path)
    check_place(path)
    for none in (Path("/proc/lake"), Path("/dev/null"), Path("/dev/null/lake")):
        with pytest.raises(LakeError, match="no lake to write to"):
            check_place(none)


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
from doctord.dataset.rows import rows
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
