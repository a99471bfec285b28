"""Servers that started anew, and what only looks so."""

import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.prometheus.client import Client
from doctord.read.prometheus.hosts import hosts
from doctord.read.prometheus.server import read_host
from prometheus_replay import BEGIN, POSTGRES, Series, after, replay, series

UP = series("pg_up", [1] * 4, POSTGRES)
PORT = series("pg_settings_port", [5433] * 4, POSTGRES)
COMMITS = series("pg_stat_database_xact_commit", [900, 950, 7, 50], POSTGRES, datname="shop")
BUFFERS = series("pg_stat_bgwriter_buffers_alloc_total", [900, 950, 20, 30], POSTGRES)


def starts(*recorded: Series) -> list[tuple[str, str]]:
    """Server and words of each start."""
    with replay([UP, PORT, *recorded]) as server:
        client = Client(server.address)
        (host,) = hosts(client, BEGIN, after(4))
        events = Dataset(read_host(client, host, BEGIN, after(4))[1]).frame("event")
    return events.filter(kind="restart").drop_nulls("db").select("db", "text").rows()


def test_the_moment_of_a_start() -> None:
    started = series("pg_postmaster_start_time_seconds", [1000, 1000.4, 2000, 2000], POSTGRES)
    assert starts(started) == [("postgresql:5433", "it started anew: pg_postmaster_start_time_seconds tells")]


def test_how_long_it_is_up() -> None:
    assert [db for db, _ in starts(series("mysql_global_status_uptime", [900, 910, 3, 13], POSTGRES))] == ["mysql"]


def test_all_statistics_that_begin_again_at_once() -> None:
    ((db, why),) = starts(COMMITS, BUFFERS)
    assert db == "postgresql:5433"
    assert "after a crash" in why


@pytest.mark.parametrize("alone", [COMMITS, BUFFERS])
def test_statistics_that_somebody_reset_are_no_start(alone: Series) -> None:
    assert starts(alone) == []
