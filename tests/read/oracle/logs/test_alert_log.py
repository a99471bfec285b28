"""Oracle's alert logs."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.logs.alert_events import event_of, without_literals
from doctord.read.oracle.logs.alert_log import NO_TIME
from latency_files import reasons
from oracle_files import SAMPLES, figures, frame, read_lines

FORMS = {"alert_log.log": None, "alert_log.xml": None, "alert_log.stamped.log": "Europe/Paris"}
STAMP = "2024-05-30T10:00:00.000000+00:00"


@pytest.mark.parametrize(("name", "zone"), FORMS.items())
def test_events_are_the_same_in_every_form(name: str, zone: str | None) -> None:
    reading = read_file(SAMPLES / name, zone=zone)
    events = frame(reading, "event").with_columns(at=pl.col("ts").dt.strftime("%H:%M:%S"))
    assert events.select("at", "kind", "subject", "text").rows() == [
        ("08:15:00", "restart", "instance", "started (normal)"),
        ("08:15:20", "database open", "database", "opened"),
        ("08:25:00", "log switch", "thread 1, sequence 40", "switched to sequence 40"),
        ("08:35:00", "checkpoint not complete", "thread 1, sequence 41", "cannot allocate new log, sequence 41"),
        ("08:35:05", "log switch", "thread 1, sequence 41", "switched to sequence 41"),
        (
            "08:45:00",
            "private strand flush not complete",
            "thread 1, sequence 42",
            "cannot allocate new log, sequence 42",
        ),
        ("08:45:00", "log switch", "thread 1, sequence 42", "switched to sequence 42"),
        ("09:21:40", "error", "ORA-00600", "internal error code, arguments: [kcbz_check_objd_typ_3]"),
        ("09:21:40", "error", "ORA-01654", "unable to extend index SHOP.ORDERS_PK by ? in tablespace USERS"),
        (
            "09:23:20",
            "error",
            "ORA-01555",
            "caused by SQL statement below (SQL ID: 7ws837zynp1zv, Query Duration=9123 sec, SCN: ?):",
        ),
        ("09:25:00", "deadlock", "ORA-00060", "deadlock detected"),
        ("09:26:40", "settings change", "pga_aggregate_target", "is set to 2147483648 (BOTH)"),
        ("09:26:40", "resize", "file 5", "from 1024K to 2048K"),
        ("09:28:20", "archiver stuck", "archiver", "Archival Error"),
        ("09:28:20", "archiving needed", "thread 1, sequence 43", "cannot allocate new log, sequence 43"),
        ("09:30:00", "error", "ORA-03136", "WARNING: inbound connection timed out (ORA-3136)"),
        ("10:16:40", "swapping", "host", "Heavy swapping detected"),
        ("10:18:20", "instance terminated", "instance", "terminated: error 484"),
        ("11:16:40", "restart", "instance", "started (normal)"),
    ]
    assert set(events["db"]) == {"oracle:shop"}
    assert set(events["host"]) == {"db7"}
    assert (reading.skipped, reading.notes) == ([], [])


@pytest.mark.parametrize(("name", "zone"), FORMS.items())
def test_parameters_of_the_start_are_settings(name: str, zone: str | None) -> None:
    settings = frame(read_file(SAMPLES / name, zone=zone), "setting")
    assert settings.select("name", "value", "unit").rows() == [
        ("processes", "300", None),
        ("nls_language", "AMERICAN", None),
        ("sga_target", str(1536 << 20), "bytes"),
        ("control_files", "/u02/shop/control01.ctl, /u03/shop/control02.ctl", None),
        ("log_archive_dest_2", "service=standby password=(not shown)", None),
        ("db_name", "shop", None),
        ("instance_name", "shop1", None),
    ]
    text = (SAMPLES / name).read_text().splitlines()
    first = settings.row(0, named=True)
    assert "processes" in text[first["line"] - 1]
    assert (str(first["ts"])[:19], first["instance"]) == ("2024-05-30 08:15:02", "shop1")


def test_switches_are_counted_by_hour() -> None:
    reading = read_file(SAMPLES / "alert_log.log")
    found = frame(reading, "statistic").filter(name="alert_log.log switches")
    assert found.select(pl.col("ts").dt.strftime("%H:%M"), "interval_s", "entity").rows() == [
        ("09:00", 2700.0, "thread 1"),
        ("10:00", 3600.0, "thread 1"),
        ("11:00", 3600.0, "thread 1"),  # the hour after that is not over
    ]
    assert found["value"].to_list() == pytest.approx([3 / 2700, 0.0, 0.0])
    assert figures(reading, "alert_log.errors", "entity")["ORA-01654",] == 2 / 3600


def test_data_of_users_is_not_kept(tmp_path: Path) -> None:
    reading = read_lines(
        tmp_path,
        STAMP,
        "Starting ORACLE instance (normal)",
        'ORA-12899: value too large for column "SHOP"."T"."C" (\'Smith\', actual: 4111)',
        "ALTER SYSTEM SET log_archive_dest_2='service=x password=hunter2' SCOPE=BOTH;",
    )
    told = " ".join(text for text in frame(reading, "event")["text"] if text)
    assert not [secret for secret in ("Smith", "4111", "hunter2") if secret in told]


def test_times_without_a_zone_are_said_to_be_utc(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "Thu Mar  1 10:00:00 2012", "Thread 1 advanced to log sequence 5", zone=None)
    assert str(frame(reading, "event")["ts"][0])[:19] == "2012-03-01 10:00:00"
    assert reading.notes == [ZONE_ASSUMED]


def test_an_event_before_any_time_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "Thread 1 advanced to log sequence 5", STAMP, "Thread 1 advanced to log sequence 6")
    assert frame(reading, "event")["subject"].to_list() == ["thread 1, sequence 6"]
    assert reasons(reading) == [NO_TIME]


def test_a_date_that_is_none_is_told(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, "2024-02-31T10:00:00+00:00", STAMP, "Thread 1 advanced to log sequence 6")
    assert reasons(reading) == ["no time of day"]


def test_why_a_log_was_not_allocated_may_be_missing(tmp_path: Path) -> None:
    reading = read_lines(tmp_path, STAMP, "Thread 2 cannot allocate new log, sequence 9")
    assert frame(reading, "event")["kind"].to_list() == ["cannot allocate new log"]


@given(st.integers(1, 99999), st.text(max_size=40))
def test_any_error_is_told_with_its_number(number: int, text: str) -> None:
    event = event_of(f"ORA-{number:05}: {text}")
    assert event is not None
    if event.kind == "error":
        assert event.subject == f"ORA-{number:05}"


@given(st.text(st.characters(categories=("L",)), min_size=4, max_size=20), st.integers(1000))
def test_quoted_text_and_numbers_are_taken_out(word: str, number: int) -> None:
    assert without_literals(f"row with '{word}' and ({number})") == "row with ? and (?)"
