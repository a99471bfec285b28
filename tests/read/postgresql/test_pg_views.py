"""PostgreSQL's views as CSV and psql's output, with a heading and without."""

from pathlib import Path

import polars as pl
import pytest

from doctord.errors import UserError
from doctord.read.formats import read_file
from doctord.read.postgresql.pg_views import NAME
from reading import frame, picked, read_sample

OLD = (
    "16384|shop|4711|10|app|web|10.0.0.7||51000|2014-05-30 10:00:00+00|2014-05-30 10:09:00+00|"
    "2014-05-30 10:09:58+00|2014-05-30 10:09:58+00|{waiting}|{state}|UPDATE orders SET paid = 1\n"
)


def written(folder: Path, text: str) -> Path:
    (folder / "file").write_text(text)
    return folder / "file"


@pytest.mark.parametrize("name", ["both.txt", "expanded.txt", "bare.txt"])
def test_sessions_whoever_prints_them(name: str) -> None:
    reading = read_sample(f"pg_views.{name}")
    assert (reading.format, reading.skipped_lines) == (NAME, 0)
    found = frame(reading, "session").sort("event")
    assert found["event"].to_list() == ["PgSleep", "transactionid"]
    assert found["wait_class"].to_list() == ["Idle", "Application"]
    assert found["user"].to_list() == ["postgres", "postgres"]
    assert found["interval_s"].to_list() == [1.0, 1.0], "idle backends, the checkpointer and who looks are left out"
    assert found["statement_s"].min() >= 0.9
    assert any("taken to stand for 1 s" in note for note in reading.notes)


def test_locks_tell_who_blocks_whom() -> None:
    sessions = frame(read_sample("pg_views.both.txt"), "session").sort("event")
    sleeper, waiter = sessions["sid"].to_list()
    assert sessions["blocker_sid"].to_list() == [None, sleeper]
    alone = picked(read_sample("pg_views.locks.tsv"), "session", "sid", "blocker_sid", "event", "wait_class")
    assert alone == [(waiter, sleeper, "transactionid", "Application")]


def test_databases_of_two_samples_the_second_without_heading() -> None:
    reading = read_sample("pg_views.databases.csv")
    assert reading.skipped_lines == 0
    found = frame(reading, "statistic").filter(entity="postgres")
    commits = found.filter(name="pg_stat_database.xact_commit")
    assert commits["kind"].to_list() == ["rate"]
    assert 0 < commits["value"].item() < 10
    assert found.filter(name="pg_stat_database.numbackends").height == 2
    assert found["ts"].n_unique() == 2


def test_databases_of_one_sample_are_means_since_the_reset(tmp_path: Path) -> None:
    text = "now,datname,numbackends,xact_commit,deadlocks,stats_reset\n"
    text += "2025-01-02 00:00:00+00,shop,5,864000,NULL,2025-01-01 00:00:00+00\n"
    reading = read_file(written(tmp_path, text))
    rows = picked(reading, "statistic", "name", "value", "interval_s", kind="rate")
    assert rows == [("pg_stat_database.xact_commit", 10.0, 86400.0)]
    assert any("since stats_reset" in note for note in reading.notes)


def test_tables_with_their_rows_and_sizes(tmp_path: Path) -> None:
    assert picked(read_sample("pg_views.tables.txt"), "space", "name", "kind", "used_bytes", "live_rows") == [
        ("public.t", "table", None, 1000)
    ]
    text = "ts;schemaname;relname;seq_scan;n_live_tup;n_dead_tup;last_autovacuum;total_bytes\n"
    text += "1700000000;app;orders;10;900;100;2023-11-14 22:12:20+00;819200\n"
    text += "1700000010;app;orders;30;900;150;2023-11-14 22:12:20+00;819200\n"
    reading = read_file(written(tmp_path, text))
    assert picked(reading, "space", "used_bytes", "dead_rows") == [(819200, 100), (819200, 150)]
    assert picked(reading, "statistic", "entity", "value", name="pg_stat_user_tables.seq_scan") == [
        ("database.app.orders", 2.0)
    ]
    assert picked(reading, "statistic", "value", name="pg_stat_user_tables.last_vacuum_age_s") == [(60.0,), (70.0,)]


def test_sessions_of_9_3_by_bars_and_without_heading(tmp_path: Path) -> None:
    text = OLD.format(waiting="f", state="active") + OLD.format(waiting="t", state="active")
    reading = read_file(written(tmp_path, text + OLD.format(waiting="f", state="idle")))
    assert picked(reading, "session", "event", "wait_class", "program", "client", "transaction_s") == [
        ("CPU", "CPU", "web", "10.0.0.7", 58.0),
        ("lock", "Application", "web", "10.0.0.7", 58.0),
    ]


def test_a_sample_stands_for_the_time_to_the_next(tmp_path: Path) -> None:
    heading = "epoch,pid,state,wait_event_type,wait_event,query\n"
    lines = [f"{at},7,active,IO,DataFileRead,select\n" for at in (1700000000, 1700000005, 1700000015)]
    found = frame(read_file(written(tmp_path, heading + "".join(lines))), "session")
    assert found["interval_s"].to_list() == [5.0, 10.0, 10.0]
    assert found["wait_class"].unique().to_list() == ["User I/O"]


def test_the_text_of_statements_is_not_kept() -> None:
    tables = read_sample("pg_views.both.txt")
    assert not any("pg_sleep" in str(value) for value in frame(tables, "session").select(pl.all().cast(str)).rows())


@pytest.mark.parametrize("text", ["pid,name\n1,a\n", "1|2|3\n", "relname\nt\n", "datname,size\nshop,5\n"])
def test_another_table_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="no format"):
        read_file(written(tmp_path, text))
