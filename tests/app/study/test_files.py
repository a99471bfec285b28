from pathlib import Path

import pytest

from doctord.app.study.files import of_one, of_two
from doctord.errors import UserError
from doctord.read.source import ReadOptions
from heard import Heard

WAITS = "event,before_waits_per_s,before_avg_ms,after_waits_per_s,after_avg_ms\nlog file sync,72,26.45,519,2.13\n"
STEPS = "step,bandwidth_mb_per_s\n3 paths,4\n7 paths,8\n"
SAR = "ts,interval_s,host,device,read_ms\n2026-11-20T{hour:02}:00:00Z,60,{host},sda,{value}\n"


def sar(path: Path, hour: int, host: str = "db1", value: float = 1.0) -> Path:
    path.write_text(SAR.format(hour=hour, host=host, value=value))
    return path


def test_a_table_of_two_states_is_of_both_periods(tmp_path: Path) -> None:
    (tmp_path / "waits.csv").write_text(WAITS)
    told = of_one(tmp_path, ReadOptions())
    assert told.periods is not None
    means = [period.dataset.frame("wait")["avg_wait_ms"].to_list() for period in told.periods]
    assert means == [[pytest.approx(26.45)], [pytest.approx(2.13)]]


def test_files_and_folders_are_of_the_state_that_their_names_say(tmp_path: Path) -> None:
    for state, value in (("before", 9.0), ("after", 2.0)):
        (tmp_path / state).mkdir()
        sar(tmp_path / state / "disk.csv", 10, value=value)
    told = of_one(tmp_path, ReadOptions())
    assert told.periods is not None
    assert [one.dataset.frame("disk")["read_ms"].to_list() for one in told.periods] == [[9.0], [2.0]]


def test_a_table_of_runs_stands_for_itself(tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(STEPS)
    told = of_one(tmp_path / "steps.csv", ReadOptions())
    assert told.periods is None
    assert [(table.name, [run.name for run in table.runs]) for table in told.tables] == [
        ("steps.csv", ["3 paths", "7 paths"])
    ]


def test_a_folder_without_states_is_refused(tmp_path: Path) -> None:
    sar(tmp_path / "disk.csv", 10)
    with pytest.raises(UserError, match="holds no two states"):
        of_one(tmp_path, ReadOptions())


def test_the_same_file_twice_is_no_before_and_after(tmp_path: Path) -> None:
    file = sar(tmp_path / "disk.csv", 10)
    with pytest.raises(UserError, match="named twice"):
        of_two([file, file], ReadOptions())


def test_two_hosts_are_refused(tmp_path: Path) -> None:
    files = [sar(tmp_path / "a.csv", 10), sar(tmp_path / "b.csv", 12, host="db2")]
    with pytest.raises(UserError, match="two hosts: before is of db1, after of db2"):
        of_two(files, ReadOptions())


def test_periods_that_overlap_are_refused(tmp_path: Path) -> None:
    rows = "".join(f"2026-11-20T10:{minute:02}:00Z,60,db1,sda,1.0\n" for minute in range(10))
    heading = "ts,interval_s,host,device,read_ms\n"
    (tmp_path / "a.csv").write_text(heading + rows)
    (tmp_path / "b.csv").write_text(heading + rows)
    with pytest.raises(UserError, match="overlap"):
        of_two([tmp_path / "a.csv", tmp_path / "b.csv"], ReadOptions())


def test_a_run_that_was_ended_has_no_length_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("run,elapsed_s\na,10\nb,3\nc,>60\n")
    heard = Heard()
    told = of_one(tmp_path / "runs.csv", ReadOptions(), heard)
    assert [run.name for run in told.tables[0].runs] == ["a", "b"]
    assert any("bounds and no values, left out: c >60" in note for note in heard.notes)


def test_files_that_tell_no_times_do_not_overlap(tmp_path: Path) -> None:
    request = "1254 START read vol v op 0 block 4326176 len 32\n1254 END read vol v op 0 block 4326176 len 32 time 0\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.vxtrace").write_text(request * 3)
    told = of_two([tmp_path / "a.vxtrace", tmp_path / "b.vxtrace"], ReadOptions())
    assert told.periods
    assert told.periods[0].dataset.frame("block_io").height == 3
