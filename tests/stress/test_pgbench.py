"""Steps of load on a real server, and the ground on which they are given."""

from collections.abc import Iterator

import psycopg
import pytest

from doctord.errors import UserError
from doctord.stress import pgbench
from doctord.stress.ground import DATABASE, Ground
from doctord.stress.kits import blocks, select
from servers import PACKAGED, PostgresServer, running_postgres

MIB = 1 << 20


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_postgres(PACKAGED) as server:
        yield server


@pytest.fixture
def ground(server: PostgresServer) -> Iterator[Ground]:
    ground = Ground(server.dsn())
    yield ground
    ground.close()


def databases(server: PostgresServer) -> set[str]:
    return {name for (name,) in server.execute("SELECT datname FROM pg_database")}


@pytest.mark.server
def test_a_step_is_timed_from_when_each_transaction_was_due(server: PostgresServer, ground: Ground) -> None:
    kit = blocks(2 * MIB, 20)
    with ground.laid(kit, pgbench.build):
        given = pgbench.step(ground.dsn, kit, seconds=3, clients=2, rate_per_s=50, seed=1)
        with psycopg.connect(ground.dsn) as session:
            told = session.execute("SELECT count(*), pg_relation_size('stress_blocks') FROM stress_blocks").fetchone()
    assert told
    assert (told[0], told[1] >= 256 * 8192) == (256, True)
    assert 90 <= given.latencies.number <= 210  # 150 are due
    assert (given.failed, given.last_words, given.keeps_up) == (0, "", True)
    assert given.late_s is not None
    assert DATABASE not in databases(server)


@pytest.mark.server
def test_a_server_that_does_not_keep_up(ground: Ground) -> None:
    kit = select(1)._replace(builtin="", scripts={"sleep": ("SELECT pg_sleep(0.2);\n", 1)})
    with ground.laid(kit, pgbench.build):
        given = pgbench.step(ground.dsn, kit, seconds=4, clients=1, rate_per_s=50, seed=1)
    assert not given.keeps_up
    assert (given.late_s or 0) > 1
    # The latency is what a user waited, not how long the statement took.
    assert (given.latencies.quantile_us(0.95) or 0) > 1e6


@pytest.mark.server
def test_a_load_whose_transactions_fail(ground: Ground) -> None:
    kit = select(1)._replace(builtin="", scripts={"wrong": ("SELECT 1/0;\n", 1)})
    with ground.laid(kit, pgbench.build):
        given = pgbench.step(ground.dsn, kit, seconds=1, clients=1, rate_per_s=5, seed=1)
    assert given.last_words
    assert not given.keeps_up


@pytest.mark.server
def test_what_an_earlier_run_left_goes_first(server: PostgresServer, ground: Ground) -> None:
    server.execute(f"CREATE DATABASE {DATABASE}")
    with ground.laid(blocks(MIB), pgbench.build):
        assert DATABASE in databases(server)
    assert DATABASE not in databases(server)


@pytest.mark.server
def test_a_server_of_others_is_left_alone(server: PostgresServer, ground: Ground) -> None:
    ground.check(may_disturb=False)
    with psycopg.connect(server.dsn(), application_name="payroll"):
        with pytest.raises(UserError, match="1 sessions of others are on the server: payroll"):
            ground.check(may_disturb=False)
        ground.check(may_disturb=True)


@pytest.mark.server
def test_a_server_under_another_load_test_is_left_alone(ground: Ground) -> None:
    with (
        ground.laid(blocks(MIB), pgbench.build),
        psycopg.connect(ground.dsn),
        pytest.raises(UserError, match="another load test"),
    ):
        ground.check(may_disturb=True)
    ground.check(may_disturb=True)


def test_a_password_is_on_no_command_line() -> None:
    place, environment = pgbench._without_password("host=db1 user=app password=s3cret dbname=x")
    assert "s3cret" not in place
    assert environment["PGPASSWORD"] == "s3cret"


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(UserError, match="cannot be asked") as refused:
        Ground("host=127.0.0.1 port=1 user=nobody password=s3cret")
    assert "s3cret" not in str(refused.value)
