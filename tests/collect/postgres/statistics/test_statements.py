"""What pg_stat_statements tells: found wherever it is, without constants, and what else it counts."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.collect.postgres.statistics.objects.relations import Relations
from doctord.collect.postgres.statistics.statements import Statements
from postgres_samples import SECRET, figures, link_to, rows_of, settled
from servers import PostgresServer

pytestmark = pytest.mark.server


@pytest.fixture
def link(server: PostgresServer) -> Iterator[Link]:
    with closing(link_to(server.dsn("doctord"))) as opened:
        opened.open()
        yield opened


def test_statements_are_found_in_whichever_database_the_extension_is(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE elsewhere")
    with closing(link_to(server.dsn("doctord", dbname="elsewhere"))) as link, closing(Statements()) as statements:
        link.open()
        assert statements.read(link) == []
        server.execute("SELECT count(*) FROM account WHERE balance > 12345")
        found = rows_of("statement", statements.read(link))
    server.execute("DROP DATABASE elsewhere WITH (FORCE)")
    counted = next(row for row in found if "FROM account" in row["text"])
    assert counted["text"] == "SELECT count(*) FROM account WHERE balance > $1"
    assert counted["database"] == "postgres"
    assert counted["calls_per_s"] > 0
    assert counted["hit_blocks_per_s"] + counted["read_blocks_per_s"] > 0
    assert counted["cpu_s_per_s"] is None
    assert not [row for row in found if "pg_extension" in row["text"]], "our own statements are left out"


def test_an_extension_whose_place_somebody_may_take_is_not_asked_by_a_superuser(server: PostgresServer) -> None:
    """A schema's owner renames it, and makes one of that name with a function of his own."""
    server.execute("CREATE ROLE owner", "CREATE DATABASE theirs")
    server.execute("CREATE SCHEMA counting AUTHORIZATION owner", "CREATE EXTENSION pg_stat_statements SCHEMA counting",
                   dbname="theirs")  # fmt: skip
    server.execute("CREATE SCHEMA counting", "ALTER EXTENSION pg_stat_statements SET SCHEMA counting")
    try:
        with closing(link_to(server.dsn("postgres"))) as link, closing(Statements()) as statements:
            link.open()
            statements.read(link)
            place = statements.place
            assert place is not None
            assert place[0].database == "postgres"
            server.execute("ALTER SCHEMA counting OWNER TO owner")
            assert statements.read(link) == []
            (event,) = [row for row in rows_of("event", link.notices.batches()) if row["subject"] == "statements"]
            assert event["text"].startswith("owner, who is no superuser, may put something else")
    finally:
        server.execute("ALTER EXTENSION pg_stat_statements SET SCHEMA public", "DROP SCHEMA counting",
                       "DROP DATABASE theirs WITH (FORCE)", "DROP ROLE owner")  # fmt: skip


def test_who_runs_a_command_again_and_again_and_what_it_changes(server: PostgresServer, link: Link) -> None:
    grant = "GRANT SELECT ON account TO PUBLIC"
    with closing(Statements()) as statements, closing(Relations()) as relations:
        statements.read(link)
        relations.read(link)
        with server.connect() as client:  # what a session counted is told at its end at the latest
            for _ in range(20):
                client.execute(grant, prepare=False)  # a prepared command is counted once
        told, changed = statements.read(link), "postgres.pg_catalog.pg_class"
        batches = settled(
            relations.read,
            link,
            lambda batches: "pg_stat_sys_tables.n_tup_upd" in figures(batches, changed),
        )
    statement = next(row for row in rows_of("statement", told) if row["text"] == grant)
    calls = figures(told, f"{statement['statement_id']} postgres")["pg_stat_statements.role_calls"]
    assert calls >= 20
    assert figures(batches, changed)["pg_stat_sys_tables.n_tup_upd"] > 0


def test_compiling_and_planning_are_told_where_the_extension_counts_them(server: PostgresServer, link: Link) -> None:
    compiled = "SELECT sum(balance + id) FROM account WHERE balance + id > 3"
    with closing(Statements()) as statements, server.connect() as client:
        statements.read(link)
        client.execute("SET jit = on; SET jit_above_cost = 0; SET pg_stat_statements.track_planning = on")
        client.execute(compiled)
        batches = statements.read(link)
    wholes = figures(batches)
    assert wholes["pg_stat_statements.total_plan_time"] > 0
    assert ("pg_stat_statements.jit_functions" in wholes) == (server.version >= 15)
    statement = next(row for row in rows_of("statement", batches) if "balance + id" in row["text"])
    own = figures(batches, statement["statement_id"])
    assert own["pg_stat_statements.total_plan_time"] > 0
    row = next(row for row in rows_of("statistic", batches) if row["name"].endswith("total_plan_time"))
    assert (row["unit"], row["kind"], row["component"]) == ("ms_per_s", "rate", "postgresql")
    if server.version >= 15 and link.query("SELECT pg_jit_available() AS there")[0]["there"]:
        assert own["pg_stat_statements.jit_functions"] > 0
        assert own["pg_stat_statements.jit_emission_time"] > 0


def test_a_statement_that_has_become_slower_brings_its_past(server: PostgresServer, link: Link) -> None:
    asked = "SELECT pg_sleep(%s) AS growing"
    with closing(Statements()) as statements, server.connect() as client:
        for _ in range(150):
            client.execute(asked, [0.0])
        statements.read(link)
        client.execute(asked, [0.02])
        batches = statements.read(link)
        (found,) = (row for row in rows_of("statement", batches) if "growing" in row["text"])
        past = figures(batches, found["statement_id"])
        assert past["pg_stat_statements.past_calls"] == 150
        assert past["pg_stat_statements.past_ms_per_call"] < 1
        assert past["pg_stat_statements.past_rows_per_call"] == 1
        client.execute(asked, [0.0])
        assert not figures(statements.read(link), found["statement_id"]), "as quick as ever"


def test_no_constant_of_a_statement_gets_out(server: PostgresServer) -> None:
    with closing(StatisticsCollector(link_to(server.dsn("doctord")))) as collector:
        batches = collector.sample()
        with server.connect() as client:
            client.execute("CREATE ROLE leaky")
            client.execute(f"ALTER ROLE leaky PASSWORD '{SECRET}'")
            client.execute(f"DO $$ BEGIN PERFORM '{SECRET}'; END $$")
            client.execute(f"SELECT '{SECRET}' /* {SECRET} */")
            client.execute(f"SELECT count(*) FROM account WHERE balance::text = '{SECRET}'")
            client.execute("DROP ROLE leaky")
        deadline = time.monotonic() + 60
        found: list[dict[str, Any]] = []
        while not found and time.monotonic() < deadline:
            time.sleep(0.5)
            batches += collector.sample()
            found = [row for row in rows_of("statement", batches) if "ALTER ROLE leaky" in (row["text"] or "")]
    assert [row["text"] for row in found] == ["ALTER ROLE leaky PASSWORD ?"]
    assert SECRET not in str([rows_of(batch.table, [batch]) for batch in batches])


def test_parallel_workers_that_plans_ask_for_are_told_of_each_statement(server: PostgresServer) -> None:
    if server.version < 18:
        pytest.skip("counted from version 18 on")
    asked = "SELECT count(*) FROM account"
    set_so = ("SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0", "SET min_parallel_table_scan_size = 0",
              "SET max_parallel_workers = 0")  # fmt: skip
    with closing(link_to(server.dsn("doctord"))) as link, closing(Statements()) as statements:
        link.open()
        statements.read(link)
        server.execute(*set_so, asked)
        told = rows_of("statistic", statements.read(link))
    planned = [row for row in told if row["name"] == "pg_stat_statements.parallel_workers_to_launch" and row["entity"]]
    assert len(planned) == 1
    assert not [row for row in told if row["name"].endswith("workers_launched") and row["entity"]]


def test_how_much_each_role_does_counts_statements_that_look_at_a_table(server: PostgresServer, link: Link) -> None:
    with closing(Statements()) as statements:
        for _ in range(3):
            statements.read(link)  # by now our own statements are known, also those of a reading's end
        with server.connect() as client:
            for _ in range(10):
                client.execute("SELECT balance FROM account WHERE id = 1", prepare=False)
                client.execute("SELECT 1", prepare=False)
        batches = statements.read(link)
    calls = [row for row in rows_of("statistic", batches) if row["name"] == "pg_stat_statements.calls_on_tables"]
    own = next(row for row in calls if row["entity"] == "user postgres, database postgres")
    assert 10 <= round(own["value"] * own["interval_s"], 6) < 20
