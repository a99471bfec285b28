"""Connections of MySQL and MariaDB that are aborted."""

import pytest

from diagnose.mysql_servers import found, mysql
from doctord.report.phrases import said

ABORTED, BEGUN = "global_status.aborted_clients", "global_status.connections"


@pytest.mark.parametrize(
    ("aborted", "begun", "severity"),
    [(20.0, 20.0, "note"), (5.0, 20.0, "note"), (1.0, 20.0, None), (0.2, 0.2, None)],
    ids=["each", "a quarter", "now and then", "fewer than ten"],
)
def test_how_many_of_those_that_began(aborted: float, begun: float, severity: str | None) -> None:
    finding = found(mysql(rates={ABORTED: aborted, BEGUN: begun})).get("sessions_end_badly")
    assert (finding.severity if finding else None) == severity


def test_where_each_is_aborted_init_connect_is_what_each_runs() -> None:
    dataset = mysql(rates={ABORTED: 20.0, BEGUN: 20.0}, settings={"init_connect": "(set, not shown)"})
    finding = found(dataset)["sessions_end_badly"]
    assert "init_connect" in said(finding.title)
    assert finding.severity == "critical"
    some = mysql(rates={ABORTED: 5.0, BEGUN: 20.0}, settings={"init_connect": "(set, not shown)"})
    assert "init_connect" not in said(found(some)["sessions_end_badly"].title)
