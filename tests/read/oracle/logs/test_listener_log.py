"""Logs of Oracle's listener."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctord.read.formats import read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.logs.listener_log import NO_MOMENT, NOT_A_RESULT, client_of
from latency_files import reasons
from oracle_files import SAMPLES, figures, frame, read_lines

FORMS = {"listener_log.log": None, "listener_log.xml": None, "listener_log.plain.log": "Europe/Paris"}
REQUEST = (
    "30-MAY-2024 10:{time} * (CONNECT_DATA=(SERVICE_NAME=a)) * (ADDRESS=(HOST=h)(PORT=1)) * establish * a * {code}"
)


@pytest.mark.parametrize(("name", "zone"), FORMS.items())
def test_connections_are_counted_by_minute_and_service(name: str, zone: str | None) -> None:
    reading = read_file(SAMPLES / name, zone=zone)
    found = figures(reading, "listener.establish", "at", "entity")
    assert {key: round(value * 60) for key, value in found.items()} == {
        ("08:16", None): 36,
        ("08:16", "shop"): 36,
        ("08:17", None): 0,
        ("08:18", None): 13,
        ("08:18", "batch"): 12,
        ("08:18", "shop"): 1,
        ("08:19", None): 0,
    }
    refused = figures(reading, "listener.refused", "entity")
    assert refused == pytest.approx({("batch TNS-12519",): 8 / 60, ("shop TNS-12518",): 1 / 60})


@pytest.mark.parametrize(("name", "zone"), FORMS.items())
def test_counts_are_those_of_the_text(name: str, zone: str | None) -> None:
    reading = read_file(SAMPLES / name, zone=zone)
    text = (SAMPLES / name).read_text()
    counts = Counter(re.findall(r"establish \* (\w+) \* \d+", text))
    found = frame(reading, "statistic").filter(name="listener.establish").drop_nulls("entity")
    sums = found.group_by("entity").agg((pl.col("value") * pl.col("interval_s")).sum()).rows()
    assert dict(sums) == pytest.approx(counts)


@pytest.mark.parametrize(("name", "zone"), FORMS.items())
def test_refusals_are_events_by_minute(name: str, zone: str | None) -> None:
    events = frame(read_file(SAMPLES / name, zone=zone), "event").filter(pl.col("kind") != "restart")
    assert sorted(events.select("kind", "subject", "text").rows()) == [
        ("connection refused", "batch TNS-12519", "8 within 60 s"),
        ("connection refused", "shop TNS-12518", "1 within 60 s"),
        ("error", "TNS-12508", "service_register"),
    ]


def test_of_clients_program_and_host_are_kept() -> None:
    reading = read_file(SAMPLES / "listener_log.log")
    found = figures(reading, "listener.establish_by_client", "entity")
    assert found.keys() == {
        ("JDBC Thin Client on 10.0.0.21",),
        ("navicat.exe on 10.0.0.30",),
        ("sqlplus on 10.0.0.22",),
    }
    assert figures(reading, "listener.refused_by_client", "entity").keys() == {
        ("JDBC Thin Client on 10.0.0.21",),
        ("sqlplus on 10.0.0.22",),
    }
    assert set(frame(read_file(SAMPLES / "listener_log.xml"), "event")["host"]) == {"db7"}


def test_the_start_is_an_event() -> None:
    events = frame(read_file(SAMPLES / "listener_log.plain.log", zone="UTC"), "event").filter(kind="restart")
    assert [str(ts)[:19] for ts in events["ts"]] == ["2024-05-30 10:14:59"]


def test_what_cannot_be_placed_is_told(tmp_path: Path) -> None:
    whole = [REQUEST.format(time=time, code=0) for time in ("00:01", "00:02")]
    bad = [whole[0].replace("30-MAY", "31-FEB"), whole[0][:60]]
    reading = read_lines(tmp_path, *whole, *bad, zone=None)
    assert figures(reading, "listener.establish", "entity")["a",] == 2.0  # within the second that there is
    assert reasons(reading) == [NO_MOMENT, NOT_A_RESULT, ZONE_ASSUMED]


def test_a_log_that_grew_says_the_same_of_what_was_there(tmp_path: Path) -> None:
    lines = [REQUEST.format(time=f"{second // 60:02}:{second % 60:02}", code=0) for second in range(0, 600, 7)]
    short, long = (read_lines(tmp_path, *part, zone="UTC") for part in (lines[:50], lines))
    before = frame(short, "statistic").filter(name="listener.establish").rows()
    assert before == frame(long, "statistic").filter(name="listener.establish").rows()[: len(before)]


@given(st.text(), st.text())
def test_a_client_never_shows_what_else_it_sent(program: str, secret: str) -> None:
    text = f"* (CONNECT_DATA=(CID=(PROGRAM={program})(HOST=pc)(PASSWORD=x{secret}y))) * (ADDRESS=(HOST=ip)(PORT=1)) * e"
    assert client_of(text.replace("(HOST=ip", "(HOST=10.1.1.1")).endswith(("on 10.1.1.1", "on pc"))
