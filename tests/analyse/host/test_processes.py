"""Who used the host."""

import pytest

from diagnose.hosts import host
from doctord.analyse.host.processes import owners, processes

DATASET = host(
    sessions=[],
    other_processes=[
        {"command": "gzip", "user": "root", "usr_pct": 30.0 + share, "sys_pct": 0.1} for share in range(9)
    ],
)


def test_the_same_rows_give_the_same_sums_to_the_last_digit() -> None:
    first = processes(DATASET)
    assert all(processes(DATASET).equals(first) for _ in range(50))


def test_sums_by_user_and_by_unit() -> None:
    batch = {"command": "gzip", "user": "backup", "unit": "backup.service", "usr_pct": 40.0, "rss_bytes": 1000}
    used = processes(host(seconds=10, other_processes=[batch, batch | {"usr_pct": 10.0}, {"unit": None, "user": None}]))
    by_unit = owners(used, "unit").to_dicts()
    assert [(row["owner"], row["processes"], row["rss_bytes"]) for row in by_unit] == [("backup.service", 2, 2000)]
    assert by_unit[0]["cpu_s"] == pytest.approx(5.02)
    assert [row["owner"] for row in owners(used, "user").to_dicts()] == ["backup", "postgres"]
