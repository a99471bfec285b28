import logging
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest

from doctord.collect.core import link
from doctord.collect.oracle.latency import OracleLatency
from doctord.errors import UserError
from oracle_server import OracleServer, driver, error
from postgres_samples import rows_of
from shared import CORPUS, needs_corpus

READ, SYNC = "db file sequential read", "log file sync"


@pytest.fixture
def server() -> OracleServer:
    made = OracleServer()
    made.wait("pmon timer", 4194304, 100, micros=300_000_000)
    made.wait(READ, 512, 1000, micros=400_000)
    made.wait(READ, 8192, 100, micros=600_000)
    return made


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_RETRY_S", (0.0,))


@pytest.fixture
def collector(server: OracleServer) -> Iterator[OracleLatency]:
    with closing(OracleLatency(driver(server), events=[READ])) as made:
        assert rows_of("latency", made.sample()) == [], "there is no increase yet"
        yield made


def buckets(rows: list[dict[str, Any]]) -> dict[tuple[str, str, float, float | None], int]:
    return {(row["instance"], row["subject"], row["gt_us"], row["le_us"]): row["count"] for row in rows}


def events(collector: OracleLatency) -> list[tuple[str, str]]:
    return [(row["kind"], row["text"]) for row in rows_of("event", collector.sample())]


def test_an_interval_has_what_the_buckets_gained(server: OracleServer, collector: OracleLatency) -> None:
    server.wait(READ, 512, 30, micros=9_000)
    server.wait(READ, 2**33, 1, micros=5_000_000_000)
    server.wait("pmon timer", 4194304, micros=3_000_000)
    found = rows_of("latency", collector.sample())
    assert buckets(found) == {("1", READ, 256.0, 512.0): 30, ("1", READ, 2.0**32, None): 1}
    row = found[0]
    assert (row["db"], row["host"], row["waited_us"]) == ("oracle:sales", os.uname().nodename, None)
    assert 0 < row["interval_s"] < 5


def test_the_mean_is_exact_and_stands_beside_the_distribution(server: OracleServer, collector: OracleLatency) -> None:
    server.wait(READ, 512, 30, micros=9_000)
    [row] = rows_of("wait", collector.sample())
    assert (row["event"], row["wait_class"], row["instance"]) == (READ, "User I/O", "1")
    assert row["avg_wait_ms"] == pytest.approx(0.3)
    assert row["waits_per_s"] * row["interval_s"] == pytest.approx(30)
    assert row["average_active_sessions"] * row["interval_s"] == pytest.approx(0.009)


def test_an_interval_without_a_wait_is_told_from_one_not_measured(collector: OracleLatency) -> None:
    batches = collector.sample()
    assert buckets(rows_of("latency", batches)) == {("1", READ, 0.0, None): 0}
    assert [(row["waits_per_s"], row["avg_wait_ms"]) for row in rows_of("wait", batches)] == [(0.0, None)]


def test_without_a_choice_all_events_that_are_not_idle_are_read(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server))) as collector:
        collector.sample()
        server.wait("pmon timer", 4194304, micros=3_000_000)
        server.wait(SYNC, 1, 2, micros=1)  # it never occurred before
        batches = collector.sample()
    assert buckets(rows_of("latency", batches)) == {("1", READ, 0.0, None): 0, ("1", SYNC, 0.0, 1.0): 2}
    assert {row["event"] for row in rows_of("wait", batches)} == {READ, SYNC}


def test_instances_are_kept_apart_and_can_be_chosen(server: OracleServer) -> None:
    server.wait(READ, 1024, 7, instance=2)
    server.wait(READ, 1024, 7, instance=3)
    with closing(OracleLatency(driver(server), events=[READ.upper()], instances=[2, 3])) as collector:
        collector.sample()
        server.wait(READ, 1024, 5, instance=2)
        server.wait(READ, 1024, 6, instance=3)
        server.wait(READ, 1024, 9, instance=1)
        found = rows_of("latency", collector.sample())
    assert buckets(found) == {("2", READ, 512.0, 1024.0): 5, ("3", READ, 512.0, 1024.0): 6}


def test_an_instance_that_is_not_there_is_said_once(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server), events=[READ], instances=[1, 7])) as collector:
        [event] = rows_of("event", collector.sample())
        assert (event["kind"], event["subject"]) == ("not measured", "oracle:sales instance 7")
        assert "gv$instance" in event["hint"]
        assert events(collector) == []


def test_version_11_has_milliseconds() -> None:
    old = OracleServer(version="11.2.0.4.0")
    old.wait(READ, 1)
    with closing(OracleLatency(driver(old), events=[READ])) as collector:
        collector.sample()
        old.wait(READ, 1)
        old.wait(READ, 16, 3)
        old.wait(READ, 2**23, 2)
        found = buckets(rows_of("latency", collector.sample()))
    last_us = 2.0**22 * 1000
    assert found == {
        ("1", READ, 0.0, 1000.0): 1,
        ("1", READ, 8000.0, 16000.0): 3,
        ("1", READ, last_us, None): 2,
    }


@needs_corpus
def test_rows_recorded_from_a_cluster_give_the_increases_worked_out_from_their_text() -> None:
    readings = list(recorded((CORPUS / "latencymap" / "LucaCanali_example_latency_data.txt").read_text()))
    assert len(readings) == 72
    old = OracleServer(version="11.2.0.3.0")
    with closing(OracleLatency(driver(old), events=[READ])) as collector:
        found = []
        for reading in readings:
            for instance, counts in enumerate(reading, 1):
                old.waits[instance, READ] = counts
                old.micros[instance, READ] = sum(counts.values()) * 1000
            found.append(rows_of("latency", collector.sample()))
    expected = [
        {
            (str(instance), edge * 1000.0): count
            for instance in (1, 2)
            for edge, count in (Counter(now[instance - 1]) - Counter(before[instance - 1])).items()
        }
        for before, now in pairwise(readings)
    ]
    assert [
        {(row["instance"], row["le_us"]): row["count"] for row in rows if row["count"]} for rows in found[1:]
    ] == expected
    assert sum(row["count"] for rows in found for row in rows) > 100_000


def recorded(text: str) -> Iterator[list[dict[int, int]]]:
    """The counters of each record by instance: where the edges begin again, another instance's begin."""
    for record in re.findall(r"<begin record>(.*?)<end record>", text, re.DOTALL):
        instances: list[dict[int, int]] = []
        for edge, count in re.findall(r"^(\d+), (\d+)$", record, re.MULTILINE):
            if edge == "1":
                instances.append({})
            instances[-1][int(edge)] = int(count)
        yield instances


def test_a_restarted_instance_is_an_event_and_the_others_go_on(server: OracleServer) -> None:
    server.wait(READ, 1024, 7, instance=2)
    with closing(OracleLatency(driver(server), events=[READ])) as collector:
        collector.sample()
        server.restart(2)
        server.wait(READ, 1024, 3, instance=2)
        server.wait(READ, 512, 1)
        batches = collector.sample()
        assert buckets(rows_of("latency", batches)) == {("1", READ, 256.0, 512.0): 1}
        assert {row["instance"] for row in rows_of("wait", batches)} == {"1"}
        [event] = rows_of("event", batches)
        assert (event["kind"], event["subject"]) == ("restart", "oracle:sales instance 2")
        server.wait(READ, 1024, 4, instance=2)
        assert buckets(rows_of("latency", collector.sample()))["2", READ, 512.0, 1024.0] == 4


def test_a_restart_shows_in_events_that_nobody_asked_for(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server), events=[SYNC])) as collector:
        collector.sample()
        server.restart(1)
        server.wait("pmon timer", 4194304)
        batches = collector.sample()
        assert rows_of("latency", batches) == []
        assert [event["kind"] for event in rows_of("event", batches)] == ["restart"]


def test_an_instance_that_leaves_is_a_gap_and_begins_anew_when_it_is_back(server: OracleServer) -> None:
    server.wait(READ, 1024, 7, instance=2)
    with closing(OracleLatency(driver(server), events=[READ])) as collector:
        collector.sample()
        server.restart(2)
        assert events(collector) == [("gap", "it is no longer there: stopped, or cut off")]
        server.wait(READ, 1024, 9, instance=2)
        assert "2" not in {row["instance"] for row in rows_of("latency", collector.sample())}
        server.wait(READ, 1024, 1, instance=2)
        assert buckets(rows_of("latency", collector.sample()))["2", READ, 512.0, 1024.0] == 1


@pytest.mark.parametrize("view", ["gv$system_event", "gv$event_histogram"])
@pytest.mark.parametrize(("code", "text"), [("ORA-03113", "the server closed it"), ("DPY-4024", "no answer for 3 s")])
def test_a_connection_lost_in_mid_sample_is_a_gap(
    server: OracleServer, collector: OracleLatency, view: str, code: str, text: str
) -> None:
    server.wait(READ, 512, 50)
    server.fail[view] = error(code)
    batches = collector.sample()
    assert rows_of("latency", batches) == rows_of("wait", batches) == []
    told = rows_of("event", batches)
    assert [event["kind"] for event in told] == (["no answer"] if code == "DPY-4024" else []) + ["gap"]
    assert all(text in event["text"] for event in told)
    assert server.connections == 0
    batches = collector.sample()
    assert rows_of("latency", batches) == [], "it covers the outage"
    assert [event["text"] for event in rows_of("event", batches)] == ["the server answers again after 0 s"]
    server.wait(READ, 512, 2)
    assert buckets(rows_of("latency", collector.sample())) == {("1", READ, 256.0, 512.0): 2}


def test_a_restart_during_an_outage_is_seen_when_the_server_is_back(
    server: OracleServer, collector: OracleLatency
) -> None:
    server.down = True
    assert [kind for kind, _ in events(collector)] == ["gap"]
    assert [kind for kind, _ in events(collector)] == ["not measured"], "nobody answers there"
    server.restart(1)
    server.wait(READ, 512, 2)
    server.down = False
    batches = collector.sample()
    assert rows_of("latency", batches) == []
    assert [event["kind"] for event in rows_of("event", batches)] == ["gap", "restart"]


def test_a_server_that_is_away_is_not_asked_at_every_sample(
    server: OracleServer, collector: OracleLatency, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_RETRY_S", (0.05, 60.0))
    server.down = True
    collector.sample()
    time.sleep(0.06)
    assert [kind for kind, _ in events(collector)] == ["not measured"]
    server.down = False
    for _ in range(3):
        assert rows_of("latency", collector.sample()) == []
    assert server.connections == 0


def test_a_wrong_password_is_said_with_a_hint_and_nothing_secret_comes_out(
    server: OracleServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = driver(server, "hunter2")
    with closing(OracleLatency(made, events=[READ])) as collector:
        [event] = rows_of("event", collector.sample())
        assert event["text"] == "user or password is wrong (ORA-01017)"
        assert "DOCTORD_ORACLE_PASSWORD" in event["hint"]
        assert events(collector) == [], "it is said once"
        with pytest.raises(UserError, match="ORA-01017") as refused:
            collector.check()
    said = f"{event} {refused.value} {refused.value.hint} {refused.value.__cause__} {caplog.text} {made!r}"
    assert not [secret for secret in ("hunter2", "scott", "db.example") if secret in said]
    assert refused.value.__suppress_context__, "a traceback would show the driver's own words"


@pytest.mark.parametrize("view", ["v$event_name", "gv$system_event", "gv$event_histogram_micro"])
def test_a_right_that_is_missing_is_said_with_how_to_grant_it(server: OracleServer, view: str) -> None:
    server.revoked.add(view)
    with closing(OracleLatency(driver(server), events=[READ])) as collector:
        [event] = rows_of("event", collector.sample())
        assert (event["kind"], event["subject"]) == ("not measured", "wait events")
        assert "GRANT SELECT ON gv_$event_histogram_micro" in event["hint"]
        with pytest.raises(UserError, match="no right"):
            collector.check()
        server.revoked.clear()
        collector.sample()
        server.wait(READ, 512, 2)
        assert buckets(rows_of("latency", collector.sample())) == {("1", READ, 256.0, 512.0): 2}
    assert server.connections == 0


def test_a_right_that_is_revoked_is_a_gap(server: OracleServer, collector: OracleLatency) -> None:
    server.revoked.add("gv$system_event")
    server.wait(READ, 512, 2)
    assert [kind for kind, _ in events(collector)] == ["not measured"]
    server.revoked.clear()
    assert rows_of("latency", collector.sample()) == []
    server.wait(READ, 512, 3)
    assert buckets(rows_of("latency", collector.sample())) == {("1", READ, 256.0, 512.0): 3}


def test_an_unknown_event_is_said_with_those_of_a_similar_name(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server), events=["db file sequentail read", SYNC])) as collector:
        [event] = rows_of("event", collector.sample())
        assert event["hint"].startswith("did you mean db file sequential read or ")
        assert buckets(rows_of("latency", collector.sample())) == {("1", SYNC, 0.0, None): 0}
        with pytest.raises(
            UserError, match="oracle:sales: there is no wait event 'db file sequentail read'"
        ) as refused:
            collector.check()
        assert "did you mean db file sequential read" in refused.value.hint


def test_with_unknown_events_alone_nothing_is_read(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server), events=["xyz"])) as collector:
        [event] = rows_of("event", collector.sample())
        assert event["hint"] == "SELECT name FROM v$event_name lists them"
        server.statements.clear()
        assert collector.sample() == []
        assert server.statements == []


def test_the_check_says_when_the_connection_breaks_in_it(server: OracleServer) -> None:
    server.fail["gv$system_event"] = error("ORA-03113")
    with closing(OracleLatency(driver(server))) as collector:
        with pytest.raises(UserError, match="oracle:sales: the connection broke"):
            collector.check()
        collector.check()


def test_the_check_leaves_the_connection_for_the_samples(server: OracleServer) -> None:
    with closing(OracleLatency(driver(server), events=[READ])) as collector:
        collector.check()
        assert server.connections == 1
        collector.sample()
        server.wait(READ, 512)
        assert buckets(rows_of("latency", collector.sample())) == {("1", READ, 256.0, 512.0): 1}
        assert server.connections == 1
    assert server.connections == 0
