"""Whether more sessions want a CPU than there are."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.case import Case
from doctord.diagnose.common.pool_size import evidence
from doctord.diagnose.common.starved import is_crowded, wanting


@pytest.mark.parametrize(
    ("sessions", "idle_pct", "crowded"),
    [(4.0, 49.0, True), (3.0, 20.0, False), (4.0, 51.0, False), (12.0, None, False)],
    ids=["two for each CPU", "fewer", "most of the CPUs idle", "idle time unknown"],
)
def test_a_crowd_wants_twice_as_many_cpus_as_there_are(
    sessions: float, idle_pct: float | None, *, crowded: bool
) -> None:
    idle = {"idle_pct": idle_pct, "wait_io_pct": 0.0}
    busy = {"usr_pct": 30.0, "sys_pct": 10.0, "run_wait_pct": 60.0}
    case = Case(host(time={("CPU", "CPU"): sessions}, cpu=idle, cpus=2, backend=busy, backends=int(sessions)))
    assert wanting(case) == pytest.approx(sessions)
    assert is_crowded(case) is crowded
    assert bool(evidence(case)) is crowded
