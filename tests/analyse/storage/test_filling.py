"""File systems that become fuller at each look."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from doctord.analyse.storage.filling import filling
from doctord.dataset.dataset import Dataset

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
MIB = 2**20


def looks(*left_mib: float, every_s: float = 5.0, **columns: Any) -> Dataset:
    """A file system of a gigabyte of which so much was left at each look."""
    row = {"host": "a", "mount": "/data", "device": "/dev/vdb", "size_bytes": 1024 * MIB, **columns}
    return Dataset.from_rows(
        filesystem=[
            row | {"ts": START + timedelta(seconds=every_s * number), "used_bytes": int((1024 - left) * MIB)}
            for number, left in enumerate(left_mib)
        ]
    )


def test_the_rate_of_all_looks_together() -> None:
    (one,) = filling(looks(330, 300, 290, 240))
    assert (one.mount, one.device, one.looks, one.over_s) == ("/data", "/dev/vdb", 4, 15.0)
    assert one.per_s == pytest.approx(6 * MIB)
    assert one.seconds == pytest.approx(40.0)


def test_what_was_given_back_before_does_not_stop_it() -> None:
    (one,) = filling(looks(700, 650, 900, 900, 600, 300, 100))
    assert (one.looks, one.over_s, one.left) == (4, 15.0, 100 * MIB)
    assert one.per_s == pytest.approx(800 / 15 * MIB)


@pytest.mark.parametrize(
    "left_mib", [(300, 200), (300, 250, 260, 200), (300, 250, 250, 200), (200, 250, 300), (300,)],
    ids=["two looks", "something was given back", "it paused", "it empties", "one look"],
)  # fmt: skip
def test_what_does_not_become_fuller_at_each_look(left_mib: tuple[float, ...]) -> None:
    assert not filling(looks(*left_mib))


def test_the_one_that_is_full_first_comes_first() -> None:
    slow, fast = looks(300, 290, 280), looks(300, 200, 100, mount="/log")
    assert [one.mount for one in filling(Dataset.joined([slow, fast]))] == ["/log", "/data"]
