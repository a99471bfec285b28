"""ADDM reports: findings, their impact, and no constant of a statement."""

from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import read_file
from latency_files import read_text
from reading import SAMPLES

NOW, OLD = SAMPLES / "addm.txt", SAMPLES / "addm.10g.txt"


def figures(file: Path, name: str) -> dict[str | None, float]:
    frame = Dataset.from_batches(read_file(file).batches).frame("statistic").filter(pl.col("name") == name)
    return dict(frame.select("entity", "value").iter_rows())


def events(file: Path) -> list[dict[str, object]]:
    return Dataset.from_batches(read_file(file).batches).frame("event").to_dicts()


def test_findings_are_events() -> None:
    top, commits = events(NOW)
    assert (top["kind"], top["subject"], top["db"], top["host"]) == (
        "addm finding",
        "Top SQL Statements",
        "oracle:SHOP",
        "db1.example",
    )
    assert str(top["ts"]) == "2024-05-14 10:00:12+00:00"
    assert top["interval_s"] == 3600
    assert str(top["text"]).startswith("1.25 active sessions, 50 % of total activity. SQL statements consuming")
    assert str(top["hint"]).startswith('SQL Tuning: Run SQL Tuning Advisor on the SELECT statement with SQL_ID "4abc')
    assert commits["hint"] is None
    assert str(commits["text"]).endswith("were consuming significant database time.")


def test_impact_and_benefit_are_active_sessions() -> None:
    assert figures(NOW, "addm.active_sessions") == {None: 2.5}
    assert figures(NOW, "addm.impact_active_sessions") == {"Top SQL Statements": 1.25, "Commits and Rollbacks": 0.5}
    assert figures(NOW, "addm.benefit_active_sessions") == {"Top SQL Statements": 1.0}


@pytest.mark.parametrize(("file", "sessions"), [(NOW, 2.5), (OLD, 2.0)])
def test_database_time(file: Path, sessions: float) -> None:
    assert figures(file, "v$sys_time_model.DB time") == {None: sessions}


def test_a_report_without_findings_tells_its_time(tmp_path: Path) -> None:
    head, _, _ = NOW.read_text().replace("9000 seconds", "36 seconds").replace(" 2.5.", " .01.").partition("Summary of")
    reading = read_text(tmp_path, head + "There are no findings to report.\n")
    told = Dataset.from_batches(reading.batches).frame("statistic").select("name", "value").rows()
    assert told == [("v$sys_time_model.DB time", 0.01), ("addm.active_sessions", 0.01)]


def test_seconds_of_10g_become_active_sessions() -> None:
    impact = figures(OLD, "addm.impact_active_sessions")
    assert list(impact.values()) == [1.0, 0.5]
    assert next(iter(impact)) == "SQL statements consuming significant database time were found."
    assert list(figures(OLD, "addm.benefit_active_sessions").values()) == [0.9, 0.5]
    first = events(OLD)[0]
    assert (first["db"], first["host"], first["interval_s"]) == ("oracle:OLD", "HP4", 3600)


@pytest.mark.parametrize("file", [NOW, OLD])
def test_no_text_of_a_statement_is_kept(file: Path) -> None:
    told = " ".join(f"{event['text']} {event['hint']}" for event in events(file))
    assert "SELECT name" not in told
    assert "wallets" not in told
    assert "'" not in told


def test_two_reports_in_a_file_are_both_read(tmp_path: Path) -> None:
    both = Dataset.from_batches(read_text(tmp_path, NOW.read_text() + OLD.read_text()).batches).frame("event")
    assert both["db"].to_list() == ["oracle:SHOP"] * 2 + ["oracle:OLD"] * 2


def test_a_report_without_its_period_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="from when to when"):
        read_text(tmp_path, "ADDM Report for Task 'A'\n\nFinding 1: Top SQL\n")
