import pytest

from doctord.analyse.study.runs import OVER_LIMIT, TOTAL, pairs, runs
from doctord.dataset.dataset import Dataset


def timed(*rows: tuple[str, str | None, float]) -> Dataset:
    return Dataset.from_rows(timing=[{"run": run, "step": step, "duration_s": took} for run, step, took in rows])


def test_lines_of_a_table_are_runs_with_their_steps() -> None:
    first, second = runs(timed(("old", None, 100.0), ("new", None, 60.0), ("new", "load", 20.0)))
    assert (first.name, second.name) == ("old", "new")
    assert [measure.key for measure in first.measures] == [TOTAL]
    assert second.measures[0].samples.value == 60.0


def test_the_least_and_the_most_are_two_readings_of_one_step() -> None:
    found = runs(
        timed(
            *(("a", end, took) for end, took in (("elapsed_min", 30.0), ("elapsed_max", 32.0))),
            ("b", "elapsed_min", 24.0),
        )
    )
    (measure,) = found[0].measures
    assert (measure.key.name, measure.samples.value, measure.samples.rows) == ("elapsed", 31.0, 2)


def test_requests_over_a_limit_are_scaled_to_a_day() -> None:
    rows = [("a", 17.25, 24), ("b", 23.0, 29)]
    told = [{"run": run, "duration_s": hours * 3600, "over_limit": over} for run, hours, over in rows]
    found = [run.measures[0] for run in runs(Dataset.from_rows(timing=told))]
    assert [measure.key for measure in found] == [OVER_LIMIT, OVER_LIMIT]
    assert [measure.samples.value for measure in found] == [
        pytest.approx(33.39, abs=0.01),
        pytest.approx(30.26, abs=0.01),
    ]


def test_shares_of_classes_are_told_as_what_took_longer() -> None:
    shares = {"<3 s": (90.0, 99.0), "3-5 s": (7.0, 1.0), ">5 s": (3.0, 0.0)}
    rows = [
        {"component": "workload", "entity": entity, "name": name, "value": value, "unit": "pct"}
        for entity, values in shares.items()
        for name, value in zip(("good_case", "tuned"), values, strict=True)
    ]
    found = runs(Dataset.from_rows(statistic=rows))
    assert [run.name for run in found] == ["good case", "tuned"]
    assert [measure.samples.value for measure in found[0].measures] == [10.0, 3.0]


def test_runs_are_held_against_the_first_and_the_one_before_if_one_factor_differs() -> None:
    found = runs(timed(("cold, v1", None, 1.0), ("warm, v1", None, 2.0), ("cold, v2", None, 3.0)))
    assert [(one.name, other.name) for one, other in pairs(found)] == [
        ("cold, v1", "warm, v1"),
        ("cold, v1", "cold, v2"),
    ]


def test_one_run_is_no_table_of_runs() -> None:
    assert runs(timed(("a", None, 1.0))) == []
