"""Processes that start others."""

import pytest

from diagnose.hosts import host
from doctord.analyse.host.parents import parents

FRESH, LEAKING = "listener (pid 5000)", "listener (pid 5001)"
KERNEL = {
    (FRESH, "process.children_per_s"): 20.0,
    (FRESH, "process.anon_bytes"): 23e6,
    (FRESH, "process.page_table_bytes"): 0.2e6,
    (LEAKING, "process.children_per_s"): 10.0,
    (LEAKING, "process.anon_bytes"): 400e6,
}
PROCESSES = [
    {"command": "listener", "usr_pct": 1.0, "sys_pct": 2.0},
    {"command": "listener", "usr_pct": 1.0, "sys_pct": 9.0},
]


def test_two_of_one_name_are_told_apart_by_their_numbers() -> None:
    leaking, fresh = parents(host(seconds=20, kernel=KERNEL, other_processes=PROCESSES))
    assert (leaking.pid, leaking.children, leaking.anon_bytes) == (5001, 200.0, 400e6)
    assert (leaking.sys_s, leaking.cpu_s) == (pytest.approx(1.8), pytest.approx(2.0))
    assert (fresh.pid, fresh.command, fresh.children) == (5000, "listener", 400.0)
    assert fresh.sys_s == pytest.approx(0.4)
    assert (fresh.page_table_bytes, leaking.page_table_bytes) == (0.2e6, None)


def test_one_that_started_nobody_or_was_not_sampled_is_none() -> None:
    only_size = {(FRESH, "process.anon_bytes"): 23e6, ("bash (pid 99)", "process.children_per_s"): 3.0}
    assert parents(host(kernel=only_size, other_processes=PROCESSES)) == []
    assert parents(host()) == []
