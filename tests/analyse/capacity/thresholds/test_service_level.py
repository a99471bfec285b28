"""Service levels, scaled from what was measured."""

import csv
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.capacity.thresholds.service_level import (
    Judged,
    ServiceLevel,
    judged,
    poisson_limits,
    service_level_of,
)
from doctord.dataset.dataset import Dataset
from doctord.errors import UserError
from shared import CASEBOOK, needs_casebook

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
THIRTY = ServiceLevel("slow", most_per_24h=30)


def timing(hours: float, over: int | None, run: str = "day", at: float = 0.0, **columns: Any) -> dict[str, Any]:
    """A run of so many hours that began so many hours after midnight."""
    known = {"host": "a", "run": run, "duration_s": hours * 3600, "over_limit": over}
    return {"ts": MIDNIGHT + timedelta(hours=at + hours)} | known | columns


def judge(level: ServiceLevel, *rows: dict[str, Any]) -> list[Judged]:
    return list(judged([level], Dataset.from_rows(timing=list(rows))))


@needs_casebook
def test_the_casebook_consolidation() -> None:
    with (CASEBOOK / "consolidation" / "timeouts.csv").open(encoding="utf-8") as file:
        cases = list(csv.DictReader(file))
    rows = [timing(float(one["measurement_hours"]), int(one["requests_over_60s"]), one["case"]) for one in cases]
    found = {one.subject: one for one in judge(THIRTY, *rows)}
    assert {case for case, one in found.items() if one.is_violated} == {"problem case", "after tuning 1"}
    assert {case: round(one.value, 1) for case, one in found.items()} == {
        "good case": 13.0, "problem case": 30.3, "after tuning 1": 33.4, "after tuning 2": 0.0,
    }  # fmt: skip


@needs_casebook
def test_the_casebook_response_classes() -> None:
    with (CASEBOOK / "consolidation" / "response_classes.csv").open(encoding="utf-8") as file:
        classes = list(csv.DictReader(file))
    edges = [0.0, 3.0, 5.0, 10.0, 60.0, None]
    level = ServiceLevel("minutes", table="latency", slower_than_s=60.0, most_pct=0.2)
    verdicts = {}
    for case in ("good_case_pct", "problem_case_pct", "after_tuning_1_pct", "after_tuning_2_pct"):
        counts = [round(100 * float(one[case])) for one in classes]
        (one,) = judged([level], buckets(*zip(edges, edges[1:], counts, strict=False)))
        verdicts[case] = one.is_violated
    assert list(verdicts.values()) == [False, True, True, False]


@pytest.mark.parametrize(
    ("hours", "over", "is_violated"), [(17.25, 24, True), (23, 29, True), (24, 13, False), (48, 0, False)]
)
def test_counts_are_scaled_to_24_hours(hours: float, over: int, *, is_violated: bool) -> None:
    (one,) = judge(THIRTY, timing(hours, over))
    assert one.is_violated is is_violated
    assert one.value == pytest.approx(over * 24 / hours)
    assert one.scaling == f"{over} in {hours:g} h, scaled by 24 / {hours:g}"


def test_thirty_in_a_day_are_good_and_chance_is_told() -> None:
    (one,) = judge(THIRTY, timing(24, 30))
    assert one.is_violated is False
    assert one.low == pytest.approx(20.2, abs=0.1)
    assert one.high == pytest.approx(42.8, abs=0.1)


def test_no_occurrence_does_not_mean_there_can_be_none() -> None:
    assert poisson_limits(0) == pytest.approx((0.0, 3.7), abs=0.1)


def test_runs_that_overlap_count_their_time_once() -> None:
    (one,) = judge(THIRTY, timing(6, 5), timing(6, 5, at=3), timing(3, 1, at=20))
    assert one.measured_s == 12 * 3600
    assert one.slow == 11


def test_steps_of_a_run_are_not_counted_beside_the_run() -> None:
    whole, first, second = timing(2, 3), timing(1, 1, step="R"), timing(1, 2, step="D", at=1)
    assert [one.slow for one in judge(THIRTY, whole, first, second)] == [3]
    assert [(one.slow, one.measured_s) for one in judge(THIRTY, first, second)] == [(3, 7200.0)]


def test_each_run_is_judged_and_a_pattern_chooses() -> None:
    rows = [timing(24, 31, "nightly batch"), timing(24, 1, "day")]
    assert [one.is_violated for one in judge(THIRTY, *rows)] == [False, True]
    assert [one.subject for one in judge(ServiceLevel("slow", of="night*", most_per_24h=30), *rows)] == [
        "nightly batch"
    ]


def test_what_nobody_counted_is_not_judged() -> None:
    assert judge(THIRTY, timing(24, None)) == []
    assert judge(ServiceLevel("share", most_pct=1.0), timing(24, 3)) == []


def test_a_share_is_of_the_requests() -> None:
    (one,) = judge(ServiceLevel("share", most_pct=0.25), timing(24, 30, requests=10_000))
    assert (one.is_violated, one.value, one.scaling) == (True, pytest.approx(0.3), "30 of 10000 requests")


def buckets(*counts: tuple[Any, float | None, int]) -> Dataset:
    rows = [
        {"ts": MIDNIGHT + timedelta(hours=12), "interval_s": 43_200.0, "host": "a", "subject": "answer"}
        | {"gt_us": 1e6 * low, "le_us": None if high is None else 1e6 * high, "count": count}
        for low, high, count in counts
    ]
    return Dataset.from_rows(latency=rows)


def test_classes_of_response_time_are_counted_from_buckets() -> None:
    classes = buckets((0, 3, 9179), (3, 5, 274), (5, 10, 274), (10, 60, 258), (60, None, 16))
    of_minutes = ServiceLevel("minutes", table="latency", slower_than_s=60.0, most_per_24h=30)
    of_seconds = ServiceLevel("seconds", table="latency", slower_than_s=3.0, most_pct=10.0)
    one, other = judged([of_minutes, of_seconds], classes)
    assert (one.slow, one.value, one.is_violated) == (16, 32.0, True)
    assert (other.slow, other.requests, other.is_violated) == (822, 10_001, False)


def test_a_bucket_that_holds_the_limit_leaves_it_open() -> None:
    classes = buckets((0, 50, 900), (50, 100, 20), (100, None, 5))
    (one,) = judged([ServiceLevel("minutes", table="latency", slower_than_s=60.0, most_per_24h=30)], classes)
    assert (one.slow, one.slow_most, one.is_violated) == (5, 25, None)


GOOD = {"name": "slow", "of": "day*", "most_per_24h": 30}


def test_a_level_says_what_it_is() -> None:
    level = service_level_of(GOOD | {"table": "latency", "slower_than": "60s", "plan": {"text": "call"}}, "my.toml")
    assert (level.slower_than_s, level.most_per_24h, level.plan.text) == (60.0, 30, "call")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "without 'name'"),
        ({"most": 3}, "there is no key 'most'"),
        ({"most_per_24h": "30"}, "most_per_24h is '30'"),
        ({"most_pct": -1}, "most_pct is -1"),
        ({"table": "wait"}, "table is 'wait'"),
        ({"table": "latency"}, "slower_than does not go with table 'latency'"),
        ({"slower_than": "60s"}, "slower_than does not go with table 'timing'"),
        ({"table": "latency", "slower_than": "long"}, "slower_than: 'long' is no duration"),
        ({"reason": 3}, "reason is 3, no text"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refusal:
        service_level_of(GOOD | change, "my.toml")
    assert message in str(refusal.value)
    assert "my.toml: level" in str(refusal.value)


def test_a_level_without_a_limit_is_refused() -> None:
    with pytest.raises(UserError, match="without a limit"):
        service_level_of({"name": "slow"}, "my.toml")
