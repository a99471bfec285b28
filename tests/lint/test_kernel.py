from pathlib import Path
from typing import Any

import pytest

from doctord.app.read import dataset_of
from doctord.dataset.dataset import Dataset
from doctord.lint import engine
from doctord.lint.rule import RULES
from doctord.lint.violation import Severity, Violation
from doctord.read.source import ReadOptions
from settings_datasets import GIB, HOST
from shared import CASEBOOK, CORPUS, sample

# A host that is well, with a PostgreSQL server and an Oracle instance on it.
KERNEL: dict[str, object] = {
    "vm.swappiness": 1,
    "vm.overcommit_memory": 0,
    "vm.overcommit_ratio": 50,
    "vm.nr_hugepages": 4200,
    "vm.dirty_background_ratio": 0,
    "vm.dirty_background_bytes": 268435456,
    "vm.zone_reclaim_mode": 0,
    "kernel.numa_balancing": 0,
    "vm.min_free_kbytes": 262144,
    "vm.vfs_cache_pressure": 100,
    "kernel.shmmax": 18446744073692774399,
    "kernel.shmall": 18446744073692774399,
    "kernel.sem": "250\t32000\t100\t128",
    "kernel.pid_max": 4194304,
    "kernel.threads-max": 125000,
    "fs.aio-max-nr": 1048576,
    "net.core.somaxconn": 4096,
    "cpu.clocksource": "tsc",
    "cpu.governor": "performance",
    "cpu.numa_nodes": "0-1",
    "transparent_hugepage.enabled": "madvise",
    "transparent_hugepage.defrag": "madvise",
    "block.sda.scheduler": "none",
    "block.sda.rotational": "0",
    "block.sda.nr_requests": 256,
    "block.sda.queue_depth": 64,
    "block.sda.read_ahead_kb": 128,
    "block.sda.nomerges": 0,
}
MEMORY = {
    "host": HOST,
    "total_bytes": 32 * GIB,
    "swap_total_bytes": 4 * GIB,
    "page_tables_bytes": 100 << 20,
    "huge_pages_total": 4200,
    "huge_pages_free": 100,
    "huge_pages_rsvd": 0,
    "huge_page_bytes": 2 << 20,
    "swap_out_per_s": 0.0,
}
SERVERS = [
    {"component": "postgresql", "db": "postgresql:5432", "name": "shared_buffers", "value": "2GB"},
    {"component": "postgresql", "db": "postgresql:5432", "name": "max_connections", "value": "100"},
    {"component": "oracle", "db": "oracle:X", "name": "sga_target", "value": str(6 * GIB)},
    {"component": "oracle", "db": "oracle:X", "name": "processes", "value": "300"},
    {"component": "oracle", "db": "oracle:X", "name": "filesystemio_options", "value": "setall"},
    {"component": "oracle", "db": "oracle:X", "name": "control_files", "value": "/a/1.ctl, /b/1.ctl"},
]
DISK = {"host": HOST, "device": "sda", "reads_per_s": 100.0, "read_bytes_per_s": 819200.0, "host_queue_ms": 0.1}
DISK |= {"host_queue": 0.1, "device_queue": 2.0}


def settings(component: str, held: dict[str, object], source: str | None = None, file: str | None = None) -> list[Any]:
    common = {"host": HOST, "component": component, "source": source, "source_file": file}
    return [common | {"name": name, "value": str(value), "line": n} for n, (name, value) in enumerate(held.items(), 1)]


def said(
    kernel: dict[str, object] | None = None,
    memory: dict[str, object] | None = None,
    disk: dict[str, object] | None = None,
    more: list[Any] | None = None,
    **tables: Any,
) -> dict[str, Violation]:
    rows = settings("kernel", KERNEL | (kernel or {})) + [{"host": HOST} | one for one in SERVERS] + (more or [])
    held = Dataset.from_rows(setting=rows, memory=[MEMORY | (memory or {})], disk=[DISK | (disk or {})], **tables)
    return {
        one.rule: one for one in engine.examine(held).violations if not one.rule.startswith(("postgresql", "oracle"))
    }


def written(component: str, held: dict[str, object]) -> list[Any]:
    return settings(component, held, "file", f"{component}.conf")


def group(**figures: float) -> list[Any]:
    """Figures of the control group of PostgreSQL: `memory_limit_bytes` is `memory.limit_bytes`."""
    common = {"host": HOST, "component": "cgroup", "entity": "/system.slice/postgresql@15-main.service"}
    return [common | {"name": name.replace("_", ".", 1), "value": value} for name, value in figures.items()]


SWAPPING = {"memory": {"swap_out_per_s": 50.0}}
FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("kernel/swappiness_high", {"kernel": {"vm.swappiness": 60}, **SWAPPING}),
    ("kernel/overcommit_without_limit", {"kernel": {"vm.overcommit_memory": 1}}),
    ("kernel/commit_limit_below_databases", {"kernel": {"vm.overcommit_memory": 2, "vm.overcommit_kbytes": 102400},
                                             "memory": {"huge_pages_total": 0, "huge_pages_free": 0}}),
    ("kernel/huge_pages_idle", {"memory": {"huge_pages_free": 4000}}),
    ("kernel/page_tables_large", {"memory": {"page_tables_bytes": 3 * GIB}}),
    ("kernel/transparent_huge_pages_always", {"kernel": {"transparent_hugepage.enabled": "always"}}),
    ("kernel/dirty_limit_large", {"kernel": {"vm.dirty_background_ratio": 60, "vm.dirty_background_bytes": 0}}),
    ("kernel/dirty_limits_contradict", {"more": written("kernel", {"vm.dirty_ratio": 5, "vm.dirty_bytes": 1 << 28})}),
    ("kernel/zone_reclaim_on", {"kernel": {"vm.zone_reclaim_mode": 1}}),
    ("kernel/numa_balancing_on", {"kernel": {"kernel.numa_balancing": 1}}),
    ("kernel/much_memory_kept_free", {"kernel": {"vm.min_free_kbytes": 4 << 20}}),
    ("kernel/cache_pressure_zero", {"kernel": {"vm.vfs_cache_pressure": 0}}),
    ("kernel/shared_memory_limit_small", {"kernel": {"kernel.shmall": 1 << 20}}),
    ("kernel/processes_short", {"kernel": {"kernel.pid_max": 400}}),
    ("kernel/semaphores_short", {"kernel": {"kernel.sem": "250 256 32 128"}}),
    ("kernel/asynchronous_requests_short", {"kernel": {"fs.aio-max-nr": 65536}}),
    ("kernel/accept_queue_overflows", {"network": [{"host": HOST, "listen_overflows_per_s": 0.5}]}),
    ("kernel/connections_recycled", {"kernel": {"net.ipv4.tcp_tw_recycle": 1}}),
    ("kernel/clock_slow", {"kernel": {"cpu.clocksource": "hpet"}}),
    ("kernel/governor_saves_power", {"kernel": {"cpu.governor": "powersave"}}),
    ("kernel/laptop_mode_on", {"kernel": {"vm.laptop_mode": 5}}),
    ("kernel/scheduler_orders_for_a_turning_disk", {"kernel": {"block.sda.scheduler": "bfq"}}),
    ("kernel/host_queue_below_device_queue", {"kernel": {"block.sda.nr_requests": 32}}),
    ("kernel/queue_depth_caps_device", {"kernel": {"block.sda.queue_depth": 8},
                                        "disk": {"device_queue": 7.9, "host_queue": 12.0}}),
    ("kernel/read_ahead_off", {"kernel": {"block.sda.read_ahead_kb": 0}}),
    ("kernel/read_ahead_large", {"kernel": {"block.sda.read_ahead_kb": 16384}}),
    ("kernel/merging_off", {"kernel": {"block.sda.nomerges": 2, "block.sda.rotational": 1}}),
    ("kernel/cgroup_memory_below_database", {"statistic": group(memory_limit_bytes=GIB)}),
    ("kernel/cgroup_cpus_used_up", {"statistic": group(cpu_limit_cpus=2.0, cpu_throttled_s_per_s=0.4)}),
    ("kernel/not_in_force", {"more": written("kernel", {"vm.swappiness": 10})}),
    ("kernel/set_twice", {"more": [*written("kernel", {"vm.x": 1}), *written("kernel", {"vm.x": 2})]}),
    ("limits/memlock_small", {"more": written("limits", {"oracle.soft.memlock": 65536})}),
    ("limits/open_files_short", {"more": written("limits", {"oracle.hard.nofile": 4096})}),
    ("udev/rule_not_in_force", {"more": written("udev", {"sd[a-z].scheduler": "mq-deadline"})}),
    ("mount/barriers_off", {"more": written("mount", {"/u01.options": "rw,nobarrier"})}),
    ("mount/written_at_once", {"more": written("mount", {"/u01.options": "rw,sync"})}),
    ("mount/journalled_twice", {"more": written("mount", {"/u01.options": "data=journal"})}),
    ("mount/access_times_written", {"more": written("mount", {"/u01.options": "strictatime"})}),
    ("mount/network_file_system_gives_up", {"more": written("mount", {"/u01.type": "nfs", "/u01.options": "soft"})}),
    ("mount/trimmed_at_once", {"more": written("mount", {"/u01.options": "discard"})}),
    ("mount/option_not_in_force", {"more": [*written("mount", {"/u01.options": "noatime"}),
                                            *settings("mount", {"/u01.options": "rw,relatime"}, "kernel")]}),
    ("systemd/memory_limit_below_database", {"more": written("systemd", {"postgresql@.service.MemoryMax": "1G"})}),
    ("systemd/locked_memory_below_database", {"more": written("systemd", {"postgresql.service.LimitMEMLOCK": "64M"})}),
    ("systemd/stopped_too_soon", {"more": written("systemd", {"mariadb.service.TimeoutStopSec": "10s"})}),
    ("systemd/database_is_nice", {"more": written("systemd", {"postgresql.service.Nice": "10"})}),
    ("systemd/cpu_quota_set", {"more": written("systemd", {"postgresql.service.CPUQuota": "150%"})}),
    ("systemd/oom_killer_comes_first", {"more": written("systemd", {"mysql.service.OOMScoreAdjust": "500"})}),
]  # fmt: skip


def test_a_host_that_is_well_is_left_alone() -> None:
    assert said() == {}


@pytest.mark.parametrize(("rule", "fault"), FAULTS, ids=[f"{rule}-{n}" for n, (rule, _) in enumerate(FAULTS)])
def test_a_fault_is_named_and_nothing_else(rule: str, fault: dict[str, Any]) -> None:
    found = said(**fault)
    assert list(found) == [rule]
    assert found[rule].cost


def test_every_rule_is_tried() -> None:
    own = {name for name in RULES if name.split("/")[0] in ("kernel", "limits", "udev", "mount", "systemd")}
    assert own - {"kernel/value_invalid", "kernel/unit_mistaken"} == {rule for rule, _ in FAULTS}


@pytest.mark.parametrize(
    "right",
    [
        {"kernel": {"vm.swappiness": 60}},  # nothing is swapped out
        {"kernel": {"vm.zone_reclaim_mode": 1, "cpu.numa_nodes": "0"}},
        {"kernel": {"transparent_hugepage.enabled": "never", "transparent_hugepage.defrag": "always"}},
        {"more": written("kernel", {"vm.swappiness": "1", "kernel.sem": "250 32000 100 128"})},
        {"more": written("mount", {"/u01.type": "nfs", "/u01.options": "hard,noatime"})},
        {"more": written("systemd", {"postgresql.service.TimeoutStopSec": "infinity", "backup.service.Nice": "19"})},
        {"more": written("udev", {"sd[a-z].scheduler": "none", "nvme*.scheduler": "mq-deadline"})},
        {"more": written("limits", {"oracle.soft.memlock": "unlimited", "oracle.hard.nofile": 65536})},
        {"disk": {"device_queue": 63.0, "host_queue": 0.2}},
        {"statistic": group(memory_limit_bytes=8 * GIB, cpu_limit_cpus=2.0, cpu_throttled_s_per_s=0.0)},
    ],
)
def test_what_is_right_is_not(right: dict[str, Any]) -> None:
    assert said(**right) == {}


def test_unmeasured_swapping_is_only_noted() -> None:
    assert said({"vm.swappiness": 60}, {"swap_out_per_s": None})["kernel/swappiness_high"].severity is Severity.NOTE


# multipath.conf

MULTIPATH: list[tuple[str, str, str]] = [
    ("multipath/rr_min_io_high", "rr_min_io 1\n", "rr_min_io 1000\n"),
    ("multipath/one_path_only", "path_grouping_policy multibus", "path_grouping_policy failover"),
    ("multipath/priorities_ignored", "failback immediate", "failback immediate\n prio alua"),
    ("multipath/priorities_missing", "policy multibus", "policy group_by_prio\n prio const"),
    ("multipath/queues_for_ever", "no_path_retry fail", "no_path_retry queue"),
    ("multipath/queues_for_ever", "no_path_retry fail", 'features "1 queue_if_no_path"'),
    ("multipath/features_overridden", "no_path_retry fail", 'no_path_retry fail\n features "1 queue_if_no_path"'),
    ("multipath/returns_by_hand", "failback immediate", "failback manual"),
    ("multipath/polled_seldom", "devices {", "defaults {\n polling_interval 60\n}\ndevices {"),
    ("multipath/gives_up_before_it_fails_over", "failback immediate", "fast_io_fail_tmo 30\n dev_loss_tmo 30"),
    ("multipath/everything_blacklisted", "devices {", 'blacklist {\n devnode ".*"\n}\ndevices {'),
    ("multipath/alias_used_twice", "devices {",
     "multipaths {\n multipath {\n wwid 1\n alias a\n }\n multipath {\n wwid 2\n alias a\n }\n}\ndevices {"),
    ("multipath/setting_unknown", "failback immediate", "fail_back immediate"),
    ("multipath/value_invalid", "rr_weight priorities", "rr_weight prioritys"),
    ("multipath/set_twice", "failback immediate", "failback immediate\n no_path_retry 5"),
]  # fmt: skip


@pytest.fixture
def multipath_conf() -> str:
    return sample(CASEBOOK / "consolidation" / "multipath.conf").read_text(encoding="utf-8")


def linted(folder: Path, text: str) -> list[str]:
    file = folder / "multipath.conf"
    file.write_text(text, encoding="utf-8")
    return sorted({violation.rule for violation in engine.examine(dataset_of([file], ReadOptions())).violations})


def test_the_cases_multipath_conf_is_right(tmp_path: Path, multipath_conf: str) -> None:
    assert linted(tmp_path, multipath_conf) == []


@pytest.mark.parametrize(("rule", "right", "wrong"), MULTIPATH)
def test_its_variants_are_wrong(tmp_path: Path, multipath_conf: str, rule: str, right: str, wrong: str) -> None:
    assert right in multipath_conf
    rules = linted(tmp_path, multipath_conf.replace(right, wrong))
    assert set(rules) - {"multipath/set_twice"} == {rule} - {"multipath/set_twice"}
    assert rule in rules


# Its list says no versions and no sizes, and no daemon is asked.
NEVER = ("setting_removed", "unit_mistaken", "not_in_force")


def test_every_rule_of_multipath_is_tried() -> None:
    own = {name for name in RULES if name.startswith("multipath/")}
    assert own - {rule for rule, _, _ in MULTIPATH} == {f"multipath/{name}" for name in NEVER}
    host = [
        name for name in RULES if name.split("/")[0] in ("kernel", "limits", "udev", "mount", "systemd", "multipath")
    ]
    assert len(host) >= 25


@pytest.mark.parametrize("name", ["jfbaeta_template_multipath_ibm_2145.txt", "megacoder_multipath.conf"])
def test_files_of_others_have_no_unknown_keyword(tmp_path: Path, name: str) -> None:
    rules = linted(tmp_path, sample(CORPUS / "config" / name).read_text(encoding="utf-8"))
    assert "multipath/setting_unknown" not in rules
