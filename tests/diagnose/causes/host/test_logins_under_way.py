"""`logins_slow` by what the kernel shows of backends that are not in yet, beside what only looks like it."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

NO_REQUEST, IN_AUTHENTICATION, STARTUP = "no request read", "authentication", "startup"


def slow(
    phase: str = NO_REQUEST,
    *,
    per_s: float = 2.0,
    takes_s: float = 5.0,
    place: str | None = None,
    asked: str | None = None,
    sessions_per_s: float | None = 2.0,
) -> list[dict[str, Any]]:
    """Rows of every second of a server at which so many logins a second take that long."""
    about = {"component": "postgresql", "db": DB}
    figures: list[tuple[str, str | None, float | None]] = [
        ("logins.under_way", None, per_s * takes_s),
        ("logins.oldest_s", None, takes_s),
        ("logins.slow", phase, per_s),
        ("logins.slow_in", place, per_s if place else None),
        ("logins.slow_asking", asked, per_s if asked else None),
        ("pg_stat_database.sessions", "bench", sessions_per_s),
    ]
    return [
        about | {"name": name, "entity": entity, "value": value} for name, entity, value in figures if value is not None
    ]


def of(rows: list[dict[str, Any]], *, settings: dict[str, str] | None = None, **more: Any) -> Dataset:
    return host(extra={"statistic": rows, **more}, settings=settings or {})


def found(dataset: Dataset) -> Finding | None:
    return next((one for one in diagnose(dataset).findings if one.cause == "logins_slow"), None)


def evidence(finding: Finding) -> str:
    return " | ".join(said(one.figure) for one in finding.for_)


OWN_LOGIN = [
    {"db": DB, "subject": f"login local: {part}", "gt_us": 1.0, "le_us": None, "count": 1, "waited_us": 2e3}
    for part in ("first answer", "authentication", "first query")
]


def test_a_name_server_that_does_not_answer() -> None:
    rows = slow(place="do_poll", asked="name server 192.0.2.53")
    finding = found(of(rows, settings={"log_hostname": "on"}, latency=OWN_LOGIN))
    assert finding is not None
    assert said(finding.title) == "40 logins take up to 5.00 s: the server looks up the name of each client first"
    assert (finding.severity, finding.confidence, finding.database) == ("warning", 0.9, DB)
    told = evidence(finding)
    for figure in ("about 5.00 s each", "40 asked name server 192.0.2.53", "log_hostname = on", "40 asleep in do_poll"):
        assert figure in told
    assert said(finding.remedy[0]).startswith("log_hostname = off")
    assert [said(one.figure) for one in finding.against] == ["our own login takes 6.0 ms"]
    assert not finding.not_measured


def test_without_rights_the_setting_says_it() -> None:
    finding = found(of(slow(), settings={"log_hostname": "on"}))
    assert finding is not None
    assert "looks up the name" in said(finding.title)
    assert [said(one.what) for one in finding.not_measured] == ["what these backends wait for"]


def test_an_authentication_server_that_is_slow() -> None:
    rows = slow(IN_AUTHENTICATION, place="do_poll", asked="LDAP server 192.0.2.7")
    finding = found(of(rows, settings={"hba.asks": "line 3: ldap"}))
    assert finding is not None
    assert said(finding.title).endswith("authentication asks LDAP server 192.0.2.7")
    assert "pg_hba.conf, line 3: ldap" in evidence(finding)


def test_rules_that_were_not_shown_are_said() -> None:
    finding = found(of(slow(IN_AUTHENTICATION, place="do_select")))
    assert finding is not None
    assert said(finding.title).endswith("5.00 s: authentication")
    assert [said(one.what) for one in finding.not_measured] == ["authentication methods"]


def test_what_the_log_says_of_it_is_told() -> None:
    message = "WARNING 01000 could not connect to RADIUS server"
    rows = [*slow(IN_AUTHENTICATION), {"component": "postgresql", "db": DB, "name": "log.errors", "entity": message,
                                       "value": 0.5, "kind": "rate"}]  # fmt: skip
    finding = found(of(rows))
    assert finding is not None
    assert "10 messages in the log" in evidence(finding)


@pytest.mark.parametrize(("phase", "setting"), [(NO_REQUEST, "pre_auth_delay"), (STARTUP, "post_auth_delay")])
def test_a_setting_that_has_each_login_wait(phase: str, setting: str) -> None:
    finding = found(of(slow(phase, place="hrtimer_nanosleep"), settings={setting: "3"}))
    assert finding is not None
    assert f"{setting} = 3" in evidence(finding)
    assert finding.severity == "warning"


def test_a_slow_first_answer_of_our_own_is_evidence_of_the_same() -> None:
    ours = {"db": DB, "gt_us": 1.0, "le_us": None, "count": 1}
    latency = [ours | {"subject": "login network: first answer", "waited_us": 4e6}]
    findings = diagnose(of(slow(), settings={"log_hostname": "on"}, latency=latency)).findings
    [finding] = [one for one in findings if one.cause == "logins_slow"]
    assert "4.00 s for the server's first answer" in evidence(finding)


@pytest.mark.parametrize(
    "dataset",
    [
        of(slow(place="ep_poll"), settings={"log_hostname": "on"}),
        of(slow(), settings={"log_hostname": "off", "pre_auth_delay": "0"}),
    ],
    ids=["by the kernel", "nothing else is done then"],
)
def test_clients_that_say_nothing_are_a_note(dataset: Dataset) -> None:
    finding = found(dataset)
    assert finding is not None
    assert said(finding.title).endswith("their clients say nothing")
    assert finding.severity == "note"
    assert diagnose(dataset).healthy is not False


@pytest.mark.parametrize(
    "rows",
    [
        slow(per_s=0.05, sessions_per_s=None),
        slow(per_s=0.5, sessions_per_s=100.0),
        slow(per_s=2.0, sessions_per_s=400.0),
        [{"component": "postgresql", "db": DB, "name": "logins.under_way", "value": 3.0}],
    ],
    ids=["a single one", "a few of very many", "many of very many", "quick ones under way, as in a churn"],
)
def test_look_alikes_are_silent(rows: list[dict[str, Any]]) -> None:
    assert found(of(rows, settings={"log_hostname": "on"})) is None


@pytest.mark.parametrize(("place", "is_explained"), [("do_poll", False), (None, True)])
def test_full_cpus_do_not_explain_who_sleeps(place: str | None, *, is_explained: bool) -> None:
    full = {"idle_pct": 0.1, "usr_pct": 90.0, "run_queue": 12.0, "pressure_some_pct": 90.0}
    busy = [{"command": "stress", "usr_pct": 170.0, "run_wait_pct": 60.0}]
    backend = {"usr_pct": 5.0, "sys_pct": 1.0, "run_wait_pct": 80.0}
    extra = {"statistic": slow(place=place)}
    dataset = host(cpu=full, backend=backend, other_processes=busy, extra=extra, settings={"log_hostname": "on"})
    finding = found(dataset)
    assert finding is not None
    assert (finding.explained_by is not None) is is_explained
