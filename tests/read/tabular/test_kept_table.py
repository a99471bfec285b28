"""Tables that people keep: what a column is, its heading says."""

from datetime import timedelta
from pathlib import Path

import pytest

from doctord.dataset.dataset import arrow_tables
from doctord.errors import UserError
from doctord.read.formats import read_file, read_source
from doctord.read.source import ReadOptions, opened
from doctord.read.tabular.kept_table import NAME
from reading import figure, frame, picked, read_sample


@pytest.mark.parametrize(
    "sample",
    ["waits", "history", "daily", "statistics", "settings", "spaces", "datafiles", "runs", "steps", "classes"],
)
def test_every_line_is_used(sample: str) -> None:
    reading = read_sample(f"kept_table.{sample}.csv")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)


def test_waits_of_the_first_of_two_states_with_their_limits() -> None:
    reading = read_sample("kept_table.waits.csv")
    columns = ("event", "waits_per_s", "avg_wait_ms", "average_active_sessions", "wait_class", "db")
    assert picked(reading, "wait", *columns)[0] == (
        "db file sequential read", 410.0, pytest.approx(6.2), pytest.approx(2.542), "User I/O", "oracle",
    )  # fmt: skip
    assert frame(reading, "wait").height == 3, "what was not measured before is no row, and not zero"
    assert picked(reading, "statistic", "value", component="target", entity="log file sync") == [(5.0,)]
    assert picked(reading, "statistic", "value", component="target", entity="latch: shared pool") == [(0.0,)]
    assert any("the other left: after_waits_per_s, after_avg_ms" in note for note in reading.notes)
    assert any("no CPU time is among its waits" in note for note in reading.notes)


def test_means_of_days_ago_with_another_separator_and_other_headings() -> None:
    found = frame(read_sample("kept_table.history.csv"), "wait").sort("event", "ts")
    assert found["avg_wait_ms"].to_list() == pytest.approx([8.0, 8.5, 9.0, 2.5, 6.0])
    assert found["ts"].diff().to_list()[1:3] == [timedelta(days=83), timedelta(days=7)]
    assert found["waits_per_s"].null_count() == 5


def test_sums_by_day_become_rates() -> None:
    (first, second) = picked(
        read_sample("kept_table.daily.csv"), "wait", "interval_s", "waits_per_s", "average_active_sessions",
        "avg_wait_ms", "timeouts_per_s",
    )  # fmt: skip
    assert first == pytest.approx((86400.0, 10.0, 0.05, 5.0, 0.0))
    assert second == pytest.approx((86400.0, 20.0, 0.12, 6.0, 0.0))


def test_statistics_of_oracle_in_their_units() -> None:
    reading = read_sample("kept_table.statistics.csv")
    assert figure(reading, "v$sysstat.redo size") == [2.5 * 1024 * 1024]
    assert picked(reading, "statistic", "value", "unit", "kind", name="v$sysstat.user commits") == [
        (120.0, "per_s", "rate")
    ]
    assert picked(reading, "statistic", "component", "value", "unit", name="v$sysstat.redo write response time") == [
        ("oracle", 0.0008, "s"), ("target", 0.0005, "s"),
    ]  # fmt: skip


def test_settings_of_the_server_and_others() -> None:
    reading = read_sample("kept_table.settings.csv")
    assert picked(reading, "setting", "component", "name", "value", "unit") == [
        ("oracle", "log_buffer", str(16 << 20), "bytes"),
        ("oracle", "db_writer_processes", "1", None),
        ("noted", "member size", str(1 << 30), "bytes"),
        ("noted", "data files", "one RAID-5 LUN", None),
    ]
    assert figure(reading, "thread_activity.log switches (derived)") == [pytest.approx(1 / 30)]


def test_spaces_by_day() -> None:
    found = frame(read_sample("kept_table.spaces.csv"), "space").filter(name="USERS").sort("ts")
    assert found["used_bytes"].to_list() == [1000 << 20, 1200 << 20]
    assert found["available_bytes"].to_list() == [500 << 20, 300 << 20]


def test_datafiles() -> None:
    reading = read_sample("kept_table.datafiles.csv")
    assert figure(reading, "iops") == [1.0], "the other was not measured"
    assert figure(reading, "max_response", entity="/u02/oradata/temp01.dbf") == [0.095]


def test_runs_and_their_steps() -> None:
    runs = picked(read_sample("kept_table.runs.csv"), "timing", "run", "step", "duration_s", "over_limit")
    assert runs == [("Monday", None, 43200.0, 10), ("Tuesday", None, 86400.0, 0)]
    steps = picked(read_sample("kept_table.steps.csv"), "timing", "run", "step", "duration_s")
    assert steps == [
        ("first", "load", 7800.0), ("first", "index", 3000.0), ("first", None, 10800.0), ("second", None, 8130.0),
    ]  # fmt: skip


def test_a_column_after_is_a_state_only_beside_one_before() -> None:
    reading = read_sample("kept_table.classes.csv")
    assert figure(reading, "good_case", entity=">10 s") == [0.2]
    assert figure(reading, "tuning", entity=">10 s") == [0.0]


@pytest.mark.parametrize(
    ("text", "skipped"),
    [("event,waits_per_s,avg_ms\na,1,2\nb,1\n", ["not as many cells as headings"]),
     ("date,event,total_waits\n2025-01-01,a,1\nsoon,a,1\n2025-01-02,a,1\n", ["no date"])],
)  # fmt: skip
def test_bad_lines_cost_themselves(tmp_path: Path, text: str, skipped: list[str]) -> None:
    (tmp_path / "file").write_text(text)
    reading = read_file(tmp_path / "file", zone="UTC")
    assert [line.reason for line in reading.skipped] == skipped


@pytest.mark.parametrize(
    "text",
    ["event,comment\ndb file sequential read,slow\n", "tablespace,owner\nUSERS,scott\n", "case\none\n",
     "group,name,source\nredo,redo size,v$sysstat\n", "event,event\na,1\n"],
)  # fmt: skip
def test_a_table_without_figures_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text(text)
    with pytest.raises(UserError, match="no format"):
        read_file(tmp_path / "file")


def test_the_state_that_is_asked_for_is_read_and_a_table_of_one_state_says_that_it_is_one(tmp_path: Path) -> None:
    path = tmp_path / "waits.csv"
    path.write_text(
        "event,before_waits_per_s,before_avg_ms,after_waits_per_s,after_avg_ms\nlog file sync,72,26,519,2\n"
    )
    with opened(path, ReadOptions(state="after")) as source:
        (waits,) = arrow_tables(read_source(source).batches).values()
        assert (waits["avg_wait_ms"].to_pylist(), source.has_states) == ([2.0], True)
        assert not any("two states" in note for note in source.notes)
    path.write_text("event,waits_per_s,avg_ms\nlog file sync,72,26\n")
    with opened(path, ReadOptions(state="after")) as source:
        read_source(source)
        assert not source.has_states


def test_what_a_run_took_and_what_it_held_are_both_read(tmp_path: Path) -> None:
    path = tmp_path / "timings.csv"
    path.write_text("page_size,elapsed_s,session_pga_mb\n64K,31,1102\n4M,25,1112\n")
    reading = read_file(path)
    assert picked(reading, "timing", "run", "duration_s") == [("64K", 31.0), ("4M", 25.0)]
    assert picked(reading, "statistic", "entity", "name") == [("64K", "session_pga"), ("4M", "session_pga")]


def test_a_sweep_over_queue_depths_is_a_table_of_runs(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text("iodepth,iops,bw_MiB_s,lat_p99_us\n1,200,1.5,5100\n2,201,1.6,9900\n")
    reading = read_file(path)
    assert [run for run, _ in picked(reading, "timing", "run", "duration_s")] == ["1", "2"]
    figures = picked(reading, "statistic", "entity", "name", "value", "unit")
    assert ("1", "iops", 200.0, None) in figures
    assert ("2", "bw", 1.6 * (1 << 20), "bytes_per_s") in figures
