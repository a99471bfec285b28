from pathlib import Path

import pytest

from doctord.app.study.files import of_one, of_two
from doctord.errors import UserError
from doctord.read.source import ReadOptions

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
