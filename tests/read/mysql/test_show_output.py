from pathlib import Path

import pytest

from doctord.read.formats import read_file
from reading import figure, frame, picked, read_sample

VARIABLES = [
    ("ft_boolean_syntax", '+ -><()~*:""&|'),
    ("hostname", "db1"),
    ("innodb_buffer_pool_size", "8589934592"),
    ("port", "3307"),
    ("version", "8.0.36"),
    ("wsrep_sst_auth", "(set, not shown)"),
]


@pytest.mark.parametrize("form", ["tabs.txt", "box.txt", "vertical.txt", "csv"])
def test_variables_are_settings_in_every_form(form: str) -> None:
    reading = read_sample(f"show_output.{form}")
    assert reading.skipped == []
    assert picked(reading, "setting", "name", "value") == VARIABLES
    assert set(frame(reading, "setting")["db"]) == set(frame(reading, "statistic")["db"]) == {"mysql:3307"}


@pytest.mark.parametrize("form", ["tabs.txt", "vertical.txt", "csv"])
def test_one_reading_of_counters_is_their_mean_since_the_start_and_that_is_said(form: str) -> None:
    reading = read_sample(f"show_output.{form}")
    assert figure(reading, "global_status.innodb_buffer_pool_reads") == [5.0]
    assert figure(reading, "global_status.threads_running") == [2.0]
    assert set(frame(reading, "statistic")["interval_s"]) == {None, 1000.0}
    assert any("since the server's start, 1,000 s" in note for note in reading.notes)


def test_two_readings_give_the_increase_between_them() -> None:
    reading = read_sample("show_output.box.txt")
    where = {"name": "global_status.innodb_buffer_pool_reads"}
    assert picked(reading, "statistic", "value", "interval_s", "kind", "unit", **where) == [
        (10.0, 10.0, "rate", "per_s")
    ]
    assert figure(reading, "global_status.threads_running") == [5.0]


def test_counters_without_uptime_tell_nothing(tmp_path: Path) -> None:
    text = "Variable_name\tValue\nQuestions\t100\nThreads_running\t3\n"
    (tmp_path / "status").write_text(text, encoding="utf-8")
    reading = read_file(tmp_path / "status")
    assert picked(reading, "statistic", "name") == [("global_status.threads_running",)]
    assert any("no Uptime" in note for note in reading.notes)


def test_an_answer_without_header_is_known_by_its_names(tmp_path: Path) -> None:
    (tmp_path / "vars").write_text("innodb_buffer_pool_size\t1\nport\t1\nversion\t8.4.0\n", encoding="utf-8")
    assert len(frame(read_file(tmp_path / "vars"), "setting")) == 3
