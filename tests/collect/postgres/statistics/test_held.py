"""Who holds the connections of a real server, and whether the clients still exist."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from doctord.collect.core.sock_diag import End, Timer, tcp_ends
from doctord.collect.postgres import whereabouts as looking
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics import held
from doctord.collect.postgres.statistics.held import Held, Session
from doctord.collect.postgres.whereabouts import Whereabouts, whereabouts
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer

TCP_REPAIR = 19  # linux/tcp.h: a socket that is closed in this mode says nothing, as a host without power


@contextmanager
def clients(server: PostgresServer, number: int, program: str) -> Iterator[list[psycopg.Connection]]:
    with ExitStack() as opened:
        yield [
            opened.enter_context(
                closing(
                    psycopg.connect(
                        f"host=127.0.0.1 port={server.port} user=doctord dbname=postgres application_name={program}",
                        autocommit=True,
                    )
                )
            )
            for _ in range(number)
        ]


def vanish(client: psycopg.Connection) -> None:
    """End a client without a word; a copy of its descriptor is what is left to libpq."""
    with socket.socket(fileno=client.fileno()) as its:
        its.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, its.fileno())  # closes the socket
        its.detach()


@pytest.fixture
def link(server: PostgresServer) -> Iterator[Link]:
    with closing(link_to(server.dsn("doctord"))) as opened:
        opened.open()
        yield opened


@pytest.mark.server
def test_whose_connections_are_idle_and_that_their_clients_are_there(server: PostgresServer, link: Link) -> None:
    with clients(server, 3, "shop") as three:
        three[0].execute("BEGIN")
        told = figures(Held().read(link), "doctord@127.0.0.1 shop")
    assert told.pop("pg_stat_activity.held_idle_s") < 60
    assert told == {
        "pg_stat_activity.held": 3.0, "pg_stat_activity.held_idle": 3.0, "pg_stat_activity.held_there": 3.0,
        "pg_stat_activity.held_gone": 0.0, "pg_stat_activity.held_silent": 0.0,
    }  # fmt: skip


@pytest.mark.server
def test_of_a_unix_socket_nothing_is_told_of_the_client(server: PostgresServer, link: Link) -> None:
    with server.connect(application_name="local"):
        told = figures(Held().read(link), "postgres@[local] local")
    assert {name for name in told if "idle" not in name} == {"pg_stat_activity.held"}


@pytest.mark.server
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may end a connection without a word (TCP_REPAIR)")
def test_clients_that_went_without_a_word_are_told_by_the_process_of_each(
    server: PostgresServer, link: Link, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "_SETTLED_S", 0.5)
    with clients(server, 3, "shop") as three, clients(server, 1, "shop") as alive:
        dead = [client.info.backend_pid for client in three]
        three[0].execute("BEGIN")
        time.sleep(1.5)  # what the server sends again, as nobody said that it came, this host would answer (RST)
        for client in three:
            vanish(client)
        alive[0].execute("SELECT 1")
        until = time.monotonic() + 10  # each is told once its connection has settled
        batches = Held().read(link)
        while figures(batches, "doctord@127.0.0.1 shop")["pg_stat_activity.held_gone"] < 3 and time.monotonic() < until:
            time.sleep(0.2)
            batches = Held().read(link)
        server.execute(f"SELECT pg_terminate_backend(pid) FROM unnest(ARRAY{dead}) AS pid")
    told = figures(batches, "doctord@127.0.0.1 shop")
    assert (told["pg_stat_activity.held_gone"], told["pg_stat_activity.held_there"]) == (3.0, 1.0)
    rows = [row for row in rows_of("statistic", batches) if row["name"] == "pg_stat_activity.client_gone_s"]
    assert [row["entity"] for row in rows] == [f"{pid} doctord@127.0.0.1 shop" for pid in dead]
    assert all(row["value"] >= 0.5 for row in rows)


@contextmanager
def connection() -> Iterator[tuple[socket.socket, socket.socket, int]]:
    """A connection on loopback: the client's end, at an address that no other test has, the server's, and its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), source_address=("127.9.8.7", 0)) as client:
            accepted, _ = server.accept()
            with accepted:
                yield client, accepted, port


def test_both_ends_of_a_connection() -> None:
    with connection() as (client, _, port):
        own, other = client.getsockname(), ("127.0.0.1", port)
        [[local, peer, state, *_, heard_s]] = [end for end in tcp_ends(port) if end.state == 1]
        assert ((local, peer, state), heard_s < 60) == ((other, own, 1), True)
        assert {(end.local, end.peer) for end in tcp_ends(port, "peer")} == {(own, other)}
        assert whereabouts(port, [own])[own].fate == "there"


def test_a_server_whose_sockets_are_elsewhere_tells_nothing() -> None:
    with connection() as (client, _, port):
        assert whereabouts(port, [("127.0.0.1", 1)]) == {}
        assert whereabouts(port + 1, [client.getsockname()]) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may end a connection without a word (TCP_REPAIR)")
def test_a_missing_end_is_no_proof_where_its_port_is_somebody_elses() -> None:
    """A connection that is redirected (iptables REDIRECT, DNAT) has another address at the client's end."""
    with connection() as (client, _, port):
        own = client.getsockname()
        client.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        client.close()
        assert whereabouts(port, [own])[own].fate == "gone"
        with socket.socket() as redirected, socket.create_server(("127.0.0.1", 0)) as there:
            redirected.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            redirected.bind(own)
            redirected.connect(there.getsockname())
            assert whereabouts(port, [own])[own].fate is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may end a connection without a word (TCP_REPAIR)")
def test_an_address_that_is_kept_after_another_connection_is_nobodys() -> None:
    with connection() as (client, _, port), socket.create_server(("127.0.0.1", 0)) as elsewhere:
        own = client.getsockname()
        client.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        client.close()
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(own)
            other.connect(elsewhere.getsockname())
            accepted, _ = elsewhere.accept()
        with accepted:
            accepted.recv(1)  # it has ended, and so does this end: the first to end waits (TIME_WAIT)
        assert [end.state for end in tcp_ends(own[1]) if end.local == own] == [6]
        assert whereabouts(port, [own])[own].fate == "gone"


def test_an_address_of_this_host_proves_it_only_where_no_other_namespace_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client, local = ("10.0.0.1", 5432), ("10.0.0.1", 40000), ("127.0.0.1", 40001)
    ends = [End(server, peer, 1, "none", 0, 700.0) for peer in (client, local)]
    monkeypatch.setattr(looking, "tcp_ends", lambda *asked: ends if asked == (5432,) else [])
    monkeypatch.setattr(looking, "is_ours", lambda _: True)
    for pid in (1, 2):
        (tmp_path / f"{pid}/ns").mkdir(parents=True)
        (tmp_path / f"{pid}/ns/net").symlink_to("net:[1]")
    assert {one.fate for one in whereabouts(5432, [client, local], tmp_path).values()} == {"gone"}
    (tmp_path / "2/ns/net").unlink()
    (tmp_path / "2/ns/net").symlink_to("net:[2]")
    seen = whereabouts(5432, [client, local], tmp_path)
    assert (seen[client].fate, seen[local].fate) == (None, "gone")


@pytest.mark.parametrize(
    ("timer", "unanswered", "fate"),
    [("retransmit", 6, "silent"), ("keepalive", 3, "silent"), ("retransmit", 1, None), ("none", 0, None)],
)
def test_a_client_elsewhere_is_silent_once_it_leaves_things_unanswered(
    timer: Timer, unanswered: int, fate: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = ("192.0.2.7", 40000)
    ends = [End(("10.0.0.1", 5432), client, 1, timer, unanswered, 700.0)]
    monkeypatch.setattr(looking, "tcp_ends", lambda *asked: [] if "peer" in asked else ends)
    assert whereabouts(5432, [client])[client] == Whereabouts(fate, 700.0)  # type: ignore[arg-type]


UNKNOWN = Whereabouts(None, 800.0)


def session(number: int, age_s: float, in_state_s: float, client: Whereabouts | None = UNKNOWN) -> Session:
    return Session(number, "web@192.0.2.7", is_idle=True, in_state_s=in_state_s, age_s=age_s, is_by_tcp=True,
                   client=client)  # fmt: skip


POOL = [session(number, 9000.0 + number, 720.0 + number) for number in range(20)]
ANEW = [session(99, 600.0, 0.1, Whereabouts(None, 0.1))]


def test_a_client_that_began_anew_left_its_sessions_behind() -> None:
    assert {one.pid for one in held._silent([*POOL, *ANEW])} == set(range(20))
    assert {one.pid for one in held._silent([*(session(n, 9000.0, 720.0, None) for n in range(20)), *ANEW])} == {
        *range(20)
    }  # seen from another host


@pytest.mark.parametrize(
    "sessions",
    [
        POOL,  # a pool that rests
        [*POOL, session(99, 10_000.0, 0.1)],  # who works is older
        [*POOL, session(99, 800.0, 0.1)],  # who is new came while the others were at work
        [*POOL[:4], *ANEW],  # too few for a pool
        [*POOL, session(98, 9500.0, 730.0, Whereabouts(None, 60.0)), *ANEW],  # one has answered a keepalive since
        [*POOL, session(98, 9500.0, 730.0, Whereabouts("there", 800.0)), *ANEW],
        [session(n, 3000.0 - 10 * n, 2999.0 - 10 * n) for n in range(100)],  # opened one by one, never given back
        [session(n, 9000.0, 50.0) for n in range(20)] + [session(99, 40.0, 0.1)],  # for a moment
    ],
)  # fmt: skip
def test_what_is_no_such_sign(sessions: list[Session]) -> None:
    assert [*held._silent(sessions)] == []


def test_what_is_silent_by_its_socket_is_told_once() -> None:
    silent = [session(n, 9000.0, 720.0, Whereabouts("silent", 800.0)) for n in range(3)]
    assert [one.pid for one in held._silent([*silent, *ANEW])] == [0, 1, 2]
