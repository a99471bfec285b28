"""What of the time findings explain: by the waits and statements that their evidence names."""

import pytest

from diagnose.hosts import host
from diagnose.oracle_hosts import oracle_host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.engine import diagnose
from doctord.diagnose.explained import explained_share, named
from doctord.diagnose.finding import Claim, Evidence, TimeShare


def claim(table: str, where: str, impact: float = 0.5, *, explains_waits: bool = True) -> Claim:
    evidence = Evidence(table, where, "", "", "")
    return Claim("", impact=impact, confidence=0.9, for_=[evidence], explains_waits=explains_waits)


def part(event: str, kind: str = "other", wait_class: str = "Other", share: float = 0.5) -> TimeShare:
    return TimeShare(wait_class, event, share, share, kind)


@pytest.mark.parametrize(
    ("table", "where", "explains"),
    [
        ("session", "event in ('tuple', 'transactionid')", True),
        ("wait", "event = 'tuple'", True),
        ("wait", "event like 'tup%'", True),
        ("session", "wait_kind = 'row lock'", True),
        ("session", "wait_class in ('Commit', 'Application')", True),
        ("session", "blocker_sid = 17", False),
        ("session", "event = 'SyncRep'", False),
        ("statistic", "name = 'tuple'", False),
        ("wait", "event = 'tuple' and kind = 'background'", False),
    ],
)
def test_a_wait_is_explained_by_evidence_that_names_it(table: str, where: str, *, explains: bool) -> None:
    told = named([("latches_held_long", claim(table, where))])
    assert told.explains(part("tuple", "row lock", "Application")) is explains


def test_that_a_class_grew_explains_nothing_of_it() -> None:
    assert not named([("time_grew", claim("wait", "wait_class = 'Other'"))]).explains(part("tuple"))


def test_disks_that_are_not_the_databases_explain_none_of_its_waits() -> None:
    told = named([("device_slow", claim("session", "wait_class = 'User I/O'", explains_waits=False))])
    assert not told.explains(part("DataFileRead", "single read", "User I/O"))


def test_a_cause_of_cpu_time_declares_it() -> None:
    told = named([("cpu_saturated", claim("cpu", "cpu is null"))])
    assert told.explains(part("run queue", "run queue", "Scheduler"))
    assert not told.explains(part("tuple", "row lock", "Application"))


def share(dataset: Dataset, *claims: tuple[str, Claim]) -> float | None:
    case = Case(dataset)
    case.claims = list(claims)
    return explained_share(case)


TIME = {("Application", "tuple"): 2.0, ("CPU", "CPU"): 1.0, ("Commit", "WALSync"): 1.0}


def test_the_share_is_of_the_waits_that_are_named() -> None:
    dataset = host(time=TIME)
    assert share(dataset, ("row_locks", claim("session", "event = 'tuple'"))) == pytest.approx(0.5)
    both = ("row_locks", claim("session", "event = 'tuple'")), ("commits_slow", claim("session", "event = 'WALSync'"))
    assert share(dataset, *both) == pytest.approx(0.75)
    assert share(dataset, ("filesystem_full", claim("filesystem", "mount = '/'"))) == 0.0


def test_a_statements_time_is_explained_by_a_finding_about_it() -> None:
    sessions = [{"statement_id": "17", "wait_class": "CPU", "event": "CPU"}]
    dataset = host(time=TIME, sessions=sessions)
    of_statement = ("missing_index", claim("statement", "statement_id = '17'"))
    assert share(dataset, of_statement) == pytest.approx(0.2)
    assert share(dataset, of_statement, ("row_locks", claim("session", "event = 'tuple'"))) == pytest.approx(0.6)


def test_of_counted_waits_a_statement_has_its_own_share() -> None:
    dataset = oracle_host(waits={"log file sync": (100.0, 10.0)})
    of_statement = ("statement_dominates", claim("statement", "statement_id = 'abc'", 0.4))
    assert share(dataset, of_statement) == pytest.approx(0.4)


def test_nothing_is_said_without_a_finding_nor_without_the_databases_time() -> None:
    assert share(host()) is None
    assert diagnose(host()).explained is None
    assert share(host(without=["session"]), ("row_locks", claim("session", "event = 'tuple'"))) is None


def test_that_nobody_explains_a_wait_is_no_explanation() -> None:
    found = diagnose(host(time={("Concurrency", "LockManager"): 4.0, ("CPU", "CPU"): 1.0}))
    assert [finding.cause for finding in found.findings] == ["other_waits"]
    assert found.explained is None
