from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from doctord.app.read import dataset_of
from doctord.lint import engine
from doctord.lint.rule import RULES
from doctord.lint.violation import Severity, Violation
from doctord.read.source import ReadOptions
from doctord.report import phrases
from settings_datasets import GIB, HOST, dataset, machine
from shared import CASEBOOK, CORPUS, sample

GOOD: dict[str, object] = {
    "filesystemio_options": "setall",
    "control_files": "/a/control01.ctl, /b/control02.ctl",
    "sga_target": 6 * GIB,
    "pga_aggregate_target": GIB,
    "processes": 300,
    "compatible": "19.0.0",
}
HUGE = machine(16 * GIB, 4, huge_pages_total=3073, huge_page_bytes=2 << 20, page_tables_bytes=100 << 20)


def said(settings: dict[str, object], **tables: Any) -> dict[str, Violation]:
    held = dataset("oracle", GOOD | settings, db="oracle:X", **(tables or HUGE))
    return {violation.rule.partition("/")[2]: violation for violation in engine.examine(held).violations}


def waiting(event: str, seconds_per_second: float, wait_class: str = "Configuration") -> dict[str, Any]:
    """Rows of an instance that waits for an event, beside some CPU; on the good machine."""
    common = {"ts": datetime(2026, 11, 21, tzinfo=UTC), "interval_s": 3600.0, "host": HOST, "db": "oracle:X"}
    waits = [
        {"event": event, "wait_class": wait_class, "average_active_sessions": seconds_per_second, "kind": "foreground"},
        {"event": "DB CPU", "wait_class": "CPU", "average_active_sessions": 1.0, "kind": "foreground"},
    ]
    return HUGE | {"wait": [common | wait for wait in waits]}


FAULTS: list[tuple[str, dict[str, object], dict[str, Any]]] = [
    ("filesystemio_options_not_setall", {"filesystemio_options": "none"}, HUGE),
    ("filesystemio_options_not_setall", {"filesystemio_options": "directio"}, HUGE),
    ("disk_asynch_io_set", {"disk_asynch_io": "FALSE"}, HUGE),
    ("dbwr_io_slaves_with_asynchronous_io", {"dbwr_io_slaves": 4}, HUGE),
    ("multiblock_read_count_set", {"db_file_multiblock_read_count": 16}, HUGE),
    ("block_checksum_off", {"db_block_checksum": "off"}, HUGE),
    ("control_files_together", {"control_files": "/a/1.ctl, /a/2.ctl"}, HUGE),
    ("log_buffer_small", {"log_buffer": 1 << 20}, HUGE),
    ("log_checkpoint_timeout_set", {"log_checkpoint_timeout": 300}, HUGE),
    ("log_checkpoint_timeout_off", {"log_checkpoint_timeout": 0}, HUGE),
    ("parallel_degree_decided_by_server", {"parallel_degree_policy": "AUTO"}, HUGE),
    ("log_parallelism_low", {}, waiting("latch: redo allocation", 0.5, "Concurrency")),
    (
        "prefetch_in_storage_test",
        {},
        HUGE | {"setting": [{"host": HOST, "component": "slob", "name": "UPDATE_PCT", "value": "0", "source": "file"}]},
    ),
    ("mttr_target_contradicted", {"fast_start_mttr_target": 60, "log_checkpoint_interval": 10000}, HUGE),
    ("commit_does_not_wait", {"commit_wait": "nowait"}, HUGE),
    ("recovery_area_without_size", {"db_recovery_file_dest": "/fra"}, HUGE),
    ("explicit_pools_under_sga_target", {"shared_pool_size": 3 * GIB}, HUGE),
    ("memory_overcommitted", {"pga_aggregate_target": 12 * GIB}, HUGE),
    (
        "huge_pages_do_not_cover_sga",
        {},
        machine(16 * GIB, 4, huge_pages_total=3000, huge_page_bytes=2 << 20),
    ),
    ("page_tables_large", {}, machine(16 * GIB, 4, huge_pages_total=0, huge_page_bytes=2 << 20)),
    ("memory_target_without_huge_pages", {"sga_target": 0, "memory_target": 6 * GIB}, HUGE),
    ("large_pages_refused", {"use_large_pages": "false"}, HUGE),
    ("lock_sga_with_memory_target", {"sga_target": 0, "memory_target": 2 * GIB, "lock_sga": "true"}, HUGE),
    ("work_areas_set_by_hand", {"sort_area_size": 1 << 20, "workarea_size_policy": "manual"}, HUGE),
    ("block_buffers_with_sga_target", {"db_block_buffers": 10000}, HUGE),
    ("optimizer_settings_global", {"optimizer_index_cost_adj": 10}, HUGE),
    ("optimizer_of_an_older_version", {"optimizer_features_enable": "11.2.0.4"}, HUGE),
    ("hidden_parameters", {"_small_table_threshold": 100}, HUGE),
    ("events_set", {"event": "10046 trace name context forever"}, HUGE),
    ("sql_trace_on", {"sql_trace": "TRUE"}, HUGE),
    ("statistics_level_unfit", {"statistics_level": "BASIC"}, HUGE),
    ("statistics_level_unfit", {"timed_statistics": "false"}, HUGE),
    ("cursor_sharing_not_exact", {"cursor_sharing": "similar"}, HUGE),
    ("parallel_degree_above_cpus", {"parallel_threads_per_cpu": 8}, HUGE),
    ("parallel_degree_above_cpus", {"parallel_degree_limit": 64}, HUGE),
    ("sessions_below_processes", {"sessions": 200}, HUGE),
    ("jobs_off", {"job_queue_processes": 0}, HUGE),
    ("queue_monitor_off", {"aq_tm_processes": 0}, HUGE),
    ("undo_by_hand", {"undo_management": "manual"}, HUGE),
    ("cpu_count_below_cpus", {"cpu_count": 2}, HUGE),
    ("open_cursors_unlimited", {"open_cursors": 50000}, HUGE),
    ("any_directory_for_utl_file", {"utl_file_dir": "*"}, HUGE),
    ("remote_os_authent_on", {"remote_os_authent": "true"}, HUGE),
    ("standby_files_by_hand", {"fal_server": "stby"}, HUGE),
    ("pga_target_small", {}, waiting("direct path write temp", 0.5, "User I/O")),
    ("resource_plan_waits", {}, waiting("resmgr:cpu quantum", 0.5, "Scheduler")),
    (
        "log_files_small",
        {},
        HUGE
        | {
            "statistic": [
                {"host": HOST, "db": "oracle:X", "component": "oracle", "interval_s": 3600.0}
                | {"name": "thread_activity.log switches (derived)", "value": 1 / 60, "kind": "rate"}
            ]
        },
    ),
]


def test_a_good_configuration_is_left_alone() -> None:
    assert said({}) == {}


@pytest.mark.parametrize(("rule", "settings", "tables"), FAULTS, ids=lambda part: part if isinstance(part, str) else "")
def test_a_fault_is_named_and_nothing_else(rule: str, settings: dict[str, object], tables: dict[str, Any]) -> None:
    found = said(settings, **tables)
    assert list(found) == [rule]
    assert found[rule].cost


@pytest.mark.parametrize(("platform", "told"), [("AIX-Based Systems (64-bit)", False), ("Linux x86 64-bit", True)])
@pytest.mark.parametrize("rule", ["page_tables_large", "memory_target_without_huge_pages", "large_pages_refused"])
def test_huge_pages_of_linux_are_no_advice_elsewhere(rule: str, platform: str, *, told: bool) -> None:
    (settings, tables), *_ = [(settings, tables) for name, settings, tables in FAULTS if name == rule]
    assert (rule in said(settings | {"report.platform": platform}, **tables)) is told


def test_every_rule_is_tried() -> None:
    common = {"value_invalid", "unit_mistaken", "set_twice", "not_in_force"}
    own = {name.partition("/")[2] for name in RULES if name.startswith("oracle/")} - common
    assert own == {rule for rule, _, _ in FAULTS}
    assert len(own) >= 25


def test_a_measured_wait_decides_how_bad_it_is() -> None:
    assert said({"log_buffer": 1 << 20})["log_buffer_small"].severity is Severity.NOTE
    found = said({"log_buffer": 1 << 20}, **waiting("log buffer space", 0.5))["log_buffer_small"]
    assert found.severity is Severity.ERROR
    assert found.impact == pytest.approx(1 / 3)


def test_what_was_measured_to_cost_nothing_is_not_said() -> None:
    assert said({"log_buffer": 1 << 20}, **waiting("log buffer space", 0.001)) == {}


def test_files_in_asm_need_no_file_system_options() -> None:
    asm = {"filesystemio_options": "none", "control_files": "+DATA/x/current.256.1"}
    assert said(asm) == {}


# The casebook's consolidation (D12).

D12_FAULTS = {
    "*.filesystemio_options='setall'": "*.filesystemio_options='none'\n*.disk_asynch_io=FALSE",
    "*.sga_target=6G": "*.sga_target=6G\n*.shared_pool_size=2G\n*.db_cache_size=2G",
    "*.log_buffer=104857600": "*.log_buffer=1048576",
    "*.processes=300": "*.processes=300\n*.log_checkpoint_timeout=300\n*.optimizer_index_cost_adj=10\n"
    "*.optimizer_index_caching=90\n*.parallel_threads_per_cpu=8\n*._b_tree_bitmap_plans=FALSE",
}
D12_RULES = {
    "filesystemio_options_not_setall",
    "disk_asynch_io_set",
    "explicit_pools_under_sga_target",
    "log_buffer_small",
    "log_checkpoint_timeout_set",
    "optimizer_settings_global",
    "parallel_degree_above_cpus",
    "hidden_parameters",
}
MEMINFO = "MemTotal: 16777216 kB\nMemFree: 1048576 kB\nPageTables: {tables} kB\nHugePages_Total: {pages}\n"
MEMINFO += "HugePages_Free: {pages}\nHugePages_Rsvd: 0\nHugepagesize: 2048 kB\n"


@pytest.fixture
def init_ora() -> str:
    return sample(CASEBOOK / "consolidation" / "initaqrevp.ora").read_text(encoding="utf-8")


def linted(folder: Path, init_ora: str, **meminfo: int) -> dict[str, list[Violation]]:
    (folder / "initaqrevp.ora").write_text(init_ora, encoding="utf-8")
    if meminfo:
        (folder / "meminfo").write_text(MEMINFO.format(**meminfo), encoding="utf-8")
    found: dict[str, list[Violation]] = {}
    for violation in engine.examine(dataset_of([folder], ReadOptions())).violations:
        found.setdefault(violation.rule.partition("/")[2], []).append(violation)
    return found


def test_the_case_is_told_what_there_is_to_say(tmp_path: Path, init_ora: str) -> None:
    found = linted(tmp_path, init_ora)
    assert "filesystemio_options_not_setall" not in found
    assert "log_buffer_small" not in found
    assert set(found) == {
        "control_files_together",
        "explicit_pools_under_sga_target",  # java_pool_size
        "jobs_off",
        "multiblock_read_count_set",
        "page_tables_large",  # if there are no huge pages: 300 x 6 GiB / 4 KiB x 8
        "queue_monitor_off",
    }
    assert "= 3.5 GiB" in phrases.said(found["page_tables_large"][0].cost)


def test_every_fault_of_the_list_is_named_and_nothing_else(tmp_path: Path, init_ora: str) -> None:
    before = set(linted(tmp_path, init_ora, pages=3072, tables=100_000))
    for right, wrong in D12_FAULTS.items():
        assert right in init_ora
        init_ora = init_ora.replace(right, wrong)
    found = linted(tmp_path, init_ora, pages=512, tables=3_000_000)
    assert set(found) - before == (D12_RULES | {"huge_pages_do_not_cover_sga", "page_tables_large"}) - before
    assert set(found) >= D12_RULES
    assert len(found["optimizer_settings_global"]) == 2
    assert len(found["explicit_pools_under_sga_target"][0].settings) == 3


def test_the_reports_of_the_corpus_are_linted_without_a_false_alarm() -> None:
    examined = engine.examine(dataset_of(sorted(sample(CORPUS / "awr").glob("*.html")), ReadOptions()))
    assert [violation.title for violation in examined.violations if violation.severity is Severity.ERROR] == []


def test_what_was_noted_by_hand_says_nothing_of_the_rest(tmp_path: Path) -> None:
    (tmp_path / "noted.csv").write_text("setting,before\nlog_buffer,4M (default)\nmember size,500M\n")
    held = dataset_of([tmp_path / "noted.csv"], ReadOptions())
    found = {violation.rule for violation in engine.examine(held).violations}
    assert found == {"oracle/log_buffer_small"}, "no default of what is not listed is held against anybody"
