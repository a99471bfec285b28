"""MySQL's histograms of statements, on rows as version 8 has them: there is no such server on this machine."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pymysql
import pytest

from doctord.collect.core.increase import Total
from doctord.collect.mysql.driver import MySQLDriver
from doctord.collect.mysql.latency import MySQLLatency
from doctord.collect.mysql.sources import files, response_times, statements, wait_class
from doctord.errors import UserError
from postgres_samples import rows_of

DIGEST = "bb3f69453119b2d7b3ae40673a9d4c7c"
ENDLESS = 2**64 - 1
# From the example of the reference manual, "Statement Histogram Summary Tables".
MANUAL = [(DIGEST, 66069344, 69183097, 1), (DIGEST, 69183097, 72443596, 1), (DIGEST, 72443596, 75857757, 2)]


def edges() -> list[tuple[int, int]]:
    """The 450 buckets of version 8: from 10 microseconds, 50 for each power of ten, the last without an end."""
    bounds = [0, *(int(10_000_000 * 10 ** (number / 50)) for number in range(449)), ENDLESS]
    return list(pairwise(bounds))


@dataclass
class MySQL8:
    """A stand-in that answers the collector's statements, and raises on any other."""

    buckets: dict[tuple[int, int], int] = field(default_factory=dict)
    digests: list[tuple[str, int, int, int]] = field(default_factory=list)
    instruments: dict[str, int] = field(default_factory=lambda: {"statement/sql/select": 1, "wait/io/file/sql/FRM": 1})
    version: str = "8.0.36"
    uptime_s: int = 1000
    schema: str = "ON"
    denied: bool = False
    consumers: int = 1

    def rows(self, sql: str, values: Sequence[str] | None) -> list[tuple[Any, ...]]:
        answers = {
            "SHOW /* doctord */ GLOBAL STATUS LIKE 'Uptime'": [("Uptime", str(self.uptime_s))],
            "SHOW /* doctord */ GLOBAL VARIABLES WHERE variable_name IN "
            "('version', 'performance_schema', 'query_response_time_stats')": [
                ("version", self.version),
                ("performance_schema", self.schema),
            ],
            "SELECT /* doctord */ name, enabled = 'YES' AND timed = 'YES' FROM performance_schema.setup_instruments "
            "WHERE name LIKE 'wait/%' OR name LIKE 'statement/sql/%'": list(self.instruments.items()),
            "SELECT /* doctord */ enabled = 'YES' FROM performance_schema.setup_consumers "
            "WHERE name = 'global_instrumentation'": [(self.consumers,)],
        }
        if self.denied and "performance_schema." in sql:
            raise pymysql.OperationalError(1142, "SELECT command denied to user scott")
        if sql in answers:
            return answers[sql]
        known = re.search(r"performance_schema\.(\w+) WHERE count_\w+ > 0( AND digest IN \((%s(, %s)*)\))?", sql)
        assert known is not None, f"no such statement is known: {sql}"
        table, places = known[1], known[3]
        if table == "events_statements_histogram_global":
            if self.version < "8":
                raise pymysql.ProgrammingError(1146, "Table does not exist, says scott")
            return [(None, *bucket, count) for bucket, count in self.buckets.items() if count]
        if table == "events_statements_histogram_by_digest":
            assert places.count("%s") == len(values or ())
            return [row for row in self.digests if values and row[0] in values]
        assert table in {"file_summary_by_event_name", "events_waits_summary_global_by_event_name"}
        return []


class Driver(MySQLDriver):
    """The driver, connected to the stand-in."""

    server: MySQL8

    def connect(self) -> Any:
        return _Connection(self.server)


class _Connection:
    def __init__(self, server: MySQL8) -> None:
        self._server = server

    def cursor(self) -> "_Connection":
        return self

    def execute(self, sql: str, values: Sequence[str] | None) -> None:
        self._rows = self._server.rows(sql, values)

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def close(self) -> None:
        """There is nothing to let go of."""


def collector_of(server: MySQL8, *subjects: str) -> MySQLLatency:
    made = Driver("db.example:3307", "scott")
    made.server = server
    return MySQLLatency(made, subjects=subjects)


def test_picoseconds_become_microseconds_and_the_last_bucket_has_no_end() -> None:
    found = statements([(None, 0, 10_000_000, 7), (None, 9_549_925_860_214_369, ENDLESS, 1)])
    assert found == {"query": {(0.0, 10.0): Total(7), (9_549_925_860.214369, None): Total(1)}}


def test_version_8_gives_the_distribution_of_all_statements() -> None:
    server = MySQL8()
    with closing(collector_of(server)) as collector:
        server.buckets = {edges()[100]: 5}
        collector.sample()
        server.buckets = {edges()[100]: 9, edges()[449]: 1}
        found = rows_of("latency", collector.sample())
    assert [(row["db"], row["subject"], row["count"], row["waited_us"]) for row in found] == [
        ("mysql:db.example:3307", "query", 4, None),
        ("mysql:db.example:3307", "query", 1, None),
    ]
    assert (found[0]["gt_us"], found[0]["le_us"]) == (pytest.approx(954.99, rel=1e-4), pytest.approx(1000.0))
    assert found[1]["le_us"] is None


def test_a_single_statement_by_its_digest() -> None:
    server = MySQL8(digests=MANUAL)
    with closing(collector_of(server, f"query {DIGEST}")) as collector:
        collector.check()
        collector.sample()
        assert [(row["subject"], row["count"]) for row in rows_of("latency", collector.sample())] == [
            (f"query {DIGEST}", 0)
        ]
        server.digests = [*MANUAL[:2], (DIGEST, 72443596, 75857757, 6)]
        [row] = rows_of("latency", collector.sample())
    assert (row["gt_us"], row["le_us"], row["count"]) == (72.443596, 75.857757, 4)


def test_a_truncated_table_is_a_gap() -> None:
    server = MySQL8(buckets={edges()[100]: 5})
    with closing(collector_of(server, "query")) as collector:
        collector.sample()
        server.buckets = {edges()[90]: 1}
        batches = collector.sample()
        assert rows_of("latency", batches) == []
        [event] = rows_of("event", batches)
        assert event["subject"] == "performance_schema.events_statements_histogram_global"
        server.buckets = {edges()[90]: 3}
        assert [row["count"] for row in rows_of("latency", collector.sample())] == [2]


def test_version_5_7_has_no_distribution_and_the_rest_goes_on() -> None:
    with closing(collector_of(MySQL8(version="5.7.44"))) as collector:
        events = {row["subject"]: row["text"] for row in rows_of("event", collector.sample())}
        assert events["query"] == "this version does not have it (1146)"
        assert "scott" not in str(events)
        with pytest.raises(UserError, match="nothing is told of 'query'"):
            collector_of(MySQL8(version="5.7.44"), "query").check()


def test_statements_that_are_not_timed_are_said_with_what_turns_them_on() -> None:
    with closing(collector_of(MySQL8(instruments={"statement/sql/select": 0}), "query")) as collector:
        [event] = rows_of("event", collector.sample())
    assert event["subject"] == "query"
    assert event["hint"].startswith("UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES'")


def test_without_the_right_to_read_it_nothing_of_version_8_is_seen() -> None:
    collector = collector_of(MySQL8(denied=True))
    [event] = rows_of("event", collector.sample())
    assert (event["subject"], event["text"]) == ("performance_schema", "no right to read it (1142)")
    with pytest.raises(UserError, match=r"mysql:db\.example:3307: nothing is told of 'query': no right to read it"):
        collector_of(MySQL8(denied=True), "query").check()


@pytest.mark.parametrize(("version", "subject"), [("8.0.36", "performance_schema"), ("10.11.6-MariaDB", "wait/")])
def test_a_consumer_that_is_off_is_said_of_what_depends_on_it(version: str, subject: str) -> None:
    collector = collector_of(MySQL8(version=version, consumers=0))
    off = {row["text"]: row for row in rows_of("event", collector.sample())}
    event = off["the consumer global_instrumentation is off"]
    assert event["subject"] == subject
    assert event["hint"].startswith("UPDATE performance_schema.setup_consumers")


def test_without_the_performance_schema_there_is_nothing() -> None:
    with closing(collector_of(MySQL8(schema="OFF"))) as collector:
        [event] = rows_of("event", collector.sample())
        assert collector.sample() is not None
    assert (event["subject"], event["text"]) == ("performance_schema", "the performance schema is off")


def test_response_times_are_exact_but_for_what_was_too_long() -> None:
    rows = [
        ("      0.000001", 2, "      0.000001"),
        ("      0.000010", 5, "      0.000031"),
        ("TOO LONG", 1, "TOO LONG"),
    ]
    assert response_times(rows) == {
        "query": {(0.0, 1.0): Total(2, 1.0), (1.0, 10.0): Total(5, 31.0), (10.0, None): Total(1)}
    }


def test_what_a_wait_on_a_file_does_stands_after_its_name() -> None:
    found = files([("wait/io/file/sql/binlog", 0, 0, 4, 8_000_000, 2, 6_000_000)])
    assert found == {
        "wait/io/file/sql/binlog write": {(0.0, None): Total(4, 8.0)},
        "wait/io/file/sql/binlog other": {(0.0, None): Total(2, 6.0)},
    }


@pytest.mark.parametrize(
    ("event", "known"),
    [
        ("wait/io/file/innodb/innodb_data_file read", "User I/O"),
        ("wait/io/file/innodb/innodb_log_file other", "System I/O"),
        ("wait/lock/metadata/sql/mdl", "Application"),
        ("wait/synch/mutex/innodb/buf_pool_mutex", "Concurrency"),
        ("wait/synch/cond/sql/COND_manager", "Idle"),
        ("wait/synch/cond/sql/MDL_context::COND_wait_status", "Application"),
        ("wait/of/tomorrow", "Other"),
    ],
)
def test_classes_of_waits(event: str, known: str) -> None:
    assert wait_class(event) == known
