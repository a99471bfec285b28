"""The oldest relations of old databases, and whose session a temporary one is, in a real server of each version."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics import freezing
from doctord.collect.postgres.statistics.freezing import Freezing, numbered
from postgres_samples import link_to, rows_of
from servers import PostgresServer


@pytest.mark.parametrize(
    ("listed", "known", "found"),
    [
        ([11, 12, 13], {}, {}),
        ([11, 12, 13], {13: 3}, {1: 11, 2: 12, 3: 13}),
        ([11, 12, 13], {13: 4}, {4: 13}),
        ([11, 12, 13, 14, 15], {11: 2, 14: 5}, {2: 11, 3: 12, 4: 13, 5: 14}),
    ],
    ids=["nobody is in a transaction", "no gap", "a gap somewhere before", "no gap between two"],
)
def test_numbers_of_sessions_as_far_as_they_follow(
    listed: list[int], known: dict[int, int], found: dict[int, int]
) -> None:
    assert numbered(listed, known) == found


@pytest.fixture
def link(server: PostgresServer) -> Iterator[Link]:
    with closing(link_to(server.dsn("doctord"))) as opened:
        opened.open()
        yield opened


@pytest.fixture
def oldest_first(server: PostgresServer) -> Iterator[psycopg.Connection[Any]]:
    """A session that made a temporary table in a database in which nothing else is so old."""
    server.execute("CREATE DATABASE pool")
    with psycopg.connect(server.dsn(dbname="pool", application_name="reports"), autocommit=True) as session:
        session.execute("CREATE TEMP TABLE scratch (id int)")
        with psycopg.connect(server.dsn()) as in_transaction:  # before 16 numbers follow from those of such sessions
            in_transaction.execute("SELECT 1")
            yield session
    server.execute("DROP DATABASE pool WITH (FORCE)")


def told(link: Link, table: str, freeze: Freezing | None = None) -> list[dict[str, Any]]:
    return rows_of(table, (freeze or Freezing()).read(link))


@pytest.mark.server
def test_nothing_is_asked_of_young_databases(link: Link) -> None:
    assert told(link, "setting") == []
    assert told(link, "statistic") == []


@pytest.mark.server
def test_transaction_ids_a_second(server: PostgresServer, link: Link) -> None:
    freeze = Freezing()
    freeze.read(link)
    with psycopg.connect(server.dsn(), autocommit=True) as session:
        for _ in range(30):
            session.execute("SELECT pg_current_xact_id()")
    time.sleep(0.1)
    [row] = told(link, "statistic", freeze)
    assert (row["name"], row["kind"], row["unit"]) == (freezing.XMAX, "rate", "per_s")
    assert row["value"] * row["interval_s"] >= 29.9


@pytest.mark.server
def test_the_session_of_a_temporary_table(
    link: Link, oldest_first: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(freezing, "OLD", -1)
    monkeypatch.setattr(freezing, "_OLD", freezing._OLD.replace("LIMIT 3", ""))
    these = "AND (n.nspname LIKE 'pg_temp%' OR relname = 'account')\nORDER"
    monkeypatch.setattr(freezing, "_RELATIONS", freezing._RELATIONS.replace("\nORDER", these))
    schema = oldest_first.execute("SELECT nspname FROM pg_namespace WHERE oid = pg_my_temp_schema()").fetchone()
    assert schema
    freeze = Freezing()
    batches = freeze.read(link)
    kinds = {row["name"]: row["value"] for row in rows_of("setting", batches)}
    owner = oldest_first.info.backend_pid
    assert kinds[f"pool.{schema[0]}.scratch"].startswith("temporary table, oid ")
    assert kinds[f"pool.{schema[0]}.scratch"].endswith(f", of session {owner} (postgres reports)")
    assert kinds["postgres.public.account"].startswith("table, oid ")
    ages = {row["entity"]: row["value"] for row in rows_of("statistic", batches) if "frozenxid" in row["name"]}
    assert ages.keys() == kinds.keys()
    assert told(link, "setting", freeze) == []  # nothing is new


@pytest.mark.server
def test_databases_that_let_nobody_in_are_said_once(link: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "OLD", -1)
    monkeypatch.setattr(freezing, "_OLD", freezing._OLD.replace("LIMIT 3", ""))
    Freezing().read(link)
    Freezing().read(link)
    events = rows_of("event", link.notices.batches())
    [row] = [row for row in events if "template0" in row["subject"]]
    assert row["subject"] == "oldest relations of template0"
    assert row["hint"] == 'ALTER DATABASE "template0" ALLOW_CONNECTIONS true'
