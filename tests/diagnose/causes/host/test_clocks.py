"""Clocks that differ: a server's, this host's, and what only looks like it."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

STANDBY = "postgresql:5433"


def look(db: str, offset_s: float, round_trip_s: float = 0.001, *, here: bool = False) -> list[dict[str, Any]]:
    about = {"component": "postgresql", "db": db, "kind": "gauge"}
    figures = {"clock.offset_s": offset_s, "clock.round_trip_s": round_trip_s, "clock.is_of_this_host": float(here)}
    return [about | {"name": name, "value": value} for name, value in figures.items()]


def found(*looks: list[dict[str, Any]], **changes: Any) -> list[Finding]:
    rows = [row for each in looks for row in each]
    return [
        one for one in diagnose(host(extra={"statistic": rows}, **changes)).findings if one.cause == "clock_differs"
    ]


def test_a_server_an_hour_ahead_of_its_own_host() -> None:
    (finding,) = diagnose(host(extra={"statistic": look(DB, 3600.0, here=True)})).findings
    assert said(finding.title) == f"The clock of {DB} is 1 h ahead of its host"
    assert (finding.severity, finding.database) == ("critical", DB)
    assert "libfaketime" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("offset_s", "round_trip_s", "severity"),
    [
        (0.9, 0.001, None),
        (1.1, 0.001, "warning"),
        (-29.0, 0.001, "warning"),
        (-31.0, 0.001, "critical"),
        (1.9, 0.2, None),
        (2.1, 0.2, "warning"),
    ],
    ids=["leap smear", "more than that", "half a minute", "refused", "a slow way", "more than the way explains"],
)
def test_by_size_and_by_the_way_of_the_question(offset_s: float, round_trip_s: float, severity: str | None) -> None:
    severities = [finding.severity for finding in found(look(DB, offset_s, round_trip_s))]
    assert severities == ([severity] if severity else [])


def test_a_clock_that_nobody_asked_is_silent() -> None:
    assert found() == []


def test_the_other_servers_tell_which_clock_is_wrong() -> None:
    (finding,) = found(look(DB, 0.002), look(STANDBY, -120.0))
    assert finding.database == STANDBY
    assert "behind this host" in said(finding.title)
    assert any("agrees with this host's" in said(item.why) for item in finding.for_)


def test_a_standby_beside_its_primary() -> None:
    standby = {"component": "postgresql", "db": STANDBY, "name": "pg_is_in_recovery", "value": 1.0, "kind": "gauge"}
    (finding,) = found(look(DB, 0.002), look(STANDBY, -120.0), [standby])
    assert any("its lag in seconds is wrong by as much" in said(item.why) for item in finding.for_)


def test_where_all_servers_agree_it_is_this_host() -> None:
    unkept = [{"component": "kernel", "name": "clock.unsynchronised", "value": 1.0, "kind": "gauge"}]
    (finding,) = found(look(DB, 40.0), look(STANDBY, 40.2), unkept)
    assert said(finding.title) == "The clock of this host is 40.2 s behind that of all 2 servers"
    assert any("adjtimex" in said(item.figure) for item in finding.for_)


def test_a_host_whose_clock_nobody_keeps_speaks_against_the_server() -> None:
    unkept = [{"component": "kernel", "name": "clock.unsynchronised", "value": 1.0, "kind": "gauge"}]
    (finding,) = found(look(DB, 40.0), unkept)
    assert any("adjtimex" in said(item.figure) for item in finding.against)
    assert found(unkept) == []


def test_a_clock_that_was_set_right_is_a_note() -> None:
    dataset = host(extra={"statistic": look(DB, 0.001)})
    off = host(extra={"statistic": look(DB, 90.0)}, seconds=2, without=("cpu", "process"))
    both = type(dataset).from_rows(
        **{name: [*off.frame(name).to_dicts(), *dataset.frame(name).to_dicts()[12:]] for name in ("statistic",)}
    )
    (finding,) = [one for one in diagnose(both).findings if one.cause == "clock_differs"]
    assert (finding.severity, said(finding.title)) == ("note", f"The clock of {DB} was 1 min 30 s ahead of this host")
    assert finding.against
