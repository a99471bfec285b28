"""Findings are ranked by damage, and symptoms stand below their cause."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.diagnose.case import Case
from doctord.diagnose.cause import CAUSES, HEADINGS, cause
from doctord.diagnose.engine import diagnose, findings
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Impact
from doctord.report.phrases import said

NAMES = Path(__file__).with_name("cause_names.txt")


def claimed(name: str, impact: float | None, confidence: float = 0.9) -> tuple[str, Claim]:
    return name, Claim(name, impact=NONE_YET if impact is None else impact, confidence=confidence, for_=())


def order(*claims: tuple[str, Claim]) -> list[str]:
    return [found.cause for found in findings(claims)]


def test_most_damage_first_and_what_costs_no_time_last() -> None:
    assert order(claimed("bloat", None), claimed("row_locks", 0.2), claimed("sort_spill", 0.6)) == [
        "sort_spill",
        "row_locks",
        "bloat",
    ]


def test_a_symptom_stands_below_its_cause_however_large_it_is() -> None:
    found = order(claimed("row_locks", 0.9), claimed("sort_spill", 0.6), claimed("idle_in_transaction_blocker", 0.7))
    assert found == ["idle_in_transaction_blocker", "row_locks", "sort_spill"]


@pytest.mark.parametrize(("impact", "is_first"), [(NOT_MEASURED, True), (NONE_YET, False), (0.1, False)])
def test_a_cause_whose_damage_nobody_measured_is_as_bad_as_what_it_explains(
    impact: Impact | float, *, is_first: bool
) -> None:
    holder = replace(claimed("idle_in_transaction_blocker", 0.6)[1], impact=impact, severity="critical")
    claims = [claimed("row_locks", 0.9), claimed("sort_spill", 0.6), ("idle_in_transaction_blocker", holder)]
    found = order(*[(name, replace(claim, severity="critical")) for name, claim in claims])
    assert (found[0] == "idle_in_transaction_blocker") is is_first
    assert found.index("row_locks") == found.index("idle_in_transaction_blocker") + 1


@pytest.mark.parametrize(
    ("of_cause", "of_symptom", "explained_by"),
    [
        ("postgresql:1", "postgresql:1", "idle_in_transaction_blocker"),
        ("postgresql:2", "postgresql:1", None),
        (None, "postgresql:1", "idle_in_transaction_blocker"),
        ("postgresql:2", None, "idle_in_transaction_blocker"),
    ],
    ids=["the same server", "another one", "of the host", "whose, is not known"],
)
def test_what_is_wrong_with_one_server_explains_nothing_of_another(
    of_cause: str | None, of_symptom: str | None, explained_by: str | None
) -> None:
    cause_of, symptom = claimed("idle_in_transaction_blocker", 0.7)[1], claimed("row_locks", 0.9)[1]
    claims = [
        ("row_locks", replace(symptom, database=of_symptom)),
        ("idle_in_transaction_blocker", replace(cause_of, database=of_cause)),
    ]
    assert {one.cause: one.explained_by for one in findings(claims)}["row_locks"] == explained_by
    measured = {"row_locks": "idle_in_transaction_blocker"}
    assert {one.cause: one.explained_by for one in findings(claims, measured=measured)}["row_locks"] == explained_by


def test_of_two_servers_each_has_its_own_cause() -> None:
    lock, idle = claimed("row_locks", 0.9)[1], claimed("idle_in_transaction_blocker", 0.7)[1]
    found = findings(
        [
            ("row_locks", replace(lock, database="a:1")),
            ("row_locks", replace(lock, database="b:1")),
            ("idle_in_transaction_blocker", replace(idle, database="b:1")),
        ]
    )
    assert {one.database: one.explained_by for one in found if one.cause == "row_locks"} == {
        "a:1": None,
        "b:1": "idle_in_transaction_blocker",
    }
    assert len(found) == 3


def test_a_symptom_alone_is_a_finding_of_its_own() -> None:
    assert findings([claimed("row_locks", 0.9)])[0].explained_by is None


def test_no_two_causes_explain_each_other_in_a_circle() -> None:
    def reaches(name: str, seen: tuple[str, ...]) -> None:
        assert name not in seen, f"{' explains '.join((*seen, name))}"
        for symptom in CAUSES[name].explains:
            reaches(symptom, (*seen, name))

    for name in CAUSES:
        reaches(name, ())


def test_the_name_of_a_cause_never_changes() -> None:
    own = {known.name for known in CAUSES.values() if known.examine.__module__.startswith("doctord.")}
    assert sorted(own) == NAMES.read_text().split(), "alerts and reports of before have these names: add, rename none"


def test_every_cause_is_documented_under_every_heading() -> None:
    for known in CAUSES.values():
        assert known.summary.endswith(".")
        assert tuple(known.sections) == HEADINGS
        assert all(len(text) > 10 for text in known.sections.values()), known.name


def test_a_cause_without_its_headings_is_refused() -> None:
    def undocumented(_case: Case) -> Iterator[Claim]:
        """Only a summary."""
        yield from ()

    with pytest.raises(TypeError, match="undocumented: its docstring needs the headings"):
        cause()(undocumented)


def test_an_empty_dataset_gives_no_finding_and_claims_no_time() -> None:
    diagnosis = diagnose(Dataset())
    assert not diagnosis.findings
    assert diagnosis.health == "not_judged"
    assert diagnosis.since is None
    assert diagnosis.time == ()


def test_what_could_not_be_seen_is_said_once() -> None:
    not_measured = {
        "ts": datetime(2026, 11, 20, tzinfo=UTC),
        "host": "a",
        "kind": "not measured",
        "subject": "taskstats",
        "text": "no right to read it",
        "hint": "grant CAP_NET_ADMIN",
    }
    diagnosis = diagnose(Dataset.from_rows(event=[not_measured, not_measured]))
    assert [(said(item.what), said(item.grant)) for item in diagnosis.not_measured] == [
        ("taskstats", "grant CAP_NET_ADMIN")
    ]
    assert diagnosis.host == "a"
