"""Logins as a client makes them, timed part by part, at real servers."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from doctord.collect.core.notices import Notices
from doctord.collect.core.probe import Login
from doctord.collect.postgres import logins
from doctord.collect.postgres.connection.connect import Target
from postgres_samples import rows_of
from servers import PostgresServer, running_postgres

ALL = ("first answer", "authentication", "first query")
LOCAL = [f"login local: {part}" for part in ALL]
NETWORK = [f"login network: {part}" for part in ("TCP connect", *ALL)]


def of(dsn: str, *, is_found: bool = False) -> list[Login]:
    return list(logins.of(Target.from_dsn(dsn), Notices(), is_found=is_found))


def parts(login: Login, patience_s: float = 5.0) -> dict[str, float]:
    return {part.subject: part.seconds for part in login.parts(time.monotonic() + patience_s)}


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.server
def test_a_login_has_its_parts(server: PostgresServer) -> None:
    login, _ = of(server.dsn("doctord"))
    assert list(parts(login)) == LOCAL


@pytest.mark.server
def test_over_the_network_it_begins_with_tcp(server: PostgresServer) -> None:
    [login] = of(f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres")
    assert list(parts(login)) == NETWORK


@pytest.mark.server
def test_of_several_hosts_it_is_the_one_that_answers(server: PostgresServer) -> None:
    [login] = of(f"host=127.0.0.1,127.0.0.1 port=1,{server.port} user=postgres dbname=postgres")
    assert list(parts(login)) == NETWORK


@pytest.mark.server
def test_what_libpq_takes_from_its_environment_counts(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(server.port))
    monkeypatch.setenv("PGUSER", "postgres")
    login, _ = of("")
    assert list(parts(login)) == NETWORK


@pytest.fixture(scope="module")
def guarded() -> Iterator[PostgresServer]:
    """A server that lets `stranger` in with a password only, and logs who fails."""
    hba = "local all stranger scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 reject\n"
    with running_postgres(hba=hba) as started:
        started.execute("CREATE ROLE stranger LOGIN PASSWORD 'open sesame'")
        yield started


@pytest.mark.server
def test_a_refused_login_still_times_the_first_answer_and_leaves_one_line(guarded: PostgresServer) -> None:
    [login] = of(f"host=127.0.0.1 port={guarded.port} user=stranger dbname=postgres")
    before = guarded.log.count("rejects connection")
    assert list(parts(login)) == NETWORK[:2]
    tried = guarded.log.count("rejects connection") - before
    for _ in range(3):
        assert list(parts(login)) == NETWORK[:2]
    assert guarded.log.count("rejects connection") - before == tried


@pytest.mark.server
def test_it_calls_itself_a_probe_and_leaves_again(guarded: PostgresServer) -> None:
    login, _ = of(guarded.dsn("postgres"))
    seen = []
    for part in login.parts(time.monotonic() + 5):
        seen.append(part.subject)
        if part.subject.endswith("authentication"):
            rows = guarded.execute(
                "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'doctord%'"
            )
            assert rows == [("doctord-probe",)]
    assert seen == LOCAL


@pytest.mark.server
def test_a_server_that_hangs_is_given_up(guarded: PostgresServer) -> None:
    login, _ = of(guarded.dsn("postgres"))
    assert guarded.process
    with stopped(guarded.process.pid):
        [part] = login.parts(time.monotonic() + 0.5)
    assert (part.subject, part.is_over) == (LOCAL[0], False)
    assert 0.4 < part.seconds < 5


@pytest.mark.server
def test_one_that_was_found_is_tried_through_the_network_too(
    guarded: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logins, "_own_address", lambda: "127.0.0.1")
    own, network = of(guarded.dsn("postgres"), is_found=True)
    assert list(parts(own)) == LOCAL
    assert list(parts(network)) == NETWORK[:2]


@pytest.mark.parametrize(
    "dsn", ["host=127.0.0.1 port=1 user=nobody", "host=/nonexistent user=nobody", "host=nobody.invalid user=nobody"]
)
def test_where_nobody_listens_there_is_nothing_to_time(dsn: str) -> None:
    for login in of(dsn):
        assert parts(login) == {}
        assert parts(login) == {}


@pytest.mark.server
def test_one_named_by_its_socket_is_tried_through_the_network_once_it_said_where(server: PostgresServer) -> None:
    own, network = of(server.dsn("doctord"))
    assert parts(network) == {}
    assert list(parts(own)) == LOCAL
    assert list(parts(network)) == NETWORK[:2]


@pytest.mark.server
def test_one_that_listens_at_its_socket_alone_is_not() -> None:
    with running_postgres(settings={"listen_addresses": ""}) as server:
        own, network = of(server.dsn("postgres"))
        assert list(parts(own)) == LOCAL
        assert parts(network) == {}


@pytest.mark.server
def test_a_server_that_was_started_again_is_timed_again() -> None:
    with running_postgres() as server:
        login, _ = of(server.dsn("postgres"))
        assert list(parts(login)) == LOCAL
        server.stop()
        assert parts(login) == {}
        server.start()
        assert list(parts(login)) == LOCAL


@pytest.mark.server
def test_a_login_that_finds_no_connection_left_is_noted_each_time() -> None:
    with running_postgres(settings={"max_connections": 4, "superuser_reserved_connections": 1}) as server:
        server.execute("CREATE ROLE late LOGIN")
        notices = Notices()
        login, _ = logins.of(Target.from_dsn(server.dsn("late")), notices, is_found=False)
        with ExitStack() as taken:
            for _ in range(3):
                taken.enter_context(server.connect())
            for _ in range(2):
                assert list(parts(login)) == LOCAL[:1]
        events = rows_of("event", notices.batches())
        until = time.monotonic() + 30
        while list(parts(login)) != LOCAL:  # their processes end a moment after the connections
            assert time.monotonic() < until
    assert [event["kind"] for event in events] == ["refused", "refused"]
    assert all(event["interval_s"] > 0 for event in events)
