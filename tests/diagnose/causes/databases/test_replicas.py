"""Standbys and subscribers that do not follow."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from diagnose.hosts import host
from doctord.collect.postgres.statistics.replication import Replication
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said
from postgres_samples import figures, link_to
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
