"""Every rule on MariaDB and MySQL names its fault, with what it costs, and is silent where the setting is right."""

import polars as pl
import pytest

from doctord.dataset.dataset import Dataset
from doctord.lint.mysql.redo import redo_bytes
from doctord.lint.rule import RULES
from doctord.lint.setting import Setting
from doctord.lint.subjects import subjects
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation
from doctord.report import phrases
from mysql_faults import BUSY, FAULTS, MARIADB, MIB, MYSQL, READS, SMALL, SPACE, Server, host, seen_for
from settings_datasets import GIB, machine, violations


def of_rule(server: Server, name: str) -> Violation | None:
    return violations(server.dataset()).get(f"mysql/{name}")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_cost(name: str) -> None:
    found = of_rule(FAULTS[name][0], name)
    assert found is not None
    assert found.cost
    assert found.settings or name == "setting_deprecated"
    assert all(isinstance(one, Setting) for one in found.settings)
    assert found.severity is Severity.NOTE or CANNOT_JUDGE not in phrases.said(found.cost)


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_right_is_not_named(name: str) -> None:
    assert of_rule(FAULTS[name][1], name) is None


def test_every_rule_has_a_fault() -> None:
    own = {
        rule.name.partition("/")[2] for rule in RULES.values() if rule.check.__module__.startswith("doctord.lint.mysql")
    }
    assert own == set(FAULTS)


@pytest.mark.parametrize(
    ("name", "severity", "cost"),
    [
        ("commits_not_flushed", Severity.WARNING, "the last 1 s, 500 commits"),
        ("doublewrite_off", Severity.ERROR, "data:"),
        ("sessions_exceed_memory", Severity.WARNING, "500 x 256 MiB = 125 GiB of 16.0 GiB"),
        ("buffer_pool_exceeds_memory", Severity.ERROR, "20.0 GiB of caches in 16.0 GiB"),
        ("buffer_pool_small", Severity.ERROR, "900 reads a second x 2.0 ms = 1.80 sessions wait all the time"),
        ("redo_log_small", Severity.WARNING, "up to 3.8 MiB a second"),
        ("large_pages_missing", Severity.WARNING, "2048 are needed"),
        ("lock_waits_long", Severity.ERROR, "1.50 sessions wait"),
        ("binlogs_exceed_space", Severity.ERROR, "full in 0.1 days"),
        ("binlogs_never_expire", Severity.WARNING, "100 GiB are left: full in 0.1 days"),
        ("open_files_limit_small", Severity.WARNING, "4510 = 500 + 2 x 2000 + 10"),
        ("slow_log_floods", Severity.WARNING, "at least 5.7 MiB a second"),
    ],
)
def test_severity_and_arithmetic(name: str, severity: Severity, cost: str) -> None:
    found = of_rule(FAULTS[name][0], name)
    assert found is not None
    assert found.severity is severity
    assert cost in phrases.said(found.cost)


def test_the_impact_is_a_share_of_the_statements_time() -> None:
    found = of_rule(FAULTS["buffer_pool_small"][0], "buffer_pool_small")
    assert found is not None
    assert found.impact == pytest.approx(900 * 0.002 / 4.0)
    assert [(change.name, change.value) for change in found.changes] == [("innodb_buffer_pool_size", "2048M")]


def test_running_threads_tell_the_time_where_statements_are_not_timed() -> None:
    server = Server(
        {"innodb_lock_wait_timeout": 50}, {"innodb_row_lock_time": 1000.0, "threads_running": 5.0}, version=MYSQL
    )
    found = of_rule(server, "lock_waits_long")
    assert found is not None
    assert found.impact == pytest.approx(1.0 / 4.0)  # one of the five is the thread that asks


def test_a_pool_is_not_judged_without_the_time_of_its_reads() -> None:
    server = Server({"innodb_buffer_pool_size": 128 * MIB}, {"innodb_buffer_pool_reads": 900.0, **BUSY}, tables=SMALL)
    found = of_rule(server, "buffer_pool_small")
    assert found is not None
    assert found.severity is Severity.NOTE
    assert CANNOT_JUDGE in phrases.said(found.cost)
    assert found.not_measured[0].what == "the time of a read"


def test_numa_nodes_as_the_running_kernel_lists_them() -> None:
    settings = {"innodb_numa_interleave": "OFF", "innodb_buffer_pool_size": 12 * GIB}
    two = Server(settings, tables=SMALL | host("kernel", cpu__numa_nodes="0-1"))
    one = Server(settings, tables=SMALL | host("kernel", cpu__numa_nodes="0"))
    assert of_rule(two, "buffer_pool_on_one_node") is not None
    assert of_rule(one, "buffer_pool_on_one_node") is None


def test_what_was_written_in_seconds_tells_nothing_of_days() -> None:
    server = FAULTS["binlogs_exceed_space"][0]
    found = of_rule(Server(server.settings, server.status, tables=SPACE | seen_for(2.0)), "binlogs_exceed_space")
    assert found is not None
    assert found.severity is Severity.NOTE


def test_an_idle_server_waits_for_nothing() -> None:
    idle = {"query_time": 0.0, "innodb_buffer_pool_reads": 0.0}
    assert (
        of_rule(Server({"innodb_buffer_pool_size": 128 * MIB}, idle, tables=SMALL | READS), "buffer_pool_small") is None
    )


@pytest.mark.parametrize(
    ("version", "settings", "size"),
    [
        (MARIADB, {"innodb_log_file_size": 96 * MIB}, 96 * MIB),
        ("10.5.9-MariaDB", {"innodb_log_file_size": 96 * MIB}, None),
        (MYSQL, {"innodb_log_file_size": 48 * MIB, "innodb_log_files_in_group": 2}, 96 * MIB),
        (MYSQL, {"innodb_redo_log_capacity": GIB, "innodb_log_file_size": 48 * MIB}, GIB),
    ],
)
def test_the_size_of_the_redo_log(version: str, settings: dict[str, object], size: float | None) -> None:
    [found] = subjects(Server(settings, version=version).dataset())
    assert redo_bytes(found) == size


def test_a_file_alone_is_judged_by_what_it_sets() -> None:
    rows = [
        {"component": "mysql", "db": "mysql", "name": name, "value": value, "source": "file", "line": line}
        for line, (name, value) in enumerate([("innodb_doublewrite", "0"), ("innodb_buffer_pool_size", "32G")], 1)
    ]
    found = violations(Server({}, tables={**machine(16 * GIB), "setting": rows}).dataset())
    assert {"mysql/doublewrite_off", "mysql/buffer_pool_exceeds_memory"} <= set(found)
    assert found["mysql/doublewrite_off"].settings[0].line == 1


def test_figures_of_a_file_that_names_no_port_are_the_servers() -> None:
    server = FAULTS["lock_waits_long"][0]
    held = server.dataset()
    moved = held.frame("statistic").with_columns(db=pl.lit("mysql")).to_arrow()
    assert "mysql/lock_waits_long" in violations(Dataset({**held.tables, "statistic": moved}))
