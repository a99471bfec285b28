"""Undo of Oracle: failures, and no room."""

import pytest

from diagnose.oracle_hosts import found

TOO_OLD = "v$undostat.ssolderrcnt"


@pytest.mark.parametrize(("failures", "old"), [(0.0, False), (None, False), (3 / 3600, True)])
def test_failures_of_queries(failures: float | None, *, old: bool) -> None:
    assert ("snapshot_too_old" in found(figures={TOO_OLD: failures})) is old


@pytest.mark.parametrize(("longest", "against"), [(3600.0, False), (100.0, True)])
def test_the_longest_query_against_the_retention(longest: float, *, against: bool) -> None:
    figures = {TOO_OLD: 3 / 3600, "v$undostat.max_query_s": longest}
    finding = found(figures=figures, settings={"undo_retention": "900"})["snapshot_too_old"]
    assert bool(finding.against) is against


def test_no_room_explains_the_fight_for_segments() -> None:
    findings = found(figures={"v$undostat.nospaceerrcnt": 2 / 3600}, waits={"enq: US - contention": (1.0, 300.0)})
    assert findings["undo_contention"].explained_by == "undo_out_of_space"
    assert found(figures={"v$undostat.nospaceerrcnt": 0.0}) == {}
