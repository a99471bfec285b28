"""Sessions as postgres_exporter counts them, by its version."""

from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.prometheus.client import Client
from doctord.read.prometheus.hosts import hosts
from doctord.read.prometheus.server import read_host
from prometheus_replay import BEGIN, POSTGRES, Series, after, replay, series

CLIENT = {"backend_type": "client backend", "datname": "shop"}
ON_CPU = CLIENT | {"state": "active", "usename": "exporter"}
WAITING = CLIENT | {
    "state": "active", "usename": "app", "application_name": "web", "wait_event_type": "Lock",
    "wait_event": "transactionid",
}  # fmt: skip
IDLE = CLIENT | {"state": "idle", "wait_event_type": "Client", "wait_event": "ClientRead"}
IN_TRANSACTION = IDLE | {"state": "idle in transaction", "usename": "app"}


def counted(*counts: tuple[dict[str, str], list[Any]], version: str = "0.18.1") -> list[Series]:
    told = [series("pg_stat_activity_count", values, POSTGRES, **labels) for labels, values in counts]
    build = series("postgres_exporter_build_info", [1] * 3, POSTGRES, version=version)
    return [*told, build, series("pg_up", [1] * 3, POSTGRES), series("pg_settings_port", [5433] * 3, POSTGRES)]


def dataset(recorded: list[Series]) -> Dataset:
    with replay(recorded) as server:
        client = Client(server.address)
        (host,) = hosts(client, BEGIN, after(3))
        return Dataset(read_host(client, host, BEGIN, after(3))[1])


def test_each_session_of_a_scrape_is_a_sample_without_a_number() -> None:
    rows = dataset(counted((WAITING, [1, 2, 3]), (IDLE, [9, 9, 9]))).frame("session")
    assert rows.height == 5  # the first scrape stands for no time
    columns = ("db", "database", "user", "program", "state", "wait_class", "event", "wait_kind", "kind")
    assert rows.select(columns).unique().rows() == [
        ("postgresql:5433", "shop", "app", "web", "active", "Application", "transactionid", "row lock", "client")
    ]
    assert rows["interval_s"].to_list() == pytest.approx([10.0] * 5)
    assert rows["sid"].null_count() == rows["pid"].null_count() == 5


@pytest.mark.parametrize(("version", "left"), [("0.17.1", 2), ("0.18.0", 4), ("0.20.1", 4)])
def test_until_it_left_itself_out_one_that_may_be_it_is_taken_off(version: str, left: int) -> None:
    found = dataset(counted((ON_CPU, [2, 2, 2]), (WAITING, [1, 1, 1]), version=version))
    assert found.frame("session").filter(event="CPU").height == left
    assert found.frame("session").filter(event="transactionid").height == 2
    told = found.frame("wait").filter(event="CPU")
    assert (told["average_active_sessions"].to_list(), told["kind"].null_count()) == ([left / 2] * 2, 2)


def test_who_names_its_program_is_not_the_exporter() -> None:
    named = ON_CPU | {"application_name": "psql"}
    assert dataset(counted((named, [1, 1, 1]), version="0.17.0")).frame("session").height == 2


def test_numbers_of_sessions_have_our_names() -> None:
    figures = dataset(counted((WAITING, [1] * 3), (IDLE, [7] * 3), (IN_TRANSACTION, [2] * 3))).frame("statistic")
    named = dict(figures.filter(component="postgresql").select("name", "value").rows())
    assert named["pg_stat_activity.connections"] == 10
    assert named["pg_stat_activity.connections_idle"] == 7
    assert named["pg_stat_activity.connections_idle_in_transaction"] == 2


def test_how_long_a_transaction_lasts_is_known_of_one_alone() -> None:
    age = series("pg_stat_activity_max_tx_duration", [5, 15, 25], POSTGRES, **IN_TRANSACTION)
    alone = dataset([*counted((IN_TRANSACTION, [1, 1, 1])), age]).frame("session")
    assert alone["transaction_s"].to_list() == [15.0, 25.0]
    two = dataset([*counted((IN_TRANSACTION, [2, 2, 2])), age])
    assert two.frame("session")["transaction_s"].null_count() == 4
    longest = two.frame("statistic").filter(name="pg_stat_activity.max_tx_duration")
    assert set(longest["entity"]) == {"idle in transaction"}


def test_by_state_alone_they_are_no_samples_and_that_is_said() -> None:
    by_state = [({"state": state, "datname": "shop"}, [count] * 3) for state, count in (("active", 4), ("idle", 2))]
    found = dataset(counted(*by_state, version="0.11.1"))
    assert found.frame("session").is_empty()
    assert found.frame("wait").is_empty()
    (text,) = found.frame("event").filter(subject="what sessions wait for")["text"]
    assert text.endswith("by state alone: 3.0 at work on average")


def test_background_processes_that_some_versions_count_are_no_clients() -> None:
    worker = {"backend_type": "autovacuum worker", "datname": "shop", "state": "active"}
    (kind,) = set(dataset(counted((worker, [1, 1, 1]))).frame("session")["kind"])
    assert kind == "autovacuum worker"


def test_threads_of_mysql_that_are_at_work() -> None:
    def threads(command: str, state: str, count: int) -> Series:
        labels = {"command": command, "state": state}
        return series("mysql_info_schema_processlist_threads", [count] * 3, "db1:9104", **labels)

    up = [series(name, [1] * 3, "db1:9104") for name in ("mysql_up", "mysql_global_variables_port")]
    found = dataset([
        *up, threads("query", "waiting_for_table_metadata_lock", 2), threads("execute", "unknown", 1),
        threads("sleep", "unknown", 40), threads("binlog_dump", "master_has_sent_all_binlog_to_slave", 1),
    ])  # fmt: skip
    rows = found.frame("session")
    assert set(rows["db"]) == {"mysql:1"}
    assert sorted(rows.select("wait_class", "event", "wait_kind").rows()) == sorted(
        2 * [*2 * [("Application", "Waiting for table metadata lock", "table lock")], ("Unaccounted", "running", None)],
        key=str,
    )
    assert rows["sid"].null_count() == 6
    counts = dict(found.frame("statistic").filter(name="processlist.threads").select("entity", "value").rows())
    assert counts == {"query": 2, "execute": 1, "sleep": 40, "binlog dump": 1}


def test_where_sessions_are_not_counted_nothing_is_made_up() -> None:
    worker = series("pg_stat_activity_autovacuum_timestamp_seconds", [1] * 3, POSTGRES, relname="t")
    age = series("pg_stat_activity_max_tx_duration", [1] * 3, POSTGRES, state="active")
    found = dataset([*counted(), worker, age])
    assert not any(name.startswith("pg_stat_activity.connections") for name in found.frame("statistic")["name"])
    assert found.frame("wait").is_empty()
