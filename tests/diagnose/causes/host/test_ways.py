"""The way to the clients: each cause fires on its own, and on no healthy one and none of the others."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SOCKET = f"0.0.0.0:{DB.rpartition(':')[2]}"
FAR = {
    "connections": 8.0,
    "refused": 0.0,
    "round_trip_ms": 41.0,
    "least_round_trip_ms": 40.0,
    "in_flight_bytes": 400.0,
    "unsent_bytes": 0.0,
    "segments_per_s": 190.0,
    "retransmits_per_s": 0.0,
    "sent_bytes_per_s": 9000.0,
    "travel_s_per_s": 7.5,
}
FULL = FAR | {
    "connections": 6.0,
    "round_trip_ms": 900.0,
    "least_round_trip_ms": 10.5,
    "in_flight_bytes": 1.2e6,
    "unsent_bytes": 2e6,
    "segments_per_s": 700.0,
    "sent_bytes_per_s": 1e6,
    "travel_s_per_s": 2.0,
}
SENDING = {("Network", "ClientWrite"): 3.0, ("CPU", "CPU"): 0.2}


def tcp(way: dict[str, float], socket: str = SOCKET) -> dict[tuple[str | None, str], float]:
    return {(socket, f"tcp_clients.{name}"): value for name, value in way.items()}


def locked(way: dict[str, float], *, idle_s: float = 0.03, socket: str = SOCKET, db: str = DB, **more: Any) -> Dataset:
    """Four sessions of a server wait for a row of one that is idle in its transaction for so long at a time."""
    root = {"sid": 7000, "pid": 7000, "state": "idle in transaction", "wait_class": "Client", "event": "ClientRead",
            "in_state_s": idle_s, "transaction_s": 0.2, "client": "10.0.0.7", "db": db}  # fmt: skip
    waiter = {"wait_class": "Application", "event": "transactionid", "wait_kind": "row lock", "blocker_sid": 7000,
              "db": db}  # fmt: skip
    waiters = [waiter | {"sid": 8000 + n, "pid": 8000 + n, "in_state_s": 0.02} for n in range(4)]
    return host(sessions=[root, *waiters], kernel=tcp(way, socket), **more)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(side: tuple[Any, ...]) -> str:
    return " | ".join(said(evidence.figure) for evidence in side)


def test_locks_that_are_held_over_round_trips() -> None:
    causes = found(locked(FAR))
    finding = causes["network_latency"]
    assert finding.impact.share is not None
    assert finding.impact.share > 0.5
    assert "40 ms there and back" in figures(finding.for_)
    assert "7.5 clients" in figures(finding.for_)
    assert causes["row_locks"].explained_by == "network_latency"
    assert next(iter(causes)) == "network_latency"


@pytest.mark.parametrize(
    "dataset",
    [
        locked(FAR | {"least_round_trip_ms": 0.3, "round_trip_ms": 0.4}),
        locked(FAR | {"travel_s_per_s": 0.1}),
        locked(FAR, idle_s=1.5),
        locked(FAR, socket="0.0.0.0:22"),
        locked(FAR, db="postgresql:5433"),
        locked({}),
        host(kernel=tcp(FAR)),
    ],
    ids=["near", "seldom", "idle for long", "another server's", "locks of another one", "not measured", "nobody waits"],
)
def test_round_trips_that_are_no_cause(dataset: Dataset) -> None:
    assert "network_latency" not in found(dataset)


def test_a_queue_on_the_way_speaks_against_the_distance() -> None:
    finding = found(locked(FAR | {"round_trip_ms": 200.0}))["network_latency"]
    assert "5.0 times that" in figures(finding.against)
    assert finding.confidence == 0.7


def test_a_way_that_is_full() -> None:
    causes = found(host(time=SENDING, kernel=tcp(FULL)))
    finding = causes["network_narrow"]
    assert said(finding.title).startswith("The way to the clients is full: ")
    assert finding.impact.share == pytest.approx(0.94, abs=0.01)
    assert "900 ms there and back" in figures(finding.for_)
    assert finding.against == ()


def test_clients_of_whom_one_does_not_read_speak_against_it() -> None:
    finding = found(host(time=SENDING, kernel=tcp(FULL | {"refused": 2.0})))["network_narrow"]
    assert "2.0 clients take nothing" in figures(finding.against)
    assert finding.confidence == 0.75


@pytest.mark.parametrize(
    "changes",
    [
        {"round_trip_ms": 11.0},
        {"retransmits_per_s": 20.0},
        {"refused": 5.0, "in_flight_bytes": 10.0},
        {"in_flight_bytes": 0.0},
    ],
    ids=["no queue", "lost", "they do not read", "nothing under way"],
)
def test_ways_that_are_not_full(changes: dict[str, float]) -> None:
    assert "network_narrow" not in found(host(time=SENDING, kernel=tcp(FULL | changes)))


def test_a_full_way_to_another_server_is_not_what_sessions_here_send_by() -> None:
    sending = [{"db": "postgresql:5433", "wait_class": "Network", "event": "ClientWrite", "sid": n} for n in range(3)]
    assert "network_narrow" not in found(host(sessions=sending, kernel=tcp(FULL)))


def test_a_full_way_for_which_nobody_waits_is_no_finding() -> None:
    assert not found(host(kernel=tcp(FULL)))


def test_whose_segments_are_lost_is_told_with_the_retransmits() -> None:
    lossy = {"segments_out_per_s": 2000.0, "retransmits_per_s": 60.0}
    those = found(host(tcp=lossy, time=SENDING, kernel=tcp(FULL | {"retransmits_per_s": 35.0})))["network_retransmits"]
    assert "5.0 % of those to the server's clients" in figures(those.for_)
    others = found(host(tcp=lossy, time=SENDING, kernel=tcp(FULL)))["network_retransmits"]
    assert "0.0 % of those to the server's clients" in figures(others.against)


def test_of_two_sockets_the_one_whose_clients_lose_segments_speaks() -> None:
    sound, lossy = FAR | {"connections": 20.0}, FAR | {"retransmits_per_s": 20.0}
    both = tcp(sound) | tcp(lossy, f"[::]:{SOCKET.rpartition(':')[2]}")
    seen = host(tcp={"segments_out_per_s": 2000.0, "retransmits_per_s": 60.0}, time=SENDING, kernel=both)
    finding = found(seen)["network_retransmits"]
    assert "[::]:5432 10.5 % of those to the server's clients" in figures(finding.for_)
    assert not finding.against
