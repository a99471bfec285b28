"""PostgreSQL's rules: what each of them is there for, and what is right."""

from datetime import timedelta
from typing import Any

import pytest

from doctord.lint.rule import RULES
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.report import phrases
from postgres_datasets import DB, NOW, load
from settings_datasets import GIB, HOST, dataset, violations

NOTE, WARNING, ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR
MIB = 1 << 20

# What a server of 16 GiB and 8 CPUs runs with that was tuned by PostgreSQL's own documentation.
TUNED: dict[str, object] = {
    "server_version": "15.18",
    "shared_buffers": "4GB",
    "max_connections": 100,
    "superuser_reserved_connections": 3,
    "work_mem": "4MB",
    "hash_mem_multiplier": 2,
    "maintenance_work_mem": "256MB",
    "autovacuum_work_mem": -1,
    "autovacuum_max_workers": 3,
    "autovacuum_vacuum_cost_delay": "2ms",
    "autovacuum_vacuum_cost_limit": -1,
    "vacuum_cost_limit": 200,
    "vacuum_cost_page_dirty": 20,
    "vacuum_cost_page_miss": 2,
    "autovacuum_freeze_max_age": 200_000_000,
    "effective_cache_size": "12GB",
    "huge_pages": "try",
    "max_wal_size": "16GB",
    "wal_keep_size": 0,
    "checkpoint_timeout": "5min",
    "checkpoint_completion_target": 0.9,
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "wal_writer_delay": "200ms",
    "wal_level": "replica",
    "wal_buffers": "16MB",
    "wal_compression": "on",
    "max_wal_senders": 10,
    "archive_mode": "off",
    "archive_command": "",
    "max_slot_wal_keep_size": "-1",
    "autovacuum": "on",
    "track_counts": "on",
    "track_activities": "on",
    "track_io_timing": "on",
    "data_checksums": "on",
    "data_directory": "/var/lib/postgresql/15/main",
    "wal_sync_method": "fdatasync",
    "commit_delay": 0,
    "deadlock_timeout": "1s",
    "lock_timeout": 0,
    "log_lock_waits": "on",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "logging_collector": "off",
    "log_file_mode": "0600",
    "idle_in_transaction_session_timeout": 0,
    "tcp_keepalives_idle": 7200,
    "tcp_keepalives_interval": 75,
    "tcp_keepalives_count": 9,
    "max_prepared_transactions": 0,
    "random_page_cost": 1.1,
    "seq_page_cost": 1,
    "effective_io_concurrency": 200,
    "bgwriter_lru_maxpages": 100,
    "bgwriter_delay": "200ms",
    "max_worker_processes": 8,
    "max_parallel_workers": 8,
    "max_parallel_workers_per_gather": 2,
    "dynamic_shared_memory_type": "posix",
    "password_encryption": "scram-sha-256",
    "synchronous_standby_names": "",
    "wal_sender_timeout": "60s",
    "shared_preload_libraries": "pg_stat_statements",
    "compute_query_id": "auto",
    "hot_standby_feedback": "off",
    "max_standby_streaming_delay": "30s",
}
SOLID = {"component": "kernel", "name": "block.vda.rotational", "value": "0"}
EIGHTEEN = {"server_version": "18.4"}
PLANS_TIMED = {"auto_explain.log_min_duration": "250ms", "auto_explain.log_analyze": "on"}


def kernel(**settings: object) -> list[dict[str, Any]]:
    return [
        {"component": "kernel", "name": name.replace("__", "."), "value": str(value)}
        for name, value in settings.items()
    ]


def certificate(days: float) -> dict[str, float]:
    """One of a year, with so many days left."""
    return {"certificate.left_s server.crt": days * 86400.0, "certificate.held_s server.crt": (365 - days) * 86400.0}


def dead(rows: int, live: int) -> list[dict[str, Any]]:
    return [{"kind": "table", "db": DB, "database": "a", "name": "public.t", "dead_rows": rows, "live_rows": live}]


def room(free_bytes: int) -> list[dict[str, Any]]:
    return [
        {"mount": "/", "size_bytes": 10 * GIB, "used_bytes": 0},
        {"mount": "/var/lib", "size_bytes": 100 * GIB, "used_bytes": 100 * GIB - free_bytes},
    ]


def databases(size_bytes: int) -> list[dict[str, Any]]:
    return [{"kind": "database", "db": DB, "name": "a", "used_bytes": size_bytes}]


def aging(ids_per_s: int) -> list[dict[str, Any]]:
    """Two readings of a database's age, ten seconds apart."""
    about = {"host": HOST, "component": "postgresql", "db": DB, "entity": "a", "name": "pg_database.datfrozenxid_age"}
    return [about | {"ts": NOW + timedelta(seconds=at), "value": float(ids_per_s * at)} for at in (0, 10)]


WAL = {"pg_stat_wal.wal_bytes": 20.0 * MIB}
WRITING = {**WAL, "pg_stat_wal.wal_fpi": 2000.0}
IDLE = [{"sid": 99, "state": "idle in transaction", "transaction_s": 900.0}]

# Rule, settings that differ from TUNED, tables beside them, severity, and what has to be in its cost.
FAULTS: list[tuple[str, dict[str, object], dict[str, Any], Severity, str]] = [
    ("fsync_off", {"fsync": "off"}, load(), ERROR, "since the last backup"),
    ("full_page_writes_off", {"full_page_writes": "off"}, load(), ERROR, "unless the file system"),
    ("synchronous_commit_off", {"synchronous_commit": "off"}, load({"pg_stat_database.xact_commit": 1000}), WARNING,
     "up to 600.0 ms of commits, 600 transactions at 1,000 commits a second"),
    ("fsync_errors_ignored", {"data_sync_retry": "on"}, load(), ERROR, "the device refuses"),
    ("unlogged_tables", {"restart_after_crash": "on"}, load({"pg_class.unlogged_bytes a.public.t": 3.0 * MIB}), NOTE,
     "3.0 MiB at the next crash"),
    ("damage_ignored", {"zero_damaged_pages": "on"}, load(), ERROR, "vanish"),
    ("wal_sync_method_slow", {"wal_sync_method": "fsync"}, load(waits={"WALSync": 1, "CPU": 1}), NOTE, "at most 50 %"),
    ("data_checksums_off", {"data_checksums": "off"}, load(), NOTE, "storage is sound"),
    ("shared_buffers_above_memory", {"shared_buffers": "20GB"}, load(), ERROR, "20.0 GiB asked of 16.0 GiB"),
    ("shared_buffers_tiny", {"shared_buffers": "1MB"}, load(), WARNING, "1.0 MiB / 100 connections = 10.2 KiB each"),
    ("shared_buffers_tiny", {"shared_buffers": "128MB"},
     load({"pg_stat_database.blks_read": 12800}, {"DataFileRead": 1, "CPU": 3}, memory={"available_bytes": 12 * GIB}),
     ERROR, "100 MiB/s read, 25 % of database time"),
    ("work_mem_overcommitted", {"work_mem": "128MB"}, load(), WARNING, "97 x 128 MiB x 2 = 24.2 GiB"),
    ("work_mem_overcommitted", {"work_mem": "1GB"}, load(), ERROR, "from the 7th query on"),
    ("work_mem_overcommitted", {"work_mem": "128MB"}, load({"pg_stat_activity.connections": 20}), NOTE, "97 x"),
    ("work_mem_overcommitted", {"work_mem": "32MB"},
     load(setting=kernel(vm__overcommit_memory=2, vm__overcommit_ratio=50)), WARNING, "statements fail"),
    ("work_mem_small", {"work_mem": "64kB"},
     load({"pg_stat_database.temp_bytes": 50.0 * MIB}, {"BufFileWrite": 1, "CPU": 9}),
     WARNING, "10 % of database time"),
    ("maintenance_work_mem_overcommitted", {"maintenance_work_mem": "8GB", **EIGHTEEN}, load(), WARNING, "3 x 8.0 GiB"),
    ("huge_pages_not_there", {"huge_pages": "on"},
     load(memory={"huge_pages_total": 100, "huge_page_bytes": 2 * MIB}), ERROR, "does not start"),
    ("huge_pages_do_not_cover", {}, load(memory={"huge_pages_total": 100, "huge_page_bytes": 2 * MIB}), WARNING,
     "100 x 2.0 MiB = 200 MiB"),
    ("huge_pages_unused", {"max_connections": 500, "work_mem": "1MB"},
     load(memory={"huge_pages_total": 0, "huge_page_bytes": 2 * MIB}), NOTE, "500 x 4.0 GiB / 4 kB x 8 B = 3.9 GiB"),
    ("huge_pages_unused", {},
     load(memory={"huge_pages_total": 0, "huge_page_bytes": 2 * MIB, "page_tables_bytes": 2 * GIB}), WARNING,
     "2.0 GiB of page tables"),
    ("max_wal_size_small", {"max_wal_size": "64MB"}, load(), NOTE, "from 115 KiB/s of WAL on"),
    ("max_wal_size_small", {"max_wal_size": "64MB"},
     load({**WRITING, "pg_stat_checkpointer.num_requested": 0.6}, {"WALSync": 1, "CPU": 3}), WARNING,
     "a checkpoint every 2 s in place of 300 s; at most 20 %"),
    ("max_wal_size_small", {"max_wal_size": "64MB"}, load(WRITING), WARNING, "78 % of it is full pages"),
    ("checkpoint_timeout_short", {"checkpoint_timeout": "30s"},
     load({**WRITING, "pg_stat_checkpointer.num_timed": 0.3}, {"WALSync": 1, "CPU": 3}), WARNING, "which is 25 %"),
    ("checkpoint_completion_target_low", {"checkpoint_completion_target": 0.1},
     load({"pg_stat_checkpointer.buffers_written": 100}, {"WALSync": 1}), NOTE, CANNOT_JUDGE),
    ("wal_buffers_small", {"wal_buffers": "64kB"},
     load({"pg_stat_wal.wal_buffers_full": 50}, {"WALBufMapping": 1, "CPU": 9}), WARNING, "10 % of database time"),
    ("wal_compression_off", {"wal_compression": "off"}, load(WRITING, {"WALSync": 1}), NOTE, CANNOT_JUDGE),
    ("commit_delayed", {"commit_delay": 1000}, load({"pg_stat_wal.wal_sync": 100}, {"CPU": 1}), WARNING,
     "100 flushes a second x 1.0 ms = at most 10 %"),
    ("wal_level_too_low", {"wal_level": "minimal"}, load(), ERROR, "does not start"),
    ("wal_level_too_low", {"wal_level": "minimal", "max_wal_senders": 0, "archive_mode": "on", "archive_command": "x"},
     load(), ERROR, "does not start"),
    ("archive_command_missing", {"archive_mode": "on"}, load(WAL, filesystem=room(72 * GIB)), ERROR,
     "72.0 GiB free at 20.0 MiB/s of WAL lasts 1.0 h"),
    ("slots_unlimited", {},
     load({"pg_replication_slots.active old": 0, "pg_replication_slots.retained_bytes old": GIB}),
     WARNING, "1.0 GiB of"),
    ("wal_larger_than_disk", {}, load(filesystem=room(GIB)), WARNING, "16.0 GiB - 0 B of today is more than 1.0 GiB"),
    ("autovacuum_off", {"autovacuum": "off"}, load(), WARNING, "not measured"),
    ("autovacuum_off", {"track_counts": "off"},
     load({"pg_stat_database.tup_updated": 10}, space=dead(50_000, 50_000)), ERROR,
     "10 rows die a second, 864,000 a day, and nobody removes them; 50,000 dead beside 50,000 rows"),
    ("autovacuum_too_slow", {"autovacuum_vacuum_cost_limit": 10, "autovacuum_vacuum_cost_delay": "100ms"},
     load({"pg_stat_database.tup_updated": 1000, "pg_stat_activity.autovacuum_workers": 1}, space=dead(50_000, 50_000)),
     WARNING, "50 % of what is scanned"),
    ("vacuum_memory_small", {"maintenance_work_mem": "1MB"},
     load({"pg_stat_progress_vacuum.index_vacuum_count a": 4}), WARNING, "4 passes"),
    ("freeze_max_age_late", {"autovacuum_freeze_max_age": 2_000_000_000},
     {**load(), "statistic": aging(10_000)}, WARNING, "144,483,648 transactions, 4 h at 10,000 a second"),
    ("freeze_max_age_early", {"autovacuum_freeze_max_age": 10_000_000},
     {**load(space=databases(50 * GIB)), "statistic": aging(1000)}, WARNING,
     "not frozen of 50.0 GiB is read every 2.8 h, past 16.0 GiB"),
    ("autovacuum_workers_unattainable", {"autovacuum_max_workers": 20, "autovacuum_worker_slots": 16, **EIGHTEEN},
     load(), WARNING, "4 workers"),
    ("max_connections_reached", {}, load({"pg_stat_activity.connections": 95}), WARNING, "2 more clients"),
    ("max_connections_reached", {}, load({"pg_stat_activity.connections": 97}), ERROR, "0 more clients"),
    ("all_connections_reserved", {"max_connections": 3}, load(), ERROR, "does not start"),
    ("too_many_at_once", {}, load(waits={"CPU": 10, "run queue": 10}), ERROR, "50 % of database time"),
    ("accept_queue_short", {}, load(setting=kernel(net__core__somaxconn=64)), NOTE, "64 are queued; the other 36"),
    ("accept_queue_short", {}, load(setting=kernel(net__core__somaxconn=64),
                                    network=[{"listen_overflows_per_s": 3.0, "interval_s": 10.0}]), WARNING, "3.0 con"),
    ("accept_queue_short", {}, load({"listen.backlog": 64}, setting=kernel(net__core__somaxconn=64),
                                    network=[{"listen_overflows_per_s": 3.0, "interval_s": 10.0}]), NOTE, "64 are q"),
    ("idle_in_transaction_unlimited", {}, load(session=IDLE), WARNING, "died in 15 min"),
    ("dead_clients_kept", {}, load({"pg_stat_activity.connections_idle": 80}), NOTE, "80 of 97"),
    ("deadlock_timeout_long", {"deadlock_timeout": "10s"},
     load({"pg_stat_database.deadlocks": 0.1}, {"CPU": 4}), ERROR, "2 sessions x 10 s x 0.1 a second = 50 %"),
    ("lock_timeout_off", {},
     load(waits={"relation": 1}, session=[{"sid": 98, "blocker_sid": 97, "in_state_s": 600.0}]), ERROR, "100 % of"),
    ("prepared_transactions_forgotten", {"max_prepared_transactions": 10},
     load({"pg_prepared_xacts.oldest_s": 4000, "pg_prepared_xacts.count": 1}), WARNING, "died in 1 h 6 min"),
    ("effective_cache_size_impossible", {"effective_cache_size": "64GB"}, load(), NOTE, CANNOT_JUDGE),
    ("effective_cache_size_impossible", {"effective_cache_size": "1GB"}, load(), NOTE, CANNOT_JUDGE),
    ("page_costs_reversed", {"random_page_cost": 0.5}, load(), NOTE, CANNOT_JUDGE),
    ("random_page_cost_of_disks", {"random_page_cost": 4}, load(waits={"DataFileRead": 1}, setting=[SOLID]), NOTE,
     "100 %"),
    ("plan_methods_forbidden", {"enable_seqscan": "off"}, load(), NOTE, CANNOT_JUDGE),
    ("generic_plans_forced", {"plan_cache_mode": "force_generic_plan"}, load(), NOTE, CANNOT_JUDGE),
    ("io_uring_forbidden", {"io_method": "io_uring", **EIGHTEEN}, load(setting=kernel(kernel__io_uring_disabled=2)),
     ERROR,
     "does not start"),
    ("io_workers_few", {"io_method": "worker", "io_workers": 1, **EIGHTEEN},
     load(waits={"AioIoCompletion": 1, "CPU": 1}), ERROR, "at most 50 %"),
    ("io_method_synchronous", {"io_method": "sync", **EIGHTEEN}, load(waits={"DataFileRead": 1}), NOTE, CANNOT_JUDGE),
    ("effective_io_concurrency_low", {"effective_io_concurrency": 1},
     load(waits={"DataFileRead": 1}, setting=[SOLID]), NOTE, CANNOT_JUDGE),
    ("read_times_not_measured", {"track_io_timing": "off"}, load(waits={"DataFileRead": 1}), NOTE, CANNOT_JUDGE),
    ("background_writer_slow", {}, load(waits={"DataFileWrite": 1, "CPU": 9}), WARNING, "10 % of database time"),
    ("workers_unattainable", {"max_parallel_workers": 16}, load(), WARNING, "8 workers that are asked for never start"),
    ("query_takes_all_cpus", {"max_parallel_workers_per_gather": 8}, load(cpus=2), WARNING, "9 processes on 2 CPUs"),
    ("parallel_workers_missing", EIGHTEEN, load({"pg_stat_database.parallel_workers_to_launch": 4,
                                                 "pg_stat_database.parallel_workers_launched": 1}),
     NOTE, "3.0 workers"),
    ("shared_memory_in_files", {"dynamic_shared_memory_type": "mmap"}, load(), NOTE, CANNOT_JUDGE),
    ("standbys_not_waited_for", {"synchronous_commit": "local", "synchronous_standby_names": "*"}, load(), WARNING,
     "no standby had"),
    ("dead_standby_unnoticed", {"wal_sender_timeout": 0, "synchronous_standby_names": "*"}, load(),
     WARNING, "stand still"),
    ("standby_queries_cancelled", {}, load({"pg_stat_database_conflicts.confl_snapshot a": 0.5}),
     WARNING, "1,800 queries"),
    ("senders_all_taken", {"max_wal_senders": 1}, load({"pg_stat_replication.sent_lag_bytes s1": 0}),
     WARNING, "refused"),
    ("every_statement_logged", {"log_statement": "all"}, load({"pg_stat_database.xact_commit": 5000}),
     WARNING, "432,000,000"),
    ("every_statement_logged", {"log_min_duration_statement": 0}, load(), NOTE, CANNOT_JUDGE),
    ("plans_timed", PLANS_TIMED, load({"pg_stat_database.xact_commit": 2000}), WARNING, "2,000 transactions a second"),
    ("plans_timed", PLANS_TIMED, load(), NOTE, CANNOT_JUDGE),
    ("log_readable_by_all", {"logging_collector": "on", "log_file_mode": "0644"}, load(), WARNING, "all users"),
    ("lock_waits_unlogged", {"log_lock_waits": "off"}, load(waits={"transactionid": 1}), NOTE, CANNOT_JUDGE),
    ("statements_not_measured", {"shared_preload_libraries": ""}, load(waits={"CPU": 1}), NOTE, CANNOT_JUDGE),
    ("activity_not_measured", {"track_activities": "off"}, load(), NOTE, CANNOT_JUDGE),
    ("certificate_near_end", {"ssl_cert_file": "server.crt"}, load(certificate(10)), WARNING, "no client"),
    ("certificate_near_end", {"ssl_cert_file": "server.crt"}, load(certificate(-1)), ERROR, "no client"),
    ("passwords_in_md5", {"password_encryption": "md5"}, load(), NOTE, "stolen hash"),
]  # fmt: skip


def said(settings: dict[str, object], tables: dict[str, Any]) -> dict[str, Violation]:
    rows = [{"host": HOST} | row for row in tables.get("setting", [])]
    return violations(dataset("postgresql", {**TUNED, **settings}, db=DB, **{**tables, "setting": rows}))


@pytest.mark.parametrize(
    ("name", "settings", "tables", "severity", "cost"), FAULTS, ids=[f"{one[0]}-{at}" for at, one in enumerate(FAULTS)]
)
def test_a_fault_is_named_with_its_cost(
    name: str, settings: dict[str, object], tables: dict[str, Any], severity: Severity, cost: str
) -> None:
    found = said(settings, tables)[f"postgresql/{name}"]
    assert cost in phrases.said(found.cost)
    assert found.severity is severity
    assert found.settings


# Of these the measurements decide, not the value: what was measured where all is right.
MEASURED: list[tuple[str, dict[str, Any]]] = [
    ("shared_buffers_tiny", load({"pg_stat_database.blks_read": 10}, {"CPU": 3}, memory={"available_bytes": 12 * GIB})),
    ("shared_buffers_tiny", load({"pg_stat_database.blks_read": 12800}, {"DataFileRead": 1},
     memory={"available_bytes": 1})),
    ("work_mem_small", load({"pg_stat_database.temp_bytes": 1000}, {"CPU": 9})),
    ("max_wal_size_small", load({"pg_stat_wal.wal_bytes": 1.0 * MIB}, {"WALSync": 1})),
    ("max_wal_size_small", load({"pg_stat_wal.wal_bytes": 100.0 * MIB, "pg_stat_wal.wal_fpi": 12700.0}, {"WALSync": 1},
                                space=databases(GIB))),
    ("freeze_max_age_early", {**load(space=databases(GIB)), "statistic": aging(1_000_000)}),
    ("checkpoint_timeout_short", load({**WRITING, "pg_stat_checkpointer.num_timed": 0.003}, {"WALSync": 1})),
    ("wal_buffers_small", load({"pg_stat_wal.wal_buffers_full": 0.1}, {"WALBufMapping": 1})),
    ("slots_unlimited", load({"pg_replication_slots.active new": 1})),
    ("wal_larger_than_disk", load(filesystem=room(50 * GIB))),
    ("vacuum_memory_small", load({"pg_stat_progress_vacuum.index_vacuum_count a": 1})),
    ("autovacuum_too_slow", load({"pg_stat_database.tup_updated": 1000, "pg_stat_activity.autovacuum_workers": 1},
                                 space=dead(50_000, 50_000))),
    ("autovacuum_too_slow", load({"pg_stat_database.tup_updated": 50_000, "pg_stat_activity.autovacuum_workers": 0},
                                 space=dead(50_000, 50_000))),
    ("max_connections_reached", load({"pg_stat_activity.connections": 50})),
    ("too_many_at_once", load(waits={"CPU": 8, "run queue": 1})),
    ("accept_queue_short", load(setting=kernel(net__core__somaxconn=4096))),
    ("idle_in_transaction_unlimited", load(session=[{**IDLE[0], "transaction_s": 2.0}])),
    ("dead_clients_kept", load({"pg_stat_activity.connections_idle": 10})),
    ("deadlock_timeout_long", load({"pg_stat_database.deadlocks": 0.001}, {"CPU": 4})),
    ("lock_timeout_off", load(waits={"relation": 1}, session=[{"sid": 98, "blocker_sid": 97, "in_state_s": 6.0}])),
    ("background_writer_slow", load(waits={"CPU": 9})),
    ("standby_queries_cancelled", load({"pg_stat_database_conflicts.confl_snapshot a": 0})),
    ("huge_pages_do_not_cover", load(memory={"huge_pages_total": 2100, "huge_page_bytes": 2 * MIB})),
    ("huge_pages_unused", load(memory={"huge_pages_total": 0, "page_tables_bytes": 10 * MIB})),
    ("certificate_near_end", load(certificate(200))),
    ("unlogged_tables", load({"pg_class.unlogged_bytes shop.public.prices": 0.0})),
]  # fmt: skip
SET = [(name, settings, tables) for name, settings, tables, _, _ in FAULTS if settings and settings != EIGHTEEN]
DECIDED = [*((name, {}, tables) for name, tables in MEASURED), *(one for one in SET if one[0] not in dict(MEASURED))]


@pytest.mark.parametrize(
    ("name", "settings", "tables"), DECIDED, ids=[f"{one[0]}-{at}" for at, one in enumerate(DECIDED)]
)
def test_what_is_right_is_not_named(name: str, settings: dict[str, object], tables: dict[str, Any]) -> None:
    version = {key: value for key, value in settings.items() if key == "server_version"}
    assert f"postgresql/{name}" not in said(version, tables)


@pytest.mark.parametrize(
    "tables",
    [load(), load({**WAL, "pg_stat_database.xact_commit": 100, "pg_stat_database.blks_read": 10}, {"CPU": 2})],
    ids=["at rest", "at work"],
)
def test_a_tuned_server_is_left_alone(tables: dict[str, Any]) -> None:
    assert [(one.rule, one.title) for one in said({}, tables).values() if one.rule.startswith("postgresql/")] == []


def test_what_only_a_load_can_tell_is_not_said_without_one() -> None:
    measured_only = {"shared_buffers": "128MB", "random_page_cost": 4, "wal_compression": "off", "work_mem": "1MB"}
    assert said(measured_only, load()) == {}


def test_every_rule_is_tried() -> None:
    ours = {rule.name for rule in RULES.values() if rule.check.__module__.startswith("doctord.lint.postgresql")}
    assert ours - {f"postgresql/{one[0]}" for one in FAULTS} == {"postgresql/unit_refused"}
    spoken_against = {f"postgresql/{name}" for name, _, _ in DECIDED}
    assert (
        ours - spoken_against
        == {"postgresql/unit_refused", "postgresql/parallel_workers_missing", "postgresql/senders_all_taken"}
        - spoken_against
    )


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("shared_buffers", "8gb", "8GB"),
        ("shared_buffers", "8G", "8GB"),
        ("work_mem", "64Kb", "64kB"),
        ("checkpoint_timeout", "5m", "5min"),
    ],
)
def test_a_unit_that_postgresql_refuses(name: str, value: str, wanted: str) -> None:
    row = {"host": HOST, "component": "postgresql", "db": DB, "name": name, "value": value, "source": "file", "line": 1}
    found = violations(dataset("kernel", {}, setting=[row]))["postgresql/unit_refused"]
    assert found.severity is ERROR
    assert [change.value for change in found.changes] == [wanted]


@pytest.mark.parametrize(("more", "is_said"), [({}, True), ({"archive_command": "(set, not shown)"}, False)])
def test_a_file_without_archive_command_has_none(more: dict[str, str], is_said: bool) -> None:  # noqa: FBT001 - a table
    written = {"archive_mode": "on", **more}
    about = {"host": HOST, "component": "postgresql", "db": DB, "source": "file"}
    rows = [
        about | {"name": name, "value": value, "line": line} for line, (name, value) in enumerate(written.items(), 1)
    ]
    assert ("postgresql/archive_command_missing" in violations(dataset("kernel", {}, setting=rows))) is is_said


@pytest.mark.parametrize("value", ["8GB", "8 GB", "16384", "-1", "5min"])
def test_a_unit_that_it_takes(value: str) -> None:
    name = "checkpoint_timeout" if "min" in value else "shared_buffers"
    row = {"host": HOST, "component": "postgresql", "db": DB, "name": name, "value": value, "source": "file", "line": 1}
    assert "postgresql/unit_refused" not in violations(dataset("kernel", {}, setting=[row]))


@pytest.mark.parametrize(
    ("seconds", "free_bytes", "proposed"),
    [(100, 100 * GIB, ["11400MB"]), (100, 4 * GIB, ["2048MB"]), (100, GIB // 16, []), (6, 100 * GIB, [])],
    ids=["room enough", "half of the room", "no room for more", "seconds tell no usual rate"],
)
def test_max_wal_size_is_proposed_of_a_usual_rate_and_for_the_room_there_is(
    seconds: int, free_bytes: int, proposed: list[str]
) -> None:
    tables = load(WRITING, filesystem=room(free_bytes))
    for name in ("cpu", "statistic"):
        tables[name] = [row | {"interval_s": float(seconds)} for row in tables[name]]
    found = said({"max_wal_size": "64MB", "data_directory": "/var/lib/pg"}, tables)["postgresql/max_wal_size_small"]
    assert [change.value for change in found.changes] == proposed
    assert bool(found.not_measured) is (seconds < 60)


@pytest.mark.parametrize(
    "spared",
    [
        {"auto_explain.log_min_duration": "-1"},
        {"auto_explain.log_analyze": "off"},
        {"auto_explain.log_timing": "off"},
        {"auto_explain.sample_rate": "0.01"},
    ],
)
def test_plans_that_are_not_timed_or_of_few_statements(spared: dict[str, object]) -> None:
    assert "postgresql/plans_timed" in said({**PLANS_TIMED, "auto_explain.log_timing": "on"}, load())
    assert "postgresql/plans_timed" not in said({**PLANS_TIMED, **spared}, load())
