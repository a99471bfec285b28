"""Logins as a client makes them, timed part by part, at real servers."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from doctord.collect.core.probe import Login
from doctord.collect.postgres import logins
from doctord.collect.postgres.connect import Target
from servers import PostgresServer, running_postgres

LOCAL = ["first answer", "authentication", "first query"]
NETWORK = ["TCP connect", *LOCAL]


def of(dsn: str, *, is_found: bool = False) -> list[Login]:
    return list(logins.of(Target.from_dsn(dsn), is_found=is_found))


def parts(login: Login, patience_s: float = 5.0) -> dict[str, float]:
    return {part.name: part.seconds for part in login.parts(time.monotonic() + patience_s)}


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.server
def test_a_login_has_its_parts(server: PostgresServer) -> None:
    [login] = of(server.dsn("doctord"))
    assert login.subject == "login local"
    assert list(parts(login)) == LOCAL


@pytest.mark.server
def test_over_the_network_it_begins_with_tcp(server: PostgresServer) -> None:
    [login] = of(f"host=127.0.0.1 port={server.port} user=postgres dbname=postgres")
    assert login.subject == "login network"
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
    assert list(parts(login))[:2] == ["TCP connect", "first answer"]
    tried = guarded.log.count("rejects connection") - before
    for _ in range(3):
        assert list(parts(login)) == ["TCP connect", "first answer"]
    assert guarded.log.count("rejects connection") - before == tried


@pytest.mark.server
def test_it_calls_itself_a_probe_and_leaves_again(guarded: PostgresServer) -> None:
    [login] = of(guarded.dsn("postgres"))
    seen = []
    for part in login.parts(time.monotonic() + 5):
        seen.append(part.name)
        if part.name == "authentication":
            rows = guarded.execute(
                "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE 'doctord%'"
            )
            assert rows == [("doctord-probe",)]
    assert seen == LOCAL


@pytest.mark.server
def test_a_server_that_hangs_is_given_up(guarded: PostgresServer) -> None:
    [login] = of(guarded.dsn("postgres"))
    assert guarded.process
    with stopped(guarded.process.pid):
        [part] = login.parts(time.monotonic() + 0.5)
    assert (part.name, part.is_over) == ("first answer", False)
    assert 0.4 < part.seconds < 5


@pytest.mark.server
def test_a_server_that_was_found_is_tried_through_its_network_address_too(guarded: PostgresServer) -> None:
    own, network = of(guarded.dsn("postgres"), is_found=True)
    assert (own.subject, network.subject) == ("login local", "login network")
    assert parts(network) == {} or list(parts(network)) == ["TCP connect", "first answer"]


def test_where_nobody_listens_there_is_nothing_to_time() -> None:
    [login] = of("host=127.0.0.1 port=1 user=nobody")
    assert parts(login) == {}
    assert parts(login) == {}  # by the first answer
