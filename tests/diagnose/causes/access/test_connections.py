"""Connections that run out."""

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SETTINGS = {"max_connections": "100", "superuser_reserved_connections": "3"}


@pytest.mark.parametrize(("used", "near"), [(50.0, False), (87.0, False), (88.0, True), (97.0, True)])
def test_the_limit_comes_near(used: float, *, near: bool) -> None:
    gauges = {(None, "pg_stat_activity.connections"): used, (None, "pg_stat_activity.connections_idle"): used * 0.8}
    found = diagnose(host(postgres=gauges, settings=SETTINGS)).findings
    assert ([finding.cause for finding in found] == ["connections_near_limit"]) is near
    assert all(finding.against for finding in found)


PLACES = SETTINGS | {
    "autovacuum_max_workers": "3", "max_wal_senders": "10", "max_worker_processes": "8", "authentication_timeout": "60",
    "server_version_num": "150004",
}  # fmt: skip


def unfinished(count: float, phase: str = "no request read", place: str = "ep_poll") -> dict[tuple[str, str], float]:
    """Logins of a monitor that says nothing, at a time, as the kernel shows them."""
    who = f"{phase} from 192.0.2.7"
    return {
        (who, "logins.held"): count, (who, "logins.held_s"): 40.0, (phase, "logins.slow"): count / 20,
        (place, "logins.slow_in"): count / 20,
    }  # fmt: skip


def seen(figures: dict[tuple[str, str], float], settings: dict[str, str], **more: float) -> dict[str, Finding]:
    rates = {key: value for key, value in figures.items() if key[1].startswith("logins.slow")}
    gauges = {key: value for key, value in figures.items() if key not in rates}
    about = {"component": "postgresql", "db": DB, "kind": "rate"}
    rows = [about | {"entity": entity, "name": name, "value": value} for (entity, name), value in rates.items()]
    own: dict[tuple[str | None, str], float] = {(None, name): value for name, value in more.items()}
    dataset = host(postgres={**own, **gauges}, settings=settings, extra={"statistic": rows})
    return {one.cause: one for one in diagnose(dataset).findings}


def of(figures: dict[tuple[str, str], float], settings: dict[str, str], **more: float) -> Finding | None:
    return seen(figures, settings, **more).get("connections_near_limit")


def test_refused_clients_and_logins_that_are_never_finished() -> None:
    finding = of(unfinished(112.0), PLACES, **{"log.connections_refused": 2.0})
    assert finding is not None
    assert finding.severity == "warning"
    title = f"No connection to {DB} was left: 40 clients were refused: 112 clients connect and never finish logging in"
    assert said(finding.title) == f"{title}, 112 of them from 192.0.2.7"
    told = " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in finding.for_)
    assert "112 logins at a time from 192.0.2.7: no request read: the oldest after 40.00 s" in told
    assert "112 of 244 places" in told
    assert "authentication_timeout = 60 s" in told
    assert any("firewall" in said(step) for step in finding.remedy)
    assert not any("pool them" in said(step) for step in finding.remedy)


def test_that_their_logins_are_slow_is_a_part_of_it() -> None:
    findings = seen(unfinished(112.0), PLACES, **{"log.connections_refused": 2.0})
    assert findings["logins_slow"].explained_by == "connections_near_limit"
    alone = seen(unfinished(8.0), PLACES)
    assert (alone["logins_slow"].severity, alone["logins_slow"].explained_by) == ("note", None)


@pytest.mark.parametrize(
    ("figures", "used", "near"),
    [
        (unfinished(90.0, "authentication"), 5.0, True),
        (unfinished(90.0), 5.0, False),
        (unfinished(215.0), 5.0, True),
        (unfinished(90.0, "authentication", "do_poll"), 5.0, False),
        (unfinished(40.0, "authentication"), 5.0, False),
    ],
    ids=["their request is read", "it is not", "as many as there are places", "the server asks somebody", "half"],
)
def test_places_that_unfinished_logins_hold(figures: dict[tuple[str, str], float], used: float, *, near: bool) -> None:
    finding = of(figures, PLACES, **{"pg_stat_activity.connections": used})
    assert (finding is not None) is near
    if finding:
        assert said(finding.title).startswith(f"Almost no connection to {DB} is left: ")


def test_from_version_18_on_there_are_fewer_places() -> None:
    finding = of(unfinished(200.0), PLACES | {"server_version_num": "180001"}, **{"pg_stat_activity.connections": 5.0})
    assert finding is not None
    assert "200 of 220 places" in [said(item.figure) for item in finding.for_]


def test_without_the_limit_nothing_is_said() -> None:
    assert diagnose(host(postgres={(None, "pg_stat_activity.connections"): 5000.0})).healthy


FULL = "FATAL 53300 sorry, too many clients already"


@pytest.mark.parametrize(
    ("others", "explained_by"), [([], "connections_near_limit"), (["ERROR 22012 division by zero"], None)]
)
def test_the_logs_errors_are_a_symptom_where_they_are_refused_connections_alone(
    others: list[str], explained_by: str | None
) -> None:
    figures: dict[tuple[str | None, str], float] = {(name, "log.errors"): 2.0 for name in [FULL, *others]}
    findings = diagnose(host(postgres={**figures, (None, "log.connections_refused"): 2.0})).findings
    by_cause = {finding.cause: finding for finding in findings}
    assert by_cause["errors_logged"].explained_by == explained_by
