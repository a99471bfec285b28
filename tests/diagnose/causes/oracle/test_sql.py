"""Sessions and network of Oracle."""

import pytest

from diagnose.oracle_hosts import HEALTHY_CPU_S_PER_S, found
from doctord.report.phrases import said


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ("SQL*Net more data to client", "large_results"),
        ("SQL*Net message from dblink", "database_links"),
        ("SQL*Net break/reset to client", "calls_fail"),
        ("PX Deq: Slave Session Stats", "parallel_servers_short"),
    ],
)
def test_what_comes_with_calls(event: str, cause: str) -> None:
    assert set(found(waits={event: (100.0, 3.0)})) == {cause}
    assert found(waits={event: (10.0, 3.0)}) == {}


@pytest.mark.parametrize(("logons", "against"), [(30.0, False), (0.1, True)])
def test_logons(logons: float, *, against: bool) -> None:
    line = "v$sys_time_model.connection management call elapsed time"
    finding = found(figures={line: HEALTHY_CPU_S_PER_S / 4, "v$sysstat.logons cumulative": logons})["connection_churn"]
    assert bool(finding.against) is against
    assert "connection_churn" not in found(figures={line: 0.001, "v$sysstat.logons cumulative": 30.0})


def test_many_logons_that_no_time_model_weighs_have_an_unknown_impact() -> None:
    finding = found(figures={"v$sysstat.logons cumulative": 30.0})["connection_churn"]
    assert finding.impact.known == "not_measured"
    assert any("pool of fixed size" in said(step) for step in finding.remedy)
    assert "connection_churn" not in found(figures={"v$sysstat.logons cumulative": 5.0})


@pytest.mark.parametrize(("down", "short"), [(0.0001, False), (0.05, False), (0.5, True)])
def test_parallel_operations_that_were_downgraded(down: float, *, short: bool) -> None:
    figures = {
        "v$sysstat.Parallel operations not downgraded": 1.0,
        "v$sysstat.Parallel operations downgraded to serial": down,
    }
    assert ("parallel_servers_short" in found(figures=figures)) is short
