"""Parsing in Oracle: cursors not shared, not kept, or fought for."""

import pytest

from diagnose.oracle_hosts import found

HARD = "v$sys_time_model.hard parse elapsed time"
FULL = {"idle_pct": 2.0, "wait_io_pct": 0.0}


@pytest.mark.parametrize(("time", "count", "hard"), [(0.05, 100.0, False), (0.5, 400.0, True), (0.5, 2.0, True)])
def test_hard_parsing(time: float, count: float, *, hard: bool) -> None:
    findings = found(figures={HARD: time, "v$sysstat.parse count (hard)": count})
    assert ("hard_parsing" in findings) is hard
    if hard:
        assert bool(findings["hard_parsing"].against) is (count < 20)


def test_hard_parsing_that_was_not_measured_is_not_said() -> None:
    assert found(figures={HARD: None, "v$sysstat.parse count (hard)": 400.0}) == {}


def test_hard_parsing_explains_the_fight_for_the_library_cache() -> None:
    findings = found(
        waits={"library cache: mutex X": (50.0, 5.0), "cursor: pin S wait on X": (20.0, 20.0)},
        figures={HARD: 0.8, "v$sysstat.parse count (hard)": 400.0},
    )
    assert findings["library_cache_contention"].explained_by == "hard_parsing"


@pytest.mark.parametrize(("parses", "frequent"), [(900.0, False), (1900.0, True)])
def test_a_parse_for_every_execution(parses: float, *, frequent: bool) -> None:
    figures = {"v$sys_time_model.parse time elapsed": 0.3, "v$sysstat.parse count (total)": parses}
    assert ("parse_calls_frequent" in found(figures=figures)) is frequent


@pytest.mark.parametrize(
    ("event", "cause"),
    [
        ("library cache lock", "library_cache_contention"),
        ("library cache: mutex X", "library_cache_contention"),
        ("cursor: mutex S", "cursor_contention"),
        ("cursor: pin S", "cursor_contention"),
    ],
)
def test_contention_is_less_sure_without_a_free_cpu(event: str, cause: str) -> None:
    idle, full = found(waits={event: (100.0, 4.0)})[cause], found(waits={event: (100.0, 4.0)}, host=FULL)[cause]
    assert not idle.against
    assert full.against
    assert full.confidence < idle.confidence
