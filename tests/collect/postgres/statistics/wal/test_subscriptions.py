"""Subscriptions of real servers: what catalogues and workers tell of them to who may not see their passwords."""

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from doctord.collect.postgres.statistics.wal.replication import Replication
from doctord.collect.postgres.statistics.wal.subscriptions import Subscriptions
from postgres_samples import figures, link_to, rows_of
from servers import PostgresServer

pytestmark = pytest.mark.server

ENTITY = "reader.orders"
PUBLISHED = (
    "CREATE TABLE account (id int, balance int)",
    "CREATE TABLE payment (id int PRIMARY KEY, amount int)",
    "CREATE TABLE late (id int PRIMARY KEY)",
)
MADE = (
    "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "CREATE TRIGGER audit AFTER INSERT ON payment FOR EACH ROW EXECUTE FUNCTION nothing()",
    "ALTER TABLE payment ENABLE ALWAYS TRIGGER audit",
)


@pytest.fixture
def subscribed(server: PostgresServer) -> Iterator[PostgresServer]:
    """A database that follows another one of the same server; its slot is made beforehand, or it waits for itself."""
    server.execute("CREATE DATABASE writer", "CREATE DATABASE reader")
    server.execute(
        *PUBLISHED, "ALTER TABLE account REPLICA IDENTITY FULL",
        "INSERT INTO account SELECT id, 0 FROM generate_series(1, 1000) AS id",
        "CREATE PUBLICATION orders FOR ALL TABLES",
        "SELECT pg_create_logical_replication_slot('orders', 'pgoutput')",
        dbname="writer",
    )  # fmt: skip
    dsn = server.dsn(dbname="writer")
    made = f"CREATE SUBSCRIPTION orders CONNECTION '{dsn}' PUBLICATION orders WITH (create_slot = false)"
    server.execute(*PUBLISHED, *MADE, made, dbname="reader")
    try:
        yield server
    finally:
        server.execute("ALTER SUBSCRIPTION orders DISABLE", "ALTER SUBSCRIPTION orders SET (slot_name = NONE)",
                       "DROP SUBSCRIPTION orders", dbname="reader")  # fmt: skip
        server.execute("DROP DATABASE reader WITH (FORCE)", "SELECT pg_sleep(0.2)")
        server.execute("SELECT pg_terminate_backend(active_pid), pg_sleep(0.2) FROM pg_replication_slots "
                       "WHERE slot_name = 'orders' AND active",
                       "SELECT pg_drop_replication_slot('orders')", "DROP DATABASE writer WITH (FORCE)")  # fmt: skip


def until_copied(server: PostgresServer) -> None:
    deadline = time.monotonic() + 60
    while server.execute("SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'", dbname="reader") != [(0,)]:
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_subscription_that_follows(subscribed: PostgresServer) -> None:
    until_copied(subscribed)
    subscribed.execute("UPDATE account SET balance = 1 WHERE id = 7", dbname="writer")
    with closing(link_to(subscribed.dsn("doctord"))) as link, closing(Subscriptions()) as subscriptions:
        link.open()
        replication = figures(Replication().read(link), "orders")
        batches = subscriptions.read(link)
        assert not rows_of("event", link.notices.batches())
    assert replication["pg_stat_replication.is_logical"] == 1
    assert 0 <= replication["pg_stat_replication.reply_age_s"] < 60
    seen = figures(batches, ENTITY)
    assert seen["pg_subscription.enabled"] == seen["pg_subscription.has_slot"] == 1
    assert seen["pg_stat_subscription.apply_workers"] == 1
    assert seen["pg_stat_subscription.apply_pid"] in subscribed.backends()
    assert -1 < seen["pg_stat_subscription.behind_s"] < 10
    assert seen["pg_subscription_rel.tables_not_ready"] == 0
    if subscribed.version >= 14:
        [setting] = rows_of("setting", batches)
        assert (setting["name"], setting["value"]) == (f"{ENTITY} synchronous_commit", "off")
    assert figures(batches, "reader.public.account") == {"pg_subscription_rel.without_key": 1}
    assert figures(batches, "reader.public.payment") == {"pg_subscription_rel.triggers": 1}
    assert figures(batches, "reader.public.late") == {}


def test_a_subscription_that_somebody_disabled(subscribed: PostgresServer) -> None:
    until_copied(subscribed)
    subscribed.execute("ALTER SUBSCRIPTION orders DISABLE", dbname="reader")
    with closing(link_to(subscribed.dsn("doctord"))) as link, closing(Subscriptions()) as subscriptions:
        link.open()
        deadline = time.monotonic() + 30
        while figures(subscriptions.read(link), ENTITY)["pg_stat_subscription.apply_workers"]:
            assert time.monotonic() < deadline
        seen = figures(subscriptions.read(link), ENTITY)
    assert seen["pg_subscription.enabled"] == 0
    assert "pg_stat_subscription.behind_s" not in seen
