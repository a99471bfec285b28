"""What a Prometheus tells of hosts: which there are, each scrape with its own time, and what is not there."""

from datetime import datetime, timedelta
from typing import Any

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from doctord.read.prometheus import server as reading
from doctord.read.prometheus.client import Client
from doctord.read.prometheus.hosts import Scraped, hosts
from doctord.read.prometheus.server import read_host
from doctord.read.source import SourceFile
from prometheus_replay import BEGIN, NODE, POSTGRES, T0, Replay, Series, after, node, replay, series


def told(server: Replay, until: datetime, since: datetime = BEGIN, **words: float) -> tuple[SourceFile, Dataset]:
    """What it tells of its one host."""
    client = Client(server.address)
    (host,) = hosts(client, since, until)
    source, tables = read_host(client, host, since, until, **words)
    return source, Dataset(tables)


def reads(dataset: Dataset) -> list[float]:
    return dataset.frame("disk").sort("ts")["reads_per_s"].drop_nulls().to_list()


def events(dataset: Dataset, kind: str) -> pl.DataFrame:
    return dataset.frame("event").filter(kind=kind)


def test_hosts_have_the_name_that_node_exporter_tells() -> None:
    recorded = [*node(3), *node(3, "db2:9100", "vm2"), series("pg_up", [1] * 3, POSTGRES)]
    with replay(recorded) as server:
        found = hosts(Client(server.address), BEGIN, after(3))
    assert found == [
        Scraped("vm1", {NODE, POSTGRES}, {"kernel", "postgresql"}),
        Scraped("vm2", {"db2:9100"}, {"kernel"}),
    ]


def test_an_exporter_elsewhere_tells_of_the_host_of_its_server() -> None:
    recorded = [
        *node(3),
        series("pg_up", [1] * 3, "monitoring:9187"),
        series("pg_static", [1] * 3, "monitoring:9187", server="db1:5432"),
    ]
    with replay(recorded) as server:
        (host,) = hosts(Client(server.address), BEGIN, after(3))
    assert (host.name, host.instances) == ("vm1", {NODE, "monitoring:9187"})


def test_nothing_of_exporters_or_of_that_time() -> None:
    with replay([series("up", [1] * 3)]) as server, pytest.raises(UserError, match="of no node_exporter"):
        hosts(Client(server.address), BEGIN, after(3))
    with (
        replay(node(3)) as server,
        pytest.raises(UserError, match="tells nothing of exporters from 2026-11-21") as refused,
    ):
        hosts(Client(server.address), BEGIN + timedelta(days=1), after(3) + timedelta(days=1))
    assert "--from" in refused.value.hint


def test_each_scrape_counts_with_its_own_time() -> None:
    with replay(node(6)) as server:
        source, dataset = told(server, after(6))
    assert reads(dataset) == pytest.approx([10.0] * 5)
    assert dataset.frame("disk")["interval_s"].drop_nulls().to_list() == pytest.approx([10.0] * 5)
    assert dataset.frame("disk")["ts"][0].microsecond == 268000
    assert set(dataset.frame("disk")["host"]) == {"vm1"}
    assert source.notes == []


def test_answers_are_split_and_rates_go_on_from_one_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_SAMPLES", 6)  # of three series: two scrapes each
    with replay(node(30)) as server:
        _, dataset = told(server, after(30))
    assert reads(dataset) == pytest.approx([10.0] * 29)
    assert len(server.queries("query")) > 10


def test_of_a_long_time_every_so_many_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_POINTS", 10)
    with replay(node(100)) as server:
        source, dataset = told(server, after(100))
    assert source.notes == ["a sample in 100 s is taken: there are more than 10 scrapes"]
    assert reads(dataset) == pytest.approx([10.0] * len(reads(dataset)))
    asked = server.queries("query_range")
    assert all((float(one["end"]) - float(one["start"])) / float(one["step"]) <= 10 for one in asked)
    assert float(asked[0]["step"]) == 100.0


def test_a_step_is_no_shorter_than_the_time_between_scrapes_of_any_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_POINTS", 40)
    seldom = [
        series("pg_up", [1] * 10, POSTGRES, every_s=90),
        series("pg_stat_database_xact_commit", range(0, 9000, 900), POSTGRES, every_s=90, datname="shop"),
    ]
    with replay([*node(90), *seldom]) as server:
        _, dataset = told(server, after(90))
    commits = dataset.frame("statistic").filter(name="pg_stat_database.xact_commit")["value"].to_list()
    assert commits == pytest.approx([10.0] * len(commits))
    assert {float(one["step"]) for one in server.queries("query_range")} == {90.0}


def test_eleven_thousand_points_are_asked_for_at_once_and_no_more() -> None:
    with replay(node(3, NODE)) as server:
        client = Client(server.address)
        asked = reading.Asked(client, 'instance=~"db1:9100"', BEGIN, BEGIN + timedelta(days=30), 60.0, {"a": 60.0})
        assert len([*asked.answers(1)]) == 4  # 43,200 points, and the server refuses more than 11,000 at once
    assert len(server.queries("query_range")) == 4


def test_a_gap_is_told_and_no_figure_stands_for_it() -> None:
    recorded = node(20)
    for one in recorded:
        del one["values"][8:14]
    with replay(recorded) as server:
        _, dataset = told(server, after(20))
    assert events(dataset, "gap")["text"].to_list() == ["none in 70 s"]
    assert reads(dataset) == pytest.approx([10.0] * 12)
    assert max(dataset.frame("disk")["interval_s"].drop_nulls()) == pytest.approx(10.0)


def test_a_counter_that_fell_is_an_event_and_no_rate() -> None:
    recorded = [*node(4)[:2], series("node_disk_reads_completed_total", [900, 1000, 10, 60], device="sda")]
    with replay(recorded) as server:
        _, dataset = told(server, after(4))
    assert reads(dataset) == pytest.approx([10.0, 5.0])
    assert events(dataset, "restart")["subject"].to_list() == ["scraped counters"]


def test_what_is_no_figure_is_absent() -> None:
    recorded = [
        *node(3)[:2],
        series("node_memory_MemFree_bytes", ["NaN", "4096", "+Inf"]),
        {"metric": series("node_netstat_Tcp_OutSegs", [])["metric"], "histograms": [[T0, {"count": "1"}]]},
    ]
    with replay(recorded) as server:
        source, dataset = told(server, after(3))
    assert dataset.frame("memory")["free_bytes"].to_list() == [4096]
    assert source.notes == ["native histograms are left out: 1 metrics, such as node_netstat_Tcp_OutSegs"]


def test_a_partial_answer_is_told() -> None:
    with replay(node(3), warnings=["store 10.0.0.7 timed out"]) as server:
        _, dataset = told(server, after(3))
    texts = events(dataset, "not measured")["text"].to_list()
    assert "Prometheus warns: store 10.0.0.7 timed out" in texts


def test_a_host_whose_scrapes_are_of_another_time_gives_nothing() -> None:
    with replay(node(3)) as server:
        client = Client(server.address)
        _, tables = read_host(client, Scraped("vm1", {NODE}), BEGIN + timedelta(days=1), after(3) + timedelta(days=1))
    assert tables == {}


def test_an_address_with_signs_of_regular_expressions_is_that_address() -> None:
    with replay([*node(3, "[fe80::1]:9100", "six"), *node(3, "db-1.x:9100", "one")]) as server:
        client = Client(server.address)
        found = {host.name: read_host(client, host, BEGIN, after(3))[1] for host in hosts(client, BEGIN, after(3))}
    assert {name: set(Dataset(tables).frame("disk")["host"]) for name, tables in found.items()} == {
        "six": {"six"},
        "one": {"one"},
    }


def test_labels_that_prometheus_added_tell_nothing_of_a_figure() -> None:
    added = {"cluster": "prod", "pod": "pg-0", "replica": "a"}
    recorded = [
        series("pg_up", [1] * 3, POSTGRES, **added),
        series("pg_stat_archiver_failed_count", [0, 10, 20], POSTGRES, **added),
        series("pg_stat_database_xact_commit", [0, 10, 20], POSTGRES, datname="shop", **added),
    ]
    with replay(recorded) as server:
        _, dataset = told(server, after(3))
    assert set(dataset.frame("statistic").select("name", "entity").rows()) == {
        ("pg_stat_archiver.failed_count", None),
        ("pg_stat_database.xact_commit", "shop"),
    }


def test_two_servers_that_scrape_one_target_are_one_target() -> None:
    pair = [[one, {**one, "metric": {**one["metric"], "replica": "b"}}] for one in node(4)]
    for _, other in pair:
        other["metric"]["replica"] = "a"
        other["values"] = [[at + 3, value] for at, value in other["values"]]
    with replay([one for both in pair for one in both]) as server:
        _, dataset = told(server, after(4))
    assert set(dataset.frame("disk")["device"]) == {"sda"}
    assert min(reads(dataset)) >= 0


# What exporters leave unseen.


def unseen(*recorded: Series) -> list[str]:
    with replay(recorded) as server:
        _, dataset = told(server, after(3))
    return events(dataset, "not measured")["subject"].to_list()


def test_what_cannot_be_seen_is_said_once() -> None:
    count = series("pg_stat_activity_count", [3, 5, 5], POSTGRES, state="active", datname="shop")
    subjects = unseen(*node(3), series("pg_up", [1] * 3, POSTGRES), count)
    assert [subject.partition(",")[0] for subject in subjects] == [
        "which processes use CPUs",
        "what sessions wait for",
        "who waits for whom (pg_blocking_pids)",
    ]


def test_an_exporter_alone_leaves_the_other_half_unseen() -> None:
    assert unseen(*node(3))[1:] == ["the databases on this host"]
    (host, sessions) = unseen(
        series("mysql_up", [1] * 3, "db1:9104"), series("mysql_global_status_questions", [1, 2, 3], "db1:9104")
    )
    assert host == "the host: CPUs, memory, disks, network"
    assert sessions.startswith("sessions")


def test_a_server_that_its_exporter_cannot_ask_did_not_answer() -> None:
    recorded: list[Any] = [
        *node(4),
        series("pg_up", [1, 1, 0, 0], POSTGRES),
        series("pg_settings_port", [5433] * 2, POSTGRES),
    ]
    with replay(recorded) as server:
        _, dataset = told(server, after(4))
    silent = events(dataset, "no answer")
    assert silent.select("db", "interval_s").rows() == [("postgresql:5433", pytest.approx(10.0))] * 2
