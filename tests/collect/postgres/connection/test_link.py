import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from doctord.collect.core.link import Away
from doctord.collect.core.notices import Notices
from doctord.collect.postgres.connection.connect import Target
from doctord.collect.postgres.connection.link import Link, brief, hint_for, is_refused
from doctord.collect.postgres.sessions import SessionCollector
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.errors import UserError
from postgres_samples import link_to, rows_of, until
from servers import PostgresServer, running_postgres

ASKS_FOR_IT = "local all postgres trust\nlocal all all scram-sha-256\n"


@pytest.fixture(scope="module")
def guarded() -> Iterator[PostgresServer]:
    """A server on which `doctord` needs a password."""
    with running_postgres(hba=ASKS_FOR_IT) as server:
        server.execute("CREATE ROLE doctord LOGIN PASSWORD 'open sesame'")
        yield server


def not_measured(dsn: str) -> dict[str, Any]:
    with closing(SessionCollector(link_to(dsn))) as collector:
        found = rows_of("event", collector.sample())
        assert rows_of("event", collector.sample()) == [], "it is said once"
    [event] = [event for event in found if event["kind"] == "not measured"]
    assert {event["kind"] for event in found} <= {"not measured", "refused"}
    return event


@pytest.mark.server
def test_a_wrong_password_is_said_with_a_hint_and_without_the_password(guarded: PostgresServer) -> None:
    event = not_measured(guarded.dsn("doctord", password="hunter2"))
    assert "password authentication failed" in event["text"]
    assert ".pgpass" in event["hint"]
    assert "hunter2" not in str(event)


@pytest.mark.server
def test_the_right_password_lets_in(guarded: PostgresServer) -> None:
    link = link_to(guarded.dsn("doctord", password="open sesame"))
    with closing(link):
        assert link.open()
        assert not link.open()
        assert link.query("SELECT current_user AS me") == [{"me": "doctord"}]


@pytest.mark.server
@pytest.mark.parametrize(
    ("options", "text", "hint"),
    [
        ({"user": "nobody_here"}, 'role "nobody_here" does not exist', "GRANT pg_monitor"),
        ({"user": "postgres", "dbname": "nowhere"}, 'database "nowhere" does not exist', "PGDATABASE"),
        ({"user": "postgres", "port": "1"}, "No such file", "--dsn"),
    ],
)
def test_what_cannot_be_reached_is_said_with_a_hint(
    postgres_server: Callable[..., PostgresServer], options: dict[str, str], text: str, hint: str
) -> None:
    event = not_measured(postgres_server().dsn(**options))
    assert text in event["text"]
    assert hint in event["hint"]


@pytest.mark.server
def test_why_a_login_is_refused_is_told_apart(postgres_server: Callable[..., PostgresServer]) -> None:
    hba = "local all rejected reject\nlocal all postgres,sealed,late trust\n"
    server = postgres_server(settings={"max_connections": 4, "superuser_reserved_connections": 1}, hba=hba)
    server.execute(
        *("CREATE ROLE rejected LOGIN", "CREATE ROLE sealed NOLOGIN", "CREATE ROLE late LOGIN"),
        *("CREATE DATABASE closed ALLOW_CONNECTIONS false", "CREATE DATABASE shut"),
        "REVOKE CONNECT ON DATABASE shut FROM public",
    )
    for options, words in (
        ({"user": "rejected"}, ["pg_hba.conf"]),
        ({"user": "sealed"}, ["LOGIN"]),
        ({"user": "nobody_here"}, ["pg_hba.conf"]),
        ({"user": "postgres", "dbname": "closed"}, ["ALLOW_CONNECTIONS"]),
        ({"user": "late", "dbname": "shut"}, ["GRANT CONNECT"]),
        ({"user": "postgres", "sslmode": "hunter2"}, []),
    ):
        event = not_measured(server.dsn(**options))
        assert all(word in (event["hint"] or "") for word in words), event
        assert "PGDATABASE" not in (event["hint"] or "") or options.get("dbname") == "closed"
        assert "hunter2" not in str(event)
    with ExitStack() as taken:
        for _ in range(3):
            taken.enter_context(server.connect())
        assert "connections are taken" in not_measured(server.dsn("late"))["hint"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("FATAL: the database system is starting up", "starting"),
        ("FATAL: the database system is in recovery mode", "recovers"),
        ("FATAL: the database system is shutting down", "stopping"),
        ("FATAL: the database system is not accepting connections DETAIL: Hot standby mode is disabled.", "standby"),
        ("FATAL: the database system is not yet accepting connections", "starting"),
        ('FATAL: database "shop" does not exist', "PGDATABASE"),
        ('FATAL: database "password" does not exist', "PGDATABASE"),
        ('FATAL: could not open shared memory segment "/PostgreSQL.1": No such file or directory', "RemoveIPC"),
        ("FATAL: could not fork new process for connection: Resource temporarily unavailable", "pids.max"),
        ("FATAL: could not open file: No such file or directory", "the server is there"),
    ],
)
def test_a_state_of_the_server_is_no_missing_database(text: str, word: str) -> None:
    assert word in str(hint_for(text))


def test_a_server_in_another_language_turns_clients_away_as_well() -> None:
    text = brief('connection to server on socket "/x" failed: FATAL:  tut mir leid, schon zu viele Verbindungen')
    assert is_refused(text)
    assert "connections are taken" in str(hint_for(text))
    assert not is_refused(brief("FATAL: Passwort-Authentifizierung für Benutzer »x« fehlgeschlagen"))


@pytest.mark.server
def test_the_limits_of_a_connection(server: PostgresServer) -> None:
    with closing(link_to(server.dsn("doctord"))) as link:
        link.open()
        shown = {
            name: link.query(f"SHOW {name}")[0][name]
            for name in ("application_name", "statement_timeout", "lock_timeout", "default_transaction_read_only")
        }
    assert shown == {
        "application_name": "doctord",
        "statement_timeout": "2s",
        "lock_timeout": "500ms",
        "default_transaction_read_only": "on",
    }


@pytest.mark.server
@pytest.mark.parametrize("granted", [False, True])
def test_our_own_statements_are_not_logged_where_that_is_granted(
    postgres_server: Callable[..., PostgresServer], *, granted: bool
) -> None:
    server = postgres_server(settings={"log_statement": "all", "log_min_duration_statement": "0"})
    server.execute("CREATE ROLE doctord LOGIN")
    if granted:
        names = "log_statement, log_min_duration_statement, log_min_duration_sample, log_duration"
        server.execute(f"GRANT SET ON PARAMETER {names} TO doctord")
    for user, is_logged in (("postgres", False), ("doctord", not granted)):
        with closing(link_to(server.dsn(user))) as link:
            link.open()
            link.query(f"SELECT 'told by {user}'")
        assert (f"told by {user}" in server.log) is is_logged


@pytest.mark.server
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_restart_is_an_event_and_sampling_goes_on(
    postgres_server: Callable[..., PostgresServer], how: signal.Signals
) -> None:
    server = postgres_server()
    with closing(SessionCollector(link_to(server.dsn()))) as collector:
        assert rows_of("event", collector.sample()) == []
        server.stop(how)
        lost = until(collector, "event", lambda row: row["kind"] == "gap")
        assert "the connection broke" in lost["text"]
        server.start()
        restart = until(collector, "event", lambda row: row["kind"] == "restart", seconds=20)
        assert restart["db"] == f"postgresql:{server.port}"
        until(collector, "wait", lambda row: row["event"] == "CPU")


@pytest.mark.server
def test_a_server_that_hangs_costs_seconds_and_is_seen_again(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    assert server.process is not None
    with closing(SessionCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        stopped = [*server.backends(), server.process.pid]
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            lost = rows_of("event", collector.sample())
            assert time.monotonic() - began < 20
            assert all("no answer" in row["text"] for row in lost)
            time.sleep(1)
            began = time.monotonic()
            refused = rows_of("event", collector.sample())
            assert time.monotonic() - began < 20
            assert {row["kind"] for row in refused} == {"no answer", "not measured"}
            assert all("no answer to a login" in row["text"] for row in refused)
            silent = [row for row in lost + refused if row["kind"] == "no answer"]
            assert 6 < sum(row["interval_s"] for row in silent) < 30, "the pause between counts too"
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        back = until(collector, "event", lambda row: "answers again" in row["text"])
        assert back["kind"] == "gap"


@pytest.mark.server
def test_without_pg_monitor_it_says_so_and_goes_on(server: PostgresServer) -> None:
    with closing(StatisticsCollector(link_to(server.dsn("stranger")))) as collector:
        batches = collector.sample()
    said = {event["subject"]: event for event in rows_of("event", batches)}
    assert said["sessions of others"]["hint"] == 'GRANT pg_monitor TO "stranger"'
    if server.version >= 14:
        assert "not granted" in said["statements of sessions"]["text"], "nobody knows whether query ids are computed"
    assert rows_of("setting", batches)
    assert rows_of("statistic", batches)


@pytest.mark.server
@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become the server's own user")
def test_root_comes_in_as_the_servers_own_user(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(hba="local all all peer\nlocal all all trust\n")
    parameters = {"host": str(server.socket_dir), "port": server.port, "dbname": "postgres"}
    owner = server.datadir.stat().st_uid
    with closing(Link(Target("postgresql", parameters, owner), Notices())) as link:
        link.open()
        assert link.query("SELECT current_user AS me") == [{"me": "postgres"}]
    assert os.geteuid() == 0
    assert server.process is not None


@pytest.mark.server
def test_the_postmaster_is_known_from_its_socket(server: PostgresServer) -> None:
    with closing(link_to(server.dsn())) as link:
        link.open()
        assert server.process is not None
        assert link.server_pid() == server.process.pid


def test_a_bad_dsn_is_refused_without_repeating_it() -> None:
    with pytest.raises(UserError, match="no connection string") as refused:
        Target.from_dsn("host=a passwordhunter2")
    assert "hunter2" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgres://ann:hunt@er2@db1/shop",
        "postgres://ann:hunt/er2@db1/shop",
        "postgres://ann:h@hunt/er2@db1",
        "postgres://ann:hunter2/shop",
        "postgresql://ann:hunter2",
        "postgres://ann:hunter%zz@db1",
        "postgres:/ann:hunter2@db1",
        "host=db1 port=hunter2",
        "host=db1 password=x hunter2",
    ],
)
def test_no_piece_of_a_password_is_taken_for_something_else(dsn: str) -> None:
    with pytest.raises(UserError) as refused:
        Target.from_dsn(dsn)
    assert "hunt" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    "dsn", ["postgres://h/db?application_name=a@b", "postgres://a:b%40c@h/db?application_name=a@b"]
)
def test_an_at_elsewhere_is_allowed(dsn: str) -> None:
    assert Target.from_dsn(dsn).db == "postgresql:h:5432"


def test_a_target_does_not_show_its_password() -> None:
    assert "hunter2" not in repr(Target.from_dsn("host=a password=hunter2"))


@pytest.mark.parametrize(
    ("dsn", "db"),
    [
        ("host=/tmp port=5433", "postgresql:5433"),
        ("postgresql://127.0.0.1:5434/x", "postgresql:5434"),
        ("host=db1 port=5435", "postgresql:db1:5435"),
    ],
)
def test_the_name_of_a_server(dsn: str, db: str) -> None:
    assert Target.from_dsn(dsn).db == db


def test_nothing_is_asked_of_a_server_that_is_away() -> None:
    with closing(link_to("host=/nowhere")) as link, pytest.raises(Away):
        link.query("SELECT 1")


@pytest.mark.server
@pytest.mark.parametrize("version", [13, 15, 18])
def test_a_crash_of_another_process_is_told_apart_from_a_restart(
    postgres_server: Callable[..., PostgresServer], version: int
) -> None:
    server = postgres_server(version)
    with closing(SessionCollector(link_to(server.dsn()))) as collector:
        assert rows_of("event", collector.sample()) == []
        time.sleep(1.2)  # processes that begin within a second of one another are of one start
        with server.connect() as victim:
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            until(collector, "event", lambda row: row["kind"] == "gap")
        crash = until(collector, "event", lambda row: row["kind"] == "crash", seconds=20)
    assert crash["db"] == crash["subject"] == f"postgresql:{server.port}"


@pytest.mark.server
def test_a_server_that_lets_nobody_in_is_told_until_it_does(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server(settings={"max_connections": 4, "superuser_reserved_connections": 1})
    server.execute("CREATE ROLE late LOGIN")
    with ExitStack() as taken, closing(SessionCollector(link_to(server.dsn("late")))) as collector:
        for _ in range(3):
            taken.enter_context(server.connect())
        refused = until(collector, "event", lambda row: row["kind"] == "refused")
        assert "connection" in refused["text"]
        taken.close()
        until(collector, "wait", lambda row: row["event"] == "CPU", seconds=20)


@pytest.mark.server
def test_where_nobody_listens_any_more_it_is_lost_service(postgres_server: Callable[..., PostgresServer]) -> None:
    server = postgres_server()
    with closing(SessionCollector(link_to(server.dsn()))) as collector:
        collector.sample()
        server.stop()
        refused = until(collector, "event", lambda row: row["kind"] == "refused")
    assert refused["interval_s"] > 0.5
