import inspect
import sys

from doctord.lab.dose import INTENSITIES
from doctord.lab.fault import ONE, Fault, all_faults


def test_each_required_fault_expects_its_cause() -> None:
    assert {name: fault.cause for name, fault in all_faults().items()} == {
        "checkpoint_storm": "checkpoints_too_frequent",
        "connection_churn": "connection_churn",
        "cpu_hog": "cpu_other_processes",
        "disk_throttled": "cgroup_io_limit",
        "full_backlog": "accept_queue_overflow",
        "idle_in_transaction": "idle_in_transaction_blocker",
        "large_listener": "slow_fork",
        "hopping_process": "process_hops",
        "log_writer_preempted": "log_writer_preempted",
        "memory_squeeze": "cgroup_memory_limit",
        "missing_index": "missing_index",
        "neighbour_takes_memory": "cgroup_memory_limit",
        "row_lock_convoy": "row_locks",
        "slow_accept": "clients_wait_to_connect",
        "fragmented_file": "data_file_fragmented",
        "huge_pages_reserved": "huge_pages_not_used",
        "page_cache_dropped": "page_cache_evicted",
        "requests_split": "requests_split",
        "system_call_storm": "system_call_storm",
        "work_mem_spill": "sort_spill",
        "pool_exhausted": "pooler_queue",
        "inodes_run_out": "disk_full",
        "inodes_enough": None,
        "wal_frozen": "commits_hang",
        "wal_frozen_for_snapshots": None,
        "tasks_limited": "processes_used_up",
        "tasks_enough": None,
        "shared_memory_removed": "server_does_not_answer",
        "published_without_identity": "replica_identity_missing",
        "published_with_identity": None,
        "unlogged_emptied": "unlogged_tables_emptied",
        "unlogged_truncated": None,
        "socket_file_removed": "socket_file_missing",
        "socket_looked_for_elsewhere": None,
        "neighbour_fills": "filesystem_full",
        "neighbour_rewrites": None,
        "prepared_statements_leak": "sessions_grow",
        "sessions_warm_up": None,
        "pool_large_enough": None,
        "notify_commits": "commits_notify",
        "notify_seldom": None,
        "pool_kept_by_sleepers": "pooler_queue",
        "pool_kept_with_room": None,
        "abandoned_slot": "slot_keeps_wal",
        "backup_saturates_disk": "io_by_others",
        "cartesian_joins": "cpu_few_statements",
        "clients_do_not_take_results": "clients_do_not_take_results",
        "connections_exhausted": "connections_near_limit",
        "ddl_queue": "table_locks",
        "deadlock_loop": "deadlocks_reported",
        "failing_archiver": "archiver_stuck",
        "foreign_key_without_index": "foreign_key_without_index",
        "jit_everything": "jit_compiles_much",
        "many_clients": "cpu_saturated",
        "old_snapshot_hot_row": "vacuum_held_back",
        "log_read_slowly": "server_log_slow",
        "serialization_failures": "serialization_failures",
        "server_crashes": "server_restarted",
        "stale_statistics": "index_not_used",
        "partitions_not_pruned": "partitions_not_pruned",
        "trigger_scans_table": "trigger_reads_table",
        "unused_indexes": "indexes_unused",
        "used_indexes": None,
        "synchronous_standby_missing": "standby_slows_commits",
        "queue_not_vacuumed": "autovacuum_behind",
        "advisory_lock_chain": "table_locks",
        "archive_command_hangs": "archiver_stuck",
        "autovacuum_cancelled": "autovacuum_behind",
        "ldap_answers_late": "logins_slow",
        "role_work_mem_in_kilobytes": "role_setting_slows",
        "autovacuum_starved": "autovacuum_behind",
        "generic_plan_forced": "generic_plan_forced",
        "generic_plan_trap": "index_not_used",
        "logical_slot_catalogues": "vacuum_held_back",
        "periodic_neighbour": "cpu_other_processes",
        "prepared_transaction_hot_row": "vacuum_held_back",
        "standby_query_hot_row": "vacuum_held_back",
        "tablespace_fills": "filesystem_full",
        "subscriber_scans": "subscription_behind",
        "subscriber_by_key": None,
        "blocks_without_rows": "table_mostly_empty",
        "few_rows": None,
        "wal_on_slow_device": "device_slow",
        "wraparound_vacuum_in_the_way": "table_locks",
        "far_clients": "network_latency",
        "thinking_clients": "row_locks",
        "packets_lost": "network_retransmits",
        "narrow_way": "network_narrow",
        "good_way": None,
        "wide_values_fetched_for_each_row": "wide_values_fetched",
        "lines_scanned": None,
        "advisory_lock_brief": None,
        "archiver_keeps_up": None,
        "autovacuum_at_work": None,
        "autovacuum_let_through": None,
        "ldap_answers_at_once": None,
        "role_work_mem_enough": None,
        "autovacuum_gives_way": None,
        "generic_plan_fits": None,
        "generic_plans_right": None,
        "logical_slot_read": None,
        "prepared_transactions_finished": None,
        "standby_of_short_queries": None,
        "steady_neighbour": None,
        "tablespace_large": None,
        "base_backup_gentle": None,
        "bulk_load": None,
        "foreign_key_of_small_table": None,
        "partitions_pruned": None,
        "trigger_finds_rows": None,
        "duplicate_keys": None,
        "index_build": None,
        "neighbour_reads_files": None,
        "nightly_report": None,
        "vacuum_run": None,
        "queue_vacuumed": None,
        "large_system_calls": None,
        "one_cpu_interrupted": "interrupts_on_one_cpu",
        "one_cpu_receives": None,
        "log_of_all_statements": None,
        "log_writer_first": None,
        "none": None,
        "small_listener": None,
        "staying_process": None,
    }


def test_each_fault_with_a_cause_comes_in_three_intensities_but_what_is_there_or_not() -> None:
    faults = all_faults().values()
    assert {fault.name for fault in faults if fault.cause and fault.intensities != INTENSITIES} == {
        "advisory_lock_chain",
        "inodes_run_out",
        "shared_memory_removed",
        "socket_file_removed",
        "synchronous_standby_missing",
        "unlogged_emptied",
        "wal_frozen",
        "wraparound_vacuum_in_the_way",
    }
    assert {fault.intensities for fault in faults if not fault.cause} == {ONE}


def test_a_fault_asks_for_its_amount_where_it_comes_in_several() -> None:
    for fault in all_faults().values():
        assert ("dose.of(" in _source(fault)) is (fault.intensities == INTENSITIES), fault.name


def _source(fault: Fault) -> str:
    module = inspect.getmodule(inspect.unwrap(fault.inject))
    assert module is not None
    return inspect.getsource(getattr(sys.modules[module.__name__], fault.name))


def test_only_faults_of_control_groups_devices_and_the_kernel_need_root() -> None:
    assert [fault.name for fault in all_faults().values() if fault.root_for] == [
        "disk_throttled",
        "far_clients",
        "fragmented_file",
        "huge_pages_reserved",
        "inodes_run_out",
        "memory_squeeze",
        "narrow_way",
        "neighbour_fills",
        "neighbour_takes_memory",
        "one_cpu_interrupted",
        "packets_lost",
        "prepared_statements_leak",
        "requests_split",
        "tablespace_fills",
        "tasks_limited",
        "wal_frozen",
        "wal_on_slow_device",
        "good_way",
        "inodes_enough",
        "neighbour_reads_files",
        "neighbour_rewrites",
        "one_cpu_receives",
        "sessions_warm_up",
        "tablespace_large",
        "tasks_enough",
        "wal_frozen_for_snapshots",
    ]


def test_a_fault_has_the_name_of_its_file_and_a_description_of_several_lines() -> None:
    for fault in all_faults().values():
        summary, blank, *body = fault.description.splitlines()
        assert summary.endswith(".")
        assert blank == ""
        assert body
