"""ASH reports: the same figures out of text and HTML, and shares as average active sessions."""

import os
from pathlib import Path

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.formats import read_file
from latency_files import read_text
from reading import SAMPLES

TEXT, HTML = SAMPLES / "ash.txt", SAMPLES / "ash.html"


def frame(file: Path, table: str) -> pl.DataFrame:
    return Dataset.from_batches(read_file(file).batches).frame(table)


def named(file: Path, name: str) -> list[tuple[object, ...]]:
    return frame(file, "statistic").filter(pl.col("name") == name).select("entity", "value").rows()


def test_events_are_average_active_sessions() -> None:
    waits = frame(TEXT, "wait")
    assert waits.select("kind", "wait_class", "event", "average_active_sessions").rows() == [
        ("foreground", "User I/O", "db file sequential read", 2.0),
        ("foreground", "CPU", "CPU", 1.0),
        ("background", "System I/O", "log file parallel write", 0.2),
        ("foreground", "Other", "(the rest, not listed)", 0.8),
    ]
    assert waits["waits_per_s"].to_list() == [None] * 4
    assert set(waits.select("db", "instance", "host", "interval_s").rows()) == {("oracle:SHOP", "shop1", "db1", 1200.0)}


@pytest.mark.parametrize("file", [TEXT, HTML])
def test_statements_without_their_constants(file: Path) -> None:
    first = frame(file, "statement").filter(pl.col("statement_id") == "0abcdefghijk1").to_dicts()
    assert len(first) == 1
    assert (first[0]["elapsed_s_per_s"], first[0]["plan_id"]) == (1.6, "4238351645")
    assert first[0]["text"] == "select card, name, street, town from customers where name = ? and number = ?"
    assert named(file, "ash.sql_event")[:2] == [
        ("0abcdefghijk1 db file sequential read", 1.2),
        ("0abcdefghijk1 CPU + Wait for CPU", 0.4),
    ]
    assert named(file, "ash.sampled_executions")[0] == ("0abcdefghijk1", 120)


def test_empty_cells_go_on_with_what_stood_above() -> None:
    assert named(TEXT, "ash.service_module") == [("shop batch", 2.4)]
    assert named(TEXT, "ash.action") == [("shop batch load", 1.6), ("shop batch purge", 0.8)]


def test_sessions_and_who_blocks_them() -> None:
    assert named(TEXT, "ash.session") == [("131,53 SHOP JDBC Thin Client", 0.2)]
    (event,) = frame(TEXT, "event").to_dicts()
    assert (event["kind"], event["subject"]) == ("blocking session", "95,1(1) SYS oracle@db1 (LGWR)")
    assert event["text"] == "0.10 sessions on average wait for it: log file sync"


def test_an_idle_report_says_how_little_there_was(tmp_path: Path) -> None:
    head, _, _ = TEXT.read_text().replace("4,800", "24").replace("4.00", "0.02").partition("Top User Events")
    reading = read_text(tmp_path, head)
    (rest,) = Dataset.from_batches(reading.batches).frame("wait").to_dicts()
    assert (rest["event"], rest["average_active_sessions"]) == ("(the rest, not listed)", 0.02)


def test_activity_that_is_not_told_is_not_zero(tmp_path: Path) -> None:
    lines = [line for line in TEXT.read_text().splitlines() if "Average Active Sessions:" not in line]
    tables = Dataset.from_batches(read_text(tmp_path, "\n".join(lines)).batches)
    assert "(the rest, not listed)" not in tables.frame("wait")["event"].to_list()
    assert tables.frame("statistic").filter(name="ash.active_sessions").is_empty()


def test_slots_go_on_over_midnight() -> None:
    slots = frame(TEXT, "statistic").filter(pl.col("name") == "ash.activity")
    assert [str(each) for each in slots["ts"].unique().sort()] == [
        "2024-05-15 00:00:00+00:00",
        "2024-05-15 00:10:00+00:00",
    ]
    assert slots.select("entity", "value", "interval_s").rows() == [
        (None, 5.0, 600.0),
        ("db file sequential read", 2.5, 600.0),
        ("CPU", 1.0, 600.0),
        (None, 3.0, 600.0),
        ("db file sequential read", 1.5, 600.0),
    ]


def test_a_report_without_its_interval_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="from when to when"):
        read_text(tmp_path, TEXT.read_text().replace("15-May-24", "15-Foo-24"))


def test_text_and_html_of_one_report_agree() -> None:
    folder = os.environ.get("DOCTORD_APRESS")
    if not folder:
        pytest.skip("DOCTORD_APRESS does not name a folder with the reports")
    text, html = (frame(Path(folder) / f"ash_1930_1945.{kind}", "statistic") for kind in ("txt", "html"))
    both = text.join(html, on=["name", "entity", "ts"], nulls_equal=True, suffix="_html")
    assert len(both) >= len(html) - 2  # text cuts the name of a service
    assert (both["value"] - both["value_html"]).abs().max() == 0
