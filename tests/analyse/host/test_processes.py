"""Who used the host."""

from diagnose.hosts import host
from doctord.analyse.host.processes import processes

DATASET = host(
    sessions=[],
    other_processes=[
        {"command": "gzip", "user": "root", "usr_pct": 30.0 + share, "sys_pct": 0.1} for share in range(9)
    ],
)


def test_the_same_rows_give_the_same_sums_to_the_last_digit() -> None:
    first = processes(DATASET)
    assert all(processes(DATASET).equals(first) for _ in range(50))
