"""Standbys and subscribers that do not follow."""

import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest

from diagnose.hosts import DB, START, host
from doctord.collect.postgres.statistics.wal.replication import Replication
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer, running_postgres

AHEAD = (None, "pg_last_wal_receive_lsn.ahead_bytes")
PAUSED, RECEIVERS = (None, "pg_is_wal_replay_paused"), (None, "pg_stat_wal_receiver.count")
LAG_S, LAG = ("reader", "pg_stat_replication.replay_lag_s"), ("reader", "pg_stat_replication.replay_lag_bytes")
ERRORS = ("orders", "pg_stat_subscription_stats.apply_error_count")


def told(figures: dict[tuple[str | None, str], float]) -> list[tuple[str, str, str]]:
    findings = diagnose(host(postgres=figures)).findings
    return [(finding.cause, finding.severity, said(finding.title)) for finding in findings]


def test_a_standby_whose_replay_is_paused() -> None:
    assert told({PAUSED: 1.0, RECEIVERS: 1.0, AHEAD: 5e9}) == [
        ("standby_stands_still", "warning", "Replay is paused on standby postgresql:5432")
    ]


def test_a_standby_that_nothing_reaches() -> None:
    assert told({PAUSED: 0.0, RECEIVERS: 0.0}) == [
        ("standby_stands_still", "warning", "Standby postgresql:5432 is not connected to its primary")
    ]


RESTORING = {PAUSED: 0.0, RECEIVERS: 0.0, ("scp", "restore_command.running_s"): 25.0}
PROCESS = {"startup.process": "process 13 (scp), state S in poll_schedule_timeout"}


def test_a_standby_whose_restore_command_hangs() -> None:
    findings = diagnose(host(postgres=RESTORING, settings=PROCESS)).findings
    assert [(one.cause, one.severity, said(one.title)) for one in findings] == [
        ("standby_stands_still", "warning", f"Standby {DB} waits for its restore_command, which runs for 25 s: scp")
    ]
    told = " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in findings[0].for_)
    assert "scp runs for 25 s: process 13 (scp), state S in poll_schedule_timeout" in told
    assert "it does not stream from its primary" in told
    assert "timeout 60" in said(findings[0].remedy[2])


@pytest.mark.parametrize(
    ("running_s", "segment", "hangs"), [(9.0, None, False), (17.0, None, True), (17.0, str(64 * 2**20), False)]
)
def test_a_segment_takes_its_time(running_s: float, segment: str | None, *, hangs: bool) -> None:
    figures = {PAUSED: 0.0, RECEIVERS: 1.0, ("scp", "restore_command.running_s"): running_s}
    findings = diagnose(host(postgres=figures, settings={"wal_segment_size": segment} if segment else {})).findings
    assert bool(findings) is hangs


@pytest.mark.parametrize(("replayed", "hangs"), [(0.0, True), (5e6, False), (None, False)])
def test_where_the_command_is_not_seen_its_wait_tells_unless_something_is_replayed(
    replayed: float | None, *, hangs: bool
) -> None:
    position = {} if replayed is None else {(None, "pg_last_wal_replay_lsn.replayed_bytes"): replayed}
    waiting = {"kind": "startup", "wait_class": "Other", "event": "RestoreCommand", "state": None}
    findings = diagnose(host(postgres={PAUSED: 0.0, **position}, sessions=[waiting])).findings
    assert [said(one.title) for one in findings] == ([f"Standby {DB} waits for its restore_command"] if hangs else [])


def asks(entity: str, *, last_s: int = 20, seconds: int = 20, **figures: float) -> list[tuple[str, str, str]]:
    """Findings of a host whose log has a message until some second of the look."""
    about = {"db": DB, "component": "postgresql", "name": "log.errors", "entity": entity, "kind": "rate"}
    rows = [
        about | {"ts": START + timedelta(seconds=second), "interval_s": 5.0, "host": "host", "value": 0.2}
        for second in range(5, last_s + 1, 5)
    ]
    dataset = host(seconds=seconds, postgres={(None, name): value for name, value in figures.items()})
    known = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    findings = diagnose(Dataset.from_rows(**known | {"statistic": [*known.get("statistic", []), *rows]})).findings
    return [(finding.cause, finding.severity, said(finding.title)) for finding in findings]


REMOVED = "requested WAL segment ? has already been removed"


def test_wal_that_was_removed_is_told_by_the_primary() -> None:
    [(cause, severity, title)] = asks(f"ERROR 58P01 {REMOVED}")
    assert (cause, severity) == ("standby_stands_still", "warning")
    assert title.startswith("postgresql:5432 is asked by a standby for WAL that was removed")


def test_wal_that_was_removed_is_told_by_the_standby_once() -> None:
    told = asks(f"FATAL 08P01 could not receive data from WAL stream: ERROR: {REMOVED}", **{RECEIVERS[1]: 0.0})
    assert [(cause, title.partition(":5432 ")[2][:26]) for cause, _, title in told] == [
        ("standby_stands_still", "asks for WAL that was remo")
    ]


def test_who_does_not_ask_any_more_got_it_from_elsewhere() -> None:
    [(cause, severity, _)] = asks(f"ERROR 58P01 {REMOVED}", seconds=120)
    assert (cause, severity) == ("standby_stands_still", "note")


def test_another_end_of_the_stream_is_not_about_wal_that_was_removed() -> None:
    told = asks("FATAL 08006 could not receive data from WAL stream: server closed the connection unexpectedly")
    assert "standby_stands_still" not in [cause for cause, _, _ in told]


def test_a_standby_that_follows_and_a_primary_are_healthy() -> None:
    assert told({PAUSED: 0.0, RECEIVERS: 1.0, AHEAD: 1e6}) == told({}) == []


def test_a_standby_far_behind() -> None:
    assert told({LAG_S: 300.0, LAG: 2e9}) == [("standby_behind", "warning", "Standby reader is 5 min behind")]
    assert told({LAG_S: 300.0, LAG: 1e6}) == [], "an idle primary, whose last change was replayed late"
    assert told({LAG_S: 2.0, LAG: 2e9}) == [], "much of it, and soon done"


def test_a_subscription_that_fails_again_and_again() -> None:
    assert told({ERRORS: 0.2}) == [
        ("subscription_fails", "warning", "Subscription orders fails: changes could not be applied")
    ]
    assert told({ERRORS: 0.0}) == []


@pytest.fixture(scope="module")
def alone() -> Iterator[PostgresServer]:
    """A standby whose primary is gone."""
    with running_postgres(15) as server:
        server.stop()
        (server.datadir / "standby.signal").touch()
        with (server.datadir / "postgresql.auto.conf").open("a") as settings:
            settings.write("primary_conninfo = 'host=127.0.0.1 port=1 user=nobody'\n")
        server.start()
        yield server


@pytest.mark.server
def test_a_real_standby_without_a_primary(alone: PostgresServer) -> None:
    with closing(link_to(alone.dsn())) as link:
        link.open()
        seen = figures(Replication().read(link))
        assert (seen["pg_is_wal_replay_paused"], seen["pg_stat_wal_receiver.count"]) == (0.0, 0.0)
        alone.execute("SELECT pg_wal_replay_pause()")
        assert figures(Replication().read(link))["pg_is_wal_replay_paused"] == 1.0


@pytest.mark.server
def test_a_real_restore_command_that_hangs() -> None:
    with running_postgres(15) as server:
        server.stop()
        (server.datadir / "standby.signal").touch()
        with (server.datadir / "postgresql.auto.conf").open("a") as settings:
            settings.write("restore_command = '! test -e gone || sleep 600; false'\n")
        server.start()
        with closing(link_to(server.dsn())) as link:
            link.open()
            (server.datadir / "gone").touch()
            replication, deadline = Replication(), time.monotonic() + 60
            while time.monotonic() < deadline:
                batches = replication.read(link)
                told = [row for row in rows_of("statistic", batches) if row["name"] == "restore_command.running_s"]
                if told:
                    break
                time.sleep(0.2)
    assert told[0]["value"] >= 1
    assert told[0]["entity"] in ("sh", "sleep")
    [where] = rows_of("setting", batches)
    assert where["name"] == "startup.process"
    assert where["value"].startswith("process ")
