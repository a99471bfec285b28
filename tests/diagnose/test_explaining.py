"""Which of several claims explains another."""

from typing import Any

import pytest

from doctord.diagnose.engine import findings
from doctord.diagnose.finding import NOT_MEASURED, Claim


def claim(impact: Any = 0.3, confidence: float = 0.9, **more: Any) -> Claim:
    return Claim("", impact=impact, confidence=confidence, for_=(), **more)


def above(*claims: tuple[str, Claim]) -> dict[str, str | None]:
    return {found.cause: found.explained_by for found in findings(claims)}


SATURATED = ("cpu_saturated", claim(0.6))


def test_of_several_the_one_that_holds_most_of_the_time() -> None:
    """The other one is surer, or was graded worse: that makes it no larger part."""
    sure, large = ("missing_index", claim(0.3, 0.95)), ("cpu_few_statements", claim(0.4, 0.6))
    assert above(SATURATED, sure, large)["cpu_saturated"] == "cpu_few_statements"
    graded = ("missing_index", claim(0.3, severity="critical"))
    assert above(SATURATED, graded, large)["cpu_saturated"] == "cpu_few_statements"


@pytest.mark.parametrize(
    ("unmeasured", "explained_by"),
    [(claim(NOT_MEASURED, severity="critical"), "devices_fail"), (claim(NOT_MEASURED, 0.6), "io_by_others")],
    ids=["critical", "a warning"],
)
def test_a_share_that_is_not_known_counts_for_what_its_severity_stands_for(
    unmeasured: Claim, explained_by: str
) -> None:
    claims = [("device_slow", claim(0.5)), ("io_by_others", claim(0.4)), ("devices_fail", unmeasured)]
    assert above(*claims)["device_slow"] == explained_by


@pytest.mark.parametrize(
    ("share", "severity", "is_explained"),
    [(0.06, "warning", False), (0.06, None, False), (0.12, None, True)],
    ids=["its callers are slowed", "a note", "a tenth"],
)
def test_what_takes_little_explains_nothing_much_larger(share: float, severity: Any, *, is_explained: bool) -> None:
    found = above(SATURATED, ("missing_index", claim(share, severity=severity)))
    assert (found["cpu_saturated"] == "missing_index") is is_explained


def test_little_explains_what_is_as_little() -> None:
    small = ("missing_index", claim(0.06, severity="warning"))
    assert above(("statement_dominates", claim(0.08, severity="warning")), small)["statement_dominates"]


def test_what_the_figures_of_a_claim_show_is_shown_of_its_own_server_alone() -> None:
    found = findings(
        [
            ("row_locks", claim(0.5, database="a:1")),
            ("row_locks", claim(0.5, database="b:1")),
            ("deadlocks_reported", claim(0.3, database="a:1", explains=("row_locks",))),
            ("deadlocks_reported", claim(0.3, database="b:1")),
        ]
    )
    told = {one.database: one.explained_by for one in found if one.cause == "row_locks"}
    assert told == {"a:1": "deadlocks_reported", "b:1": None}


def test_a_symptom_stands_below_the_finding_of_its_own_server() -> None:
    found = findings(
        [
            (name, claim(share, database=db))
            for db, shares in (("a:1", (0.5, 0.6)), ("b:1", (0.4, 0.3)))
            for name, share in zip(("idle_in_transaction_blocker", "row_locks"), shares, strict=True)
        ]
    )
    assert [(one.cause, one.database) for one in found] == [
        ("idle_in_transaction_blocker", "a:1"),
        ("row_locks", "a:1"),
        ("idle_in_transaction_blocker", "b:1"),
        ("row_locks", "b:1"),
    ]


@pytest.mark.parametrize(
    ("mine", "its", "is_explained"),
    [(["/wal"], ["/wal"], True), (["/wal"], ["/home"], False), ([], ["/home"], True), (["/wal"], [], True)],
    ids=["the same", "another one", "which it explains is not known", "which it is, is not known"],
)
def test_one_object_explains_nothing_of_another(mine: list[str], its: list[str], *, is_explained: bool) -> None:
    slot = ("slot_keeps_wal", claim(NOT_MEASURED, objects=mine, explains=("filesystem_full",)))
    full = ("filesystem_full", claim(NOT_MEASURED, objects=its))
    assert above(slot, full)["filesystem_full"] == ("slot_keeps_wal" if is_explained else None)


def test_of_a_circle_the_worst_is_told_and_none_is_lost() -> None:
    found = findings(
        [
            ("deadlocks_reported", claim(0.5, explains=("row_locks",))),
            ("row_locks", claim(0.3, explains=("deadlocks_reported",))),
        ]
    )
    assert [(one.cause, one.explained_by) for one in found] == [
        ("deadlocks_reported", None),
        ("row_locks", "deadlocks_reported"),
    ]
