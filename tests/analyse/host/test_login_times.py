"""Logins that take long, by what a probe timed."""

from datetime import UTC, datetime, timedelta
from typing import Any

from doctord.analyse.host.login_times import slow_logins
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def login(second: int, way: str = "local", **parts_s: float) -> list[dict[str, Any]]:
    row = {"ts": START + timedelta(seconds=second), "interval_s": 10.0, "host": "a", "db": "postgresql:1"}
    row |= {"gt_us": 1.0, "le_us": None, "count": 1}
    return [
        row | {"subject": f"login {way}: {part.replace('_', ' ')}", "waited_us": seconds * 1e6}
        for part, seconds in parts_s.items()
    ]


def of(*logins: list[dict[str, Any]]) -> Dataset:
    return Dataset.from_rows(latency=[row for each in logins for row in each])


def test_the_parts_are_those_of_the_slow_ones() -> None:
    quick = [login(second, first_answer=0.01, authentication=0.01) for second in range(0, 100, 10)]
    [slow] = slow_logins(of(*quick, login(100, first_answer=0.2, authentication=1.0), login(110, first_answer=1.0)))
    assert (slow.db, slow.way, slow.logins, slow.slow) == ("postgresql:1", "local", 12, 2)
    assert slow.parts == {"first answer": 0.6, "authentication": 1.0}
    assert slow.seconds == 1.6


def test_parts_that_are_slow_together_count() -> None:
    [slow] = slow_logins(of(login(0, first_answer=0.3, authentication=0.3)))
    assert slow.slow == 1


def test_ways_are_parted_and_the_slowest_is_first() -> None:
    logins = [login(0, first_answer=0.6), login(0, "network", TCP_connect=1.0, first_answer=0.1)]
    assert [each.way for each in slow_logins(of(*logins))] == ["network", "local"]


def test_quick_logins_and_other_latencies_are_nothing() -> None:
    other = [row | {"subject": "vda"} for row in login(0, first_answer=9.0)]
    assert slow_logins(of(login(0, first_answer=0.4), other)) == []
    assert slow_logins(Dataset({})) == []
