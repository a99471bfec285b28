"""Outsiders: who competes with the database and does not work for it."""

import polars as pl

from diagnose.hosts import host
from doctord.analyse.host.other_processes import consumers
from doctord.diagnose.case import Case

CASE = Case(
    host(
        sessions=[{"program": "a-client-with-a-long-name"}],
        other_processes=[
            {"command": "gzip", "user": "root", "usr_pct": 30.0, "sys_pct": 0.0},
            {"command": "gzip", "user": "root", "usr_pct": 50.0, "sys_pct": 0.0},
            {"command": "java", "user": None, "usr_pct": 60.0, "sys_pct": 0.0},
            {"command": "a-client-with-a", "usr_pct": 90.0},
            {"command": "kswapd0", "usr_pct": 90.0, "rss_bytes": 0},
            {"command": "unknown", "usr_pct": None, "sys_pct": None},
        ],
    )
)


def test_clients_and_kernel_threads_and_the_database_are_no_other_processs() -> None:
    assert set(CASE.other_processes["command"]) == {"gzip", "java", "unknown"}


def test_consumers_are_added_up_by_command() -> None:
    first, second = consumers(CASE.other_processes, pl.col("cpu_s"))
    assert (first.command, first.processes, first.pid, first.amount) == ("gzip", 2, 5001, 16.0)
    assert first.name == "gzip (pid 5001 and 1 more, user root)"
    assert second.name == "java (pid 5002, user unknown)"
