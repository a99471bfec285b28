from doctord.lab.fault import all_faults


def test_each_required_fault_expects_its_cause() -> None:
    assert {name: fault.cause for name, fault in all_faults().items()} == {
        "checkpoint_storm": "checkpoints_too_frequent",
        "connection_churn": "connection_churn",
        "cpu_hog": "cpu_other_processes",
        "disk_throttled": "cgroup_io_limit",
        "hopping_process": "process_hops",
        "idle_in_transaction": "idle_in_transaction_blocker",
        "log_writer_preempted": "log_writer_preempted",
        "memory_squeeze": "cgroup_memory_limit",
        "missing_index": "missing_index",
        "row_lock_convoy": "row_locks",
        "slow_accept": "clients_wait_to_connect",
        "system_call_storm": "system_call_storm",
        "work_mem_spill": "sort_spill",
        "large_system_calls": None,
        "log_writer_first": None,
        "none": None,
        "staying_process": None,
    }


def test_only_faults_of_control_groups_need_root() -> None:
    assert [fault.name for fault in all_faults().values() if fault.needs_root] == ["disk_throttled", "memory_squeeze"]


def test_a_fault_has_the_name_of_its_file_and_a_description_of_several_lines() -> None:
    for fault in all_faults().values():
        summary, blank, *body = fault.description.splitlines()
        assert summary.endswith(".")
        assert blank == ""
        assert body
