import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from doctord._native import Batch
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.collector import StatisticsCollector
from doctord.collect.postgres.statistics.horizon import Horizon
from doctord.collect.postgres.statistics.objects.relations import Relations
from doctord.collect.postgres.statistics.rights import note_rights
from doctord.collect.postgres.statistics.settings import Settings
from doctord.collect.postgres.statistics.sizes import Sizes
from doctord.collect.postgres.statistics.statements import Statements
from doctord.collect.postgres.statistics.views import ClusterViews
from doctord.collect.postgres.statistics.wal.archiver import Archiver
from doctord.collect.postgres.statistics.wal.replication import FLUSHED, Replication
from postgres_samples import SECRET, figures, link_to, rows_of, settled, until
from servers import PostgresServer, running_postgres

pytestmark = pytest.mark.server


@pytest.fixture
def link(server: PostgresServer) -> Iterator[Link]:
    with closing(link_to(server.dsn("doctord"))) as opened:
        opened.open()
        yield opened


def test_database_counters_are_rates(server: PostgresServer, link: Link) -> None:
    views = ClusterViews()
    views.read(link)
    server.execute(*["SELECT 1"] * 20)
    batches = settled(
        views.read, link, lambda batches: figures(batches, "postgres").get("pg_stat_database.xact_commit", 0) > 3
    )
    row = next(row for row in rows_of("statistic", batches) if row["name"] == "pg_stat_database.temp_bytes")
    assert (row["component"], row["db"]) == ("postgresql", f"postgresql:{server.port}")
    assert (row["unit"], row["kind"]) == ("bytes_per_s", "rate")
    assert row["interval_s"] > 0
    postgres = figures(batches, "postgres")
    assert postgres["pg_stat_database.numbackends"] >= 1
    assert postgres["pg_stat_database.deadlocks"] == 0
    assert ("pg_stat_database.sessions" in postgres) == (server.version >= 14)


def test_a_requested_checkpoint_has_one_name_in_all_versions(server: PostgresServer, link: Link) -> None:
    views = ClusterViews()
    views.read(link)
    server.execute("UPDATE account SET balance = balance + 1 WHERE id < 100", "CHECKPOINT")
    batches = settled(
        views.read, link, lambda batches: figures(batches).get("pg_stat_checkpointer.num_requested", 0) > 0
    )
    rates = figures(batches)
    assert rates["pg_stat_checkpointer.buffers_written"] > 0
    assert "pg_stat_checkpointer.num_timed" in rates
    assert "pg_stat_bgwriter.buffers_alloc" in rates
    assert ("pg_stat_bgwriter.buffers_backend" in rates) == (server.version < 17)


def test_wal_writes_have_one_name_from_14_on(server: PostgresServer, link: Link) -> None:
    if server.version < 14:
        pytest.skip("pg_stat_wal came with version 14")
    views = ClusterViews()
    views.read(link)
    server.execute("UPDATE account SET balance = balance + 1 WHERE id < 100")
    seen: dict[str, float] = {}

    def counted(batches: list[Batch]) -> bool:
        for name, per_s in figures(batches).items():
            seen[name] = max(seen.get(name, 0.0), per_s)
        return seen.get("pg_stat_wal.wal_write", 0) > 0 and seen["pg_stat_wal.wal_bytes"] > 0

    rates = figures(settled(views.read, link, counted))
    assert {"pg_stat_wal.wal_fpi", "pg_stat_wal.wal_buffers_full", "pg_stat_wal.wal_sync_time"} <= rates.keys()


def test_times_that_are_not_measured_are_absent() -> None:
    with running_postgres(18) as server, closing(link_to(server.dsn())) as link:
        link.open()
        views = ClusterViews()
        views.read(link)
        batches = views.read(link)
    assert "pg_stat_wal.wal_sync" in figures(batches)
    names = {row["name"] for row in rows_of("statistic", batches)}
    assert "pg_stat_database.session_time" in names
    assert not {name for name in names if name.endswith(("read_time", "sync_time", "write_time"))} - {
        "pg_stat_checkpointer.write_time",
        "pg_stat_checkpointer.sync_time",
    }


def test_a_reset_is_an_event_and_gives_no_negative_rate(server: PostgresServer, link: Link) -> None:
    views = ClusterViews()
    server.execute("SELECT pg_stat_reset()")
    settled(views.read, link, lambda _: link.query("SELECT stats_reset FROM pg_stat_database WHERE datname='postgres'"))
    server.execute("SELECT count(*) FROM account")
    seen = []

    def reset_again(batches: list[Batch]) -> bool:
        seen.extend(rows_of("event", link.notices.batches()))
        rates = [row for row in rows_of("statistic", batches) if row["kind"] == "rate"]
        assert all(row["value"] >= 0 for row in rates)
        return any(event["subject"] == "pg_stat_database postgres" for event in seen)

    time.sleep(1)
    views.read(link)
    server.execute("SELECT pg_stat_reset()")
    settled(views.read, link, reset_again)


def test_connections_and_horizons(server: PostgresServer, link: Link) -> None:
    with server.connect() as idle, server.connect() as prepared:
        idle.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        idle.execute("SELECT 1")
        prepared.execute("BEGIN")
        prepared.execute("UPDATE account SET balance = 1 WHERE id = 7")
        prepared.execute("PREPARE TRANSACTION 'left behind'")
        batches = Horizon().read(link)
        prepared.execute("ROLLBACK PREPARED 'left behind'")
    now = figures(batches)
    assert now["pg_stat_activity.connections"] >= 3
    assert now["pg_stat_activity.connections_idle_in_transaction"] == 1
    assert now["pg_stat_activity.backend_xmin_age"] >= 0
    assert now["pg_prepared_xacts.count"] == 1
    assert now["pg_prepared_xacts.oldest_s"] >= 0
    named = figures(batches, "left behind")
    assert named["pg_prepared_xacts.xid_age"] >= 1
    assert named["pg_prepared_xacts.age_s"] >= 0
    assert figures(batches, "postgres")["pg_database.datfrozenxid_age"] > 0
    own, whole = now["pg_stat_activity.own_processes_s"], now["pg_postmaster_start_time.age_s"]
    assert 0 < own <= whole < own + 5, "its processes are as old as the server"


def test_a_listener_in_a_transaction_keeps_what_is_sent(server: PostgresServer, link: Link) -> None:
    with server.connect() as listener, server.connect() as sender:
        listener.execute("LISTEN news")
        listener.execute("BEGIN")
        for number in range(20):
            sender.execute(f"SELECT pg_notify('news', repeat('x', 7000) || {number})")
        kept = Horizon().read(link)
        listener.execute("COMMIT")
        listener.execute("SELECT 1")
        emptied = Horizon().read(link)
    name = "pg_notification_queue.used_pct"
    assert 0 < figures(kept)[name] < 1
    assert figures(emptied)[name] < figures(kept)[name]
    assert {row["unit"] for row in rows_of("statistic", kept) if row["name"] == name} == {"pct"}


def test_nobody_is_connected_to_be_a_standby(link: Link) -> None:
    now = figures(Replication().read(link))
    assert (now["pg_stat_replication.connected"], now["pg_stat_replication.synchronous"]) == (0, 0)


def test_the_end_of_the_log_on_disk_moves_while_a_transaction_is_open(server: PostgresServer, link: Link) -> None:
    replication = Replication()
    assert FLUSHED not in figures(replication.read(link)), "a rate takes two readings"
    with server.connect() as writer, writer.transaction(force_rollback=True):
        writer.execute("CREATE TABLE filler AS SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
        assert figures(replication.read(link))[FLUSHED] > 0


def test_a_slot_that_holds_wal_back(server: PostgresServer, link: Link) -> None:
    server.execute("SELECT pg_create_physical_replication_slot('standby', true)")
    try:
        server.execute("UPDATE account SET balance = balance + 1", "SELECT pg_switch_wal()")
        slot = figures(Replication().read(link), "standby")
    finally:
        server.execute("SELECT pg_drop_replication_slot('standby')")
    assert slot["pg_replication_slots.active"] == 0
    assert slot["pg_replication_slots.retained_bytes"] > 0
    assert slot["pg_replication_slots.is_lost"] == 0
    assert "pg_replication_slots.safe_wal_size_bytes" not in slot, "there is no limit"
    assert ("pg_replication_slots.inactive_s" in slot) == (server.version >= 17)


def test_an_archiver_that_fails_is_told_by_its_times() -> None:
    def failed(found: list[Batch]) -> bool:
        return "pg_stat_archiver.last_failed_s" in figures(found)

    settings = {"archive_mode": "on", "archive_command": "false"}
    with running_postgres(15, settings) as server, closing(link_to(server.dsn())) as link:
        link.open()
        server.execute("CREATE TABLE t (id int)", "SELECT pg_switch_wal()")
        told = figures(settled(lambda link: Archiver().read(link), link, failed))
    assert told["pg_ls_archive_statusdir.ready"] >= 1
    assert told["pg_stat_archiver.last_failed_s"] < 60
    assert "pg_stat_archiver.last_archived_s" not in told


def _are_counted(batches: list[Batch]) -> bool:
    """Whether the scan has arrived, and what ANALYZE counted: before version 15 each comes when it comes."""
    scans = figures(batches, "postgres.public.account").get("pg_stat_user_tables.seq_scan", 0)
    return scans > 0 and any(row["name"] == "public.account" and row["live_rows"] for row in rows_of("space", batches))


def test_tables_and_indexes(server: PostgresServer, link: Link) -> None:
    with closing(Relations()) as relations:
        relations.read(link)
        server.execute(
            "SELECT count(*) FROM account WHERE balance = -1",
            "UPDATE account SET balance = 5 WHERE id < 500",
            "ANALYZE account",
        )
        batches = settled(relations.read, link, _are_counted)
    table = figures(batches, "postgres.public.account")
    assert table["pg_stat_user_tables.seq_tup_read"] >= table["pg_stat_user_tables.seq_scan"] * 5000
    assert "pg_stat_user_indexes.idx_scan" in figures(batches, "postgres.public.account_pkey")
    space = next(row for row in rows_of("space", batches) if row["name"] == "public.account")
    assert (space["kind"], space["database"]) == ("table", "postgres")
    assert space["used_bytes"] > 300_000
    assert 0 < space["bloat_bytes"] < space["used_bytes"]
    assert space["dead_rows"] > 0


def test_values_beside_their_rows_are_counted_with_the_table(server: PostgresServer, link: Link) -> None:
    server.execute(
        "CREATE TABLE document (id int PRIMARY KEY, body text)",
        "ALTER TABLE document ALTER body SET STORAGE EXTERNAL",
        "INSERT INTO document SELECT id, repeat('x', 20000) FROM generate_series(1, 50) AS id",
    )
    name = "pg_statio_user_tables.toast_blks_hit"
    with closing(Relations()) as relations:
        relations.read(link)
        server.execute("SELECT sum(length(body)) FROM document")
        batches = settled(
            relations.read, link, lambda batches: figures(batches, "postgres.public.document").get(name, 0) > 0
        )
    table = figures(batches, "postgres.public.document")
    assert table[name] > table["pg_statio_user_tables.heap_blks_hit"]
    assert table["pg_statio_user_tables.tidx_blks_hit"] > 0
    assert name not in figures(batches, "postgres.public.account")
    server.execute("DROP TABLE document")


def test_indexes_are_told_once_with_their_columns_and_again_when_they_changed(server: PostgresServer) -> None:
    name = "postgres.public.account "
    server.execute(
        "CREATE INDEX account_both ON account (balance, id) INCLUDE (id)",
        "CREATE INDEX account_some ON account ((balance + 1), id) WHERE balance > 4711",
        "CREATE INDEX account_broken ON account USING hash (balance)",
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'account_broken'::regclass",
        "ANALYZE account",
    )
    with closing(link_to(server.dsn("doctord"))) as link, closing(Relations()) as relations:
        link.open()
        first = relations.read(link)
        told = {row["name"]: (row["component"], row["value"]) for row in rows_of("setting", first)}
        again = rows_of("setting", relations.read(link))
        server.execute("DROP INDEX account_both, account_some, account_broken")
        gone = {row["name"]: row["value"] for row in rows_of("setting", relations.read(link))}
    assert {index.removeprefix(name): described for index, described in told.items() if index.startswith(name)} == {
        "id": ("pg_attribute", "integer"),
        "balance": ("pg_attribute", "integer"),
        "account_pkey": ("pg_index", "btree (id)"),
        "account_both": ("pg_index", "btree (balance, id) including id"),
        "account_some": ("pg_index", "btree ((expression), id) partial"),
        "account_broken": ("pg_index", "hash (balance) invalid"),
    }
    assert again == []
    assert gone == {f"{name}{gone}": None for gone in ("account_both", "account_some", "account_broken")}
    table = figures(first, "postgres.public.account")
    assert table["pg_index.valid_indexes"] == 3
    assert table["pg_class.reltuples"] == pytest.approx(10_000, rel=0.5)
    assert SECRET not in str(told)


def test_indexes_without_a_scan_are_told_until_they_have_one(server: PostgresServer, link: Link) -> None:
    name, entity = "pg_stat_user_indexes.scans_since_reset", "postgres.public.account_unused"
    server.execute("CREATE INDEX account_unused ON account (balance)", "ANALYZE account")
    try:
        with closing(Relations()) as relations:
            assert [figures(relations.read(link), entity)[name] for _ in range(2)] == [0, 0]
            with server.connect() as client:
                client.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
                client.execute("SELECT balance FROM account WHERE balance = -7")
            settled(relations.read, link, lambda batches: figures(batches, entity).get(name, 0) > 0)
            assert name not in figures(relations.read(link), entity)
    finally:
        server.execute("DROP INDEX account_unused")


def test_a_table_that_somebody_locked_does_not_stop_the_reading(server: PostgresServer, link: Link) -> None:
    with closing(Relations()) as relations, server.connect() as owner:
        owner.execute("ANALYZE account")
        owner.execute("BEGIN")
        owner.execute("LOCK TABLE account")
        began = time.monotonic()
        batches = relations.read(link)
        assert time.monotonic() - began < 20
    space = next(row for row in rows_of("space", batches) if row["name"] == "public.account")
    assert space["used_bytes"] is None


def test_sizes(link: Link) -> None:
    batches = Sizes().read(link)
    sizes = {(row["kind"], row["name"]): row["used_bytes"] for row in rows_of("space", batches)}
    assert sizes["database", "postgres"] > 1_000_000
    assert sizes["tablespace", "pg_default"] > sizes["database", "postgres"]
    assert figures(batches)["pg_ls_waldir.size_bytes"] >= 16 * 1024 * 1024


ASKING = "local all all trust\nhost all all cafe.de trust\nhost all all ::1/128 ident\nhost all all samenet md5\n"


@pytest.mark.server
@pytest.mark.parametrize(
    ("hba", "role", "told"),
    [
        (ASKING, "postgres", "line 2: a host's name; line 3: ident"),
        ("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n", "postgres", "none"),
        (ASKING, "doctord", None),
    ],
    ids=["some", "none", "not granted"],
)
def test_which_lines_of_pg_hba_ask_another_at_each_login(hba: str, role: str, told: str | None) -> None:
    with running_postgres(hba=hba) as server:
        server.execute("CREATE ROLE doctord LOGIN", "GRANT pg_monitor TO doctord")
        with closing(link_to(server.dsn(role))) as link:
            link.open()
            found = {row["name"]: row["value"] for row in rows_of("setting", Settings().read(link))}
    assert found.get("hba.asks") == told


def test_settings_are_the_servers_own_and_hold_no_secrets(server: PostgresServer, link: Link) -> None:
    server.execute(
        f"ALTER SYSTEM SET primary_conninfo = 'host=x password={SECRET}'",
        f"ALTER SYSTEM SET archive_command = 'curl --user backup:{SECRET} ...'",
        "SELECT pg_reload_conf()",
    )
    time.sleep(0.3)
    settings = Settings()
    found = {row["name"]: row for row in rows_of("setting", settings.read(link))}
    assert found["statement_timeout"]["value"] == "0", "not our own limit"
    assert (found["shared_buffers"]["value"], found["shared_buffers"]["unit"]) == ("2048", "8kB")
    assert found["shared_buffers"]["source_file"].endswith("postgresql.conf")
    assert found["server_version_num"]["value"].startswith(str(server.version))
    assert server.process is not None
    assert found["postmaster_pid"]["value"] == str(server.process.pid)
    assert found["primary_conninfo"]["value"] == found["archive_command"]["value"] == "(set, not shown)"
    assert SECRET not in str(found)
    assert settings.read(link) == []
    server.execute(
        "ALTER SYSTEM SET work_mem = '5MB'", "ALTER SYSTEM SET max_connections = 51", "SELECT pg_reload_conf()"
    )
    time.sleep(0.3)
    changed = {row["name"]: row["value"] for row in rows_of("setting", settings.read(link))}
    events = {row["subject"]: row["text"] for row in rows_of("event", link.notices.batches())}
    server.execute("ALTER SYSTEM RESET ALL", "SELECT pg_reload_conf()")
    assert changed["work_mem"] == "5120"
    assert "statement_timeout" not in changed
    assert "was 4096, is 5120" in events["work_mem"]
    assert "not in force before a restart" in events["max_connections"]


def test_what_is_switched_off_is_said_with_a_hint() -> None:
    with running_postgres(15) as server, closing(link_to(server.dsn())) as link, closing(Statements()) as statements:
        link.open()
        note_rights(link)
        statements.read(link)
        said = {row["subject"]: row["hint"] for row in rows_of("event", link.notices.batches())}
    assert "track_io_timing = on" in said["duration of reads and writes"]
    assert "compute_query_id = on" in said["statements of sessions"]
    assert "CREATE EXTENSION pg_stat_statements" in said["statements"]


def test_a_database_that_lets_nobody_in_is_said(server: PostgresServer) -> None:
    server.execute("CREATE DATABASE closed", "REVOKE CONNECT ON DATABASE closed FROM PUBLIC")
    try:
        with closing(StatisticsCollector(link_to(server.dsn("doctord")))) as collector:
            event = until(collector, "event", lambda row: row["subject"] == "tables of closed")
    finally:
        server.execute("DROP DATABASE closed WITH (FORCE)")
    assert "GRANT CONNECT" in event["hint"]


def test_the_cost_is_published(server: PostgresServer) -> None:
    with closing(StatisticsCollector(link_to(server.dsn("doctord")))) as collector:
        collector._cost._since -= 5
        row = until(collector, "statistic", lambda row: row["name"] == "sample_ms")
    assert (row["component"], row["entity"]) == ("doctord", f"postgresql:{server.port} statistics")
    assert row["value"] > 0
