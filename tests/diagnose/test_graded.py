"""Severity by how much service is lost at all."""

from dataclasses import replace

import pytest

from diagnose.hosts import host
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Claim, at_most
from doctord.diagnose.graded import by_lost_service

LOCKS = Claim("locks", impact=0.9, confidence=0.9, for_=())


def busy(sessions: float) -> Case:
    return Case(host(time={("Application", "relation"): sessions}))


@pytest.mark.parametrize(
    ("sessions", "severity"), [(0.14, "warning"), (0.54, "warning"), (0.56, "critical"), (5.0, "critical")]
)
def test_most_of_hardly_any_time_is_a_warning(sessions: float, severity: str) -> None:
    assert by_lost_service(busy(sessions), LOCKS).graded == severity


@pytest.mark.parametrize(
    "claim",
    [
        replace(LOCKS, severity="critical"),
        replace(LOCKS, severity="note"),
        replace(LOCKS, impact=0.2),
        replace(LOCKS, impact=at_most(0.9), time_of="listener"),
    ],
    ids=["it grades itself", "a note", "a warning", "another's time"],
)
def test_all_else_stays_as_it_is(claim: Claim) -> None:
    assert by_lost_service(busy(0.14), claim) == claim
