"""Oracle's extended SQL traces."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from doctord.errors import Refusal
from doctord.read.formats import read_file
from doctord.read.latency.oracle_10046 import NO_TIME
from doctord.read.latency.waits import CLOCK_FROM_1970
from doctord.read.moments import ZONE_ASSUMED
from latency_files import CORPUS, latencies, read_text, reasons, sample

HEAD = "Oracle Database 19c\nNode name:\tdb7\nInstance name: orcl1\n\n"
FETCH = "FETCH #140:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=14,tim={tim}\n"
WAIT = "WAIT #140: nam='{event}' ela= {ela} file#=7 block#=2 blocks=1 obj#=82015 tim={tim}\n"
EPOCH_US = 1_717_068_453_100_000  # the same moment


def trace(stamp: str, first_tim: int) -> str:
    waits = (
        WAIT.format(event=event, ela=ela, tim=first_tim + after)
        for event, ela, after in (
            ("log file sync", 100, 0),
            ("log file sync", 300, 500_000),
            ("db file scattered read", 7, 900_000),
        )
    )
    return HEAD + stamp + FETCH.format(tim=first_tim) + "".join(waits)


def test_waits_are_summed_by_event(tmp_path: Path) -> None:
    reading = read_text(tmp_path, trace("*** 2024-05-30T13:27:33.100000+02:00\n", 5_000_000))
    found = latencies(reading).group_by("db", "host", "subject").agg(pl.col("count", "waited_us").sum()).sort("subject")
    assert found.rows() == [
        ("oracle:orcl1", "db7", "db file scattered read", 1, 7.0),
        ("oracle:orcl1", "db7", "log file sync", 2, 400.0),
    ]
    assert reading.skipped == []


@pytest.mark.parametrize(
    ("stamp", "first_tim", "zone", "end_and_told"),
    [
        ("*** 2024-05-30T13:27:33.100000+02:00\n", 5_000_000, None, ("2024-05-30 11:27:34", [])),
        ("*** 2024-05-30 13:27:33.100\n", 5_000_000, "Europe/Paris", ("2024-05-30 11:27:34", [])),
        ("*** 2024-05-30 13:27:33.100\n", 5_000_000, None, ("2024-05-30 13:27:34", [ZONE_ASSUMED])),
        ("*** SESSION ID:(409.215) 2024-05-30 13:27:33.100\n", EPOCH_US, None, ("2024-05-30 11:27:34", [])),
        ("", EPOCH_US, None, ("2024-05-30 11:27:34", [])),
        ("", 5_100_000, None, ("1970-01-01 00:00:06", [CLOCK_FROM_1970])),
    ],
)
def test_the_clock_is_that_of_the_stamps(
    tmp_path: Path, stamp: str, first_tim: int, zone: str | None, end_and_told: tuple[str, list[str]]
) -> None:
    reading = read_text(tmp_path, trace(stamp, first_tim), zone=zone)
    (end,) = {str(ts)[:19] for ts in latencies(reading)["ts"]}
    assert (end, reasons(reading)) == end_and_told


def test_without_tim_a_wait_ends_when_the_line_before_did(tmp_path: Path) -> None:
    old = HEAD + "*** 2024-05-30T13:27:33.1+00:00\nWAIT #1: nam='SQL*Net message to client' ela= 2 p1=1 p2=1 p3=0\n"
    reading = read_text(tmp_path, old + FETCH.format(tim=77) + old.splitlines()[-1] + "\n")
    assert latencies(reading)["count"].sum() == 1
    assert reasons(reading) == [NO_TIME]


def test_bad_lines_cost_themselves(tmp_path: Path) -> None:
    text = trace("*** 2024-05-30T13:27:33.1+00:00\n", 5) + "*** 2024-13-45 13:27:33.1\nWAIT #1: nam='cut off"
    for bad in (text, text.replace("\n", "\r\n")):
        reading = read_text(tmp_path, bad)
        assert latencies(reading)["count"].sum() == 3
        assert reasons(reading) == ["no time of day", "a wait without its event or its time"]


def test_a_trace_without_waits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="nothing in it can be used"):
        read_text(tmp_path, HEAD + FETCH.format(tim=1))


def test_the_sample_sums_as_its_text_does() -> None:
    file = sample(CORPUS / "latencymap/LucaCanali_test_10046_tracefile.trc")
    counts, waited = Counter[str](), Counter[str]()
    for event, ela in re.findall(r"nam='(.*?)' ela= (\d+)", file.read_text()):
        counts[event] += 1
        waited[event] += int(ela)
    reading = read_file(file)
    found = latencies(reading).group_by("subject").agg(pl.col("count", "waited_us").sum())
    assert {event: (count, time) for event, count, time in found.rows()} == {
        event: (count, waited[event]) for event, count in counts.items()
    }
    assert reading.skipped == []
    # `***` of the beginning: 14:40:23 in a zone two hours ahead.
    assert str(latencies(reading)["ts"].min()) == "2013-08-26 12:40:24+00:00"
