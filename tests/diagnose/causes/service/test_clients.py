"""Clients that do not take what they asked for."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import pq

from checkups import checkup
from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from servers import PostgresServer

WRITING = {
    "wait_class": "Network",
    "event": "ClientWrite",
    "statement_s": 40.0,
    "program": "report",
    "client": "10.0.0.7",
}


def found(sessions: int, vcsw_per_s: float | None = 0.0, **more: Any) -> dict[str, Finding]:
    own = [
        {"pid": 7000 + number, "command": "postgres: client backend", "vcsw_per_s": vcsw_per_s} for number in range(9)
    ]
    dataset = host(sessions=[WRITING] * sessions, other_processes=own, **more)
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def test_sessions_that_stand_in_their_sockets() -> None:
    finding = found(3)["clients_do_not_take_results"]
    assert finding.severity == "critical"
    assert said(finding.title).startswith("Clients do not take their results: 3 sessions wait for them, 91 %")
    assert any("report of app at 10.0.0.7: 3 sessions" in said(item.figure) for item in finding.for_)
    assert finding.against == ()


def test_results_that_flow_are_told_apart() -> None:
    finding = found(3, vcsw_per_s=400.0)["clients_do_not_take_results"]
    assert said(finding.title).startswith("Clients take their results slowly")
    assert "results flow" in said(finding.against[0].why)


def test_connections_with_bytes_to_send_and_none_under_way_are_told() -> None:
    kernel = {
        ("0.0.0.0:5432", f"tcp_clients.{name}"): value for name, value in {"connections": 3, "refused": 3}.items()
    }
    finding = found(3, kernel=kernel)["clients_do_not_take_results"]
    assert any("3.0 connections have bytes to send" in said(item.figure) for item in finding.for_)


def test_a_dump_or_a_report_alone_is_a_note() -> None:
    finding = found(1)["clients_do_not_take_results"]
    assert finding.severity == "note"
    assert "one client alone" in said(finding.against[0].why)


def test_who_holds_a_lock_meanwhile_is_no_note_and_explains_the_locks() -> None:
    waiters = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7000, "in_state_s": 9.0}
    dataset = host(sessions=[WRITING, *[waiters | {"sid": 8000 + n, "pid": 8000 + n} for n in range(4)]])
    causes = {finding.cause: finding for finding in diagnose(dataset).findings}
    assert causes["clients_do_not_take_results"].severity != "note"
    assert said(causes["clients_do_not_take_results"].title).endswith("keeps 4 others waiting for its locks")
    assert causes["row_locks"].explained_by == "clients_do_not_take_results"


def test_a_network_that_loses_segments_explains_it() -> None:
    finding = found(3, tcp={"segments_out_per_s": 900.0, "retransmits_per_s": 60.0})["clients_do_not_take_results"]
    assert finding.explained_by == "network_retransmits"
    assert "the network loses some" in " ".join(said(item.why) for item in finding.against)


def test_moments_of_it_are_nothing() -> None:
    assert diagnose(host(time={("CPU", "CPU"): 3.0, ("Network", "ClientWrite"): 0.05})).healthy


@pytest.mark.server
@pytest.mark.slow
def test_live_clients_that_do_not_read(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    clients = [pq.PGconn.connect(server.dsn().encode()) for _ in range(3)]
    for client in clients:
        client.send_query(b"SELECT repeat('x', 10000) FROM generate_series(1, 10000)")
        client.flush()
    _, verdict = checkup(server.dsn(), 10)
    for client in clients:
        client.finish()
    [found] = [one for one in verdict["findings"] if one["cause"] == "clients_do_not_take_results"]
    assert found["title"].startswith("Clients do not take their results: 3 sessions")
    assert found["severity"] == "critical"
