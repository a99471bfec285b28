"""Oracle's extended SQL traces."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from doctord.read.formats import Reading, read_file
from doctord.read.moments import ZONE_ASSUMED
from doctord.read.oracle.logs.trace_10046 import NO_TIME
from doctord.read.single_waits import CLOCK_FROM_1970
from latency_files import latencies, read_text, reasons
from oracle_files import SAMPLES, frame, read_sample
from shared import CORPUS, sample

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
    text = trace("*** 2024-05-30T13:27:33.1+00:00\n", 5) + "*** 2024-13-45 13:27:33.1\nWAIT #1: nam='cut off\n"
    for bad in (text, text.replace("\n", "\r\n")):
        reading = read_text(tmp_path, bad)
        assert latencies(reading)["count"].sum() == 3
        assert reasons(reading) == ["no time of day", "a wait without its event or its time"]


def test_a_trace_without_waits_has_calls(tmp_path: Path) -> None:
    reading = read_text(tmp_path, HEAD + FETCH.format(tim=5_000_000).replace("dep=1", "dep=0"))
    assert sums(reading, "statistic", "name", "value")["v$sess_time_model.DB time"] == pytest.approx((42e-6,))


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


def sums(reading: Reading, table: str, key: str, *figures: str) -> dict[str, tuple[float, ...]]:
    """Rates times their intervals, added up by a column."""
    increase = [(pl.col(figure) * pl.col("interval_s")).sum() for figure in figures]
    return {row[0]: row[1:] for row in frame(reading, table).group_by(key).agg(increase).rows()}


def test_waits_and_cpu_are_rates() -> None:
    reading = read_sample("trace_10046.trc")
    found = sums(reading, "wait", "event", "waits_per_s", "average_active_sessions")
    assert found == {
        "db file sequential read": pytest.approx((1, 0.0009)),
        "enq: TX - row lock contention": pytest.approx((1, 12)),
        "SQL*Net message to client": pytest.approx((1, 0.000002)),
        "SQL*Net message from client": pytest.approx((1, 4)),
        "log file sync": pytest.approx((1, 0.005)),
        "CPU": pytest.approx((0, 0.00504)),  # of calls at depth 0, and of the LOB
    }
    lock = frame(reading, "wait").filter(event="enq: TX - row lock contention").sort("ts")
    assert lock["average_active_sessions"].to_list() == pytest.approx([0.6895, 0.5105])  # a wait over two intervals
    assert lock["avg_wait_ms"].to_list() == [None, 12000.0]
    assert set(lock["wait_class"]) == {"Application"}
    assert set(frame(reading, "wait").filter(event="SQL*Net message from client")["wait_class"]) == {"Idle"}


def test_what_is_not_accounted_for_is_shown() -> None:
    reading = read_sample("trace_10046.trc")
    found = sums(reading, "statistic", "name", "value")
    db_time = 1500 + 12_005_000 + 90 + 2000
    assert found["v$sess_time_model.DB time"] == pytest.approx((db_time / 1e6,))
    waits = 900 + 12_000_000 + 2 + 5000
    assert found["reconcile.unaccounted"] == pytest.approx(((db_time - 5040 - waits) / 1e6,))
    assert found["v$sesstat.user commits"] == found["v$sesstat.user rollbacks"] == (1.0,)


def test_statements_are_summed_by_their_id() -> None:
    reading = read_sample("trace_10046.trc")
    found = sums(reading, "statement", "statement_id", "calls_per_s", "elapsed_s_per_s", "cpu_s_per_s", "rows_per_s")
    assert found == {
        "3nkd3g3ju5ph1": pytest.approx((1, 0.00041, 0.00035, 1)),
        "7ws837zynp1zv": pytest.approx((2, 12.0085, 0.005, 1)),
    }
    texts = dict(frame(reading, "statement").select("statement_id", "text").rows())
    assert texts == {
        "3nkd3g3ju5ph1": "select obj#,type# from obj$ where owner#=:? and name=?",
        "7ws837zynp1zv": "update orders set state = ? where id = ?",
    }
    lock = frame(reading, "statistic").filter(name="v$sqlstats.application_wait_time")
    assert lock.select("entity", pl.col("value") * pl.col("interval_s")).rows() == [("7ws837zynp1zv", 12.0)]
    gets = frame(reading, "statistic").filter(name="v$sqlstats.gets")
    assert (gets["value"] * gets["interval_s"]).sum() == 4 + 4 + 8 + 3


def test_events_have_their_moments() -> None:
    events = frame(read_sample("trace_10046.trc"), "event").sort("ts")
    assert [(str(ts)[11:19], *rest) for ts, *rest in events.select("ts", "kind", "subject", "text").rows()] == [
        ("11:27:33", "module", "orders", None),
        ("11:27:33", "action", "pay", None),
        ("11:27:49", "error", "ORA-00942", "in the text"),
        ("11:27:49", "error", "ORA-00060", "in a call of SQL id 7ws837zynp1zv"),
        ("11:27:49", "deadlock", "ORA-00060", "deadlock detected"),
    ]


def test_values_are_not_kept() -> None:
    for batch in read_sample("trace_10046.trc").batches:
        assert "SECRET" not in str(pa.record_batch(batch).to_pylist())


def test_times_of_8i_are_hundredths_of_a_second(tmp_path: Path) -> None:
    old = (
        "Oracle8i Enterprise Edition Release 8.1.7.4.0\n*** 2001-05-30 13:27:33.100\nPARSING IN CURSOR #1 len=6 dep=0 "
    )
    old += (
        "uid=5 oct=3 lid=5 tim=100 hv=77 ad='1'\nselect\nEND OF STMT\nEXEC #1:c=5,e=200,p=0,cr=0,cu=0,mis=0,r=0,dep=0"
    )
    reading = read_text(tmp_path, f"{old},og=4,tim=300\nWAIT #1: nam='db file scattered read' ela= 2 p1=1 p2=2 p3=3\n")
    assert sums(reading, "statement", "statement_id", "elapsed_s_per_s", "cpu_s_per_s") == {
        "77": pytest.approx((2, 0.05))
    }
    assert latencies(reading)["waited_us"].sum() == 20_000.0


def test_a_line_that_is_cut_off_is_told(tmp_path: Path) -> None:
    text = (SAMPLES / "trace_10046.trc").read_text()
    reading = read_text(tmp_path, text[: text.index("ela= 12000000") + 8])
    assert sums(reading, "wait", "event", "waits_per_s")["db file sequential read"] == (1.0,)
    assert reasons(reading) == ["the file ends within this line"]


def test_a_trace_in_pieces_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_sample("trace_10046.trc")
    monkeypatch.setattr("doctord.read.source.CHUNK_BYTES", 700)
    pieces = read_sample("trace_10046.trc")
    for table in ("wait", "statement", "statistic", "event"):
        assert frame(pieces, table).equals(frame(whole, table))
    key = ["ts", "subject", "gt_us"]
    assert latencies(pieces).sort(key).equals(latencies(whole).sort(key))
    assert not latencies(pieces).select(key).is_duplicated().any()


def test_the_statements_of_the_sample_sum_as_its_text_does() -> None:
    file = sample(CORPUS / "latencymap/LucaCanali_test_10046_tracefile.trc")
    expected = Counter[str]()
    for line in re.findall(r"^(?:EXEC|FETCH|PARSE) #46929157733848:(.*)", file.read_text(), re.MULTILINE):
        expected.update({key: int(value) for key, value in re.findall(r"\b(c|e|p|cr|cu|r)=(\d+)", line)})
    reading = read_file(file)
    found = sums(
        reading, "statement", "statement_id", "cpu_s_per_s", "elapsed_s_per_s", "read_blocks_per_s", "rows_per_s"
    )["309mwpa4tk161"]
    assert found == pytest.approx([expected["c"] / 1e6, expected["e"] / 1e6, expected["p"], expected["r"]])
    gets = frame(reading, "statistic").filter(name="v$sqlstats.gets")
    assert (gets["value"] * gets["interval_s"]).sum() == pytest.approx(expected["cr"] + expected["cu"])


def test_waits_of_the_sample_sum_as_its_latencies_do() -> None:
    reading = read_file(sample(CORPUS / "latencymap/LucaCanali_test_10046_tracefile.trc"))
    found = sums(reading, "wait", "event", "average_active_sessions")
    for event, waited_us in latencies(reading).group_by("subject").agg(pl.col("waited_us").sum()).rows():
        assert found[event] == pytest.approx((waited_us / 1e6,))
