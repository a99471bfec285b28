"""Who fills a file system: open files that grow, deleted ones among them."""

import os
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from doctord.collect.core.mounts import holding, mounts
from doctord.collect.linux.open_files import Look, OpenFiles, fills, is_nearly_full
from postgres_samples import rows_of

MIB = 2**20


def looks(*left_mib: int) -> list[Look]:
    return [Look(2.0 * number, left * MIB, 100 * MIB) for number, left in enumerate(left_mib)]


@pytest.mark.parametrize(
    ("left_mib", "is_filling"),
    [
        ((900, 890, 880), True),
        ((900, 890), False),
        ((900, 900, 880), False),
        ((900, 880, 890), False),
        ((90_000, 89_990, 89_980), False),
    ],
    ids=["it falls", "two looks", "it stood", "it rose", "it lasts for hours"],
)
def test_one_fills_that_loses_room_at_each_look_and_soon_has_none(
    left_mib: tuple[int, ...], *, is_filling: bool
) -> None:
    assert fills(looks(*left_mib)) is is_filling


def test_what_is_nearly_full() -> None:
    assert is_nearly_full(Look(0.0, 5, 95))
    assert not is_nearly_full(Look(0.0, 6, 94))


@pytest.fixture
def falling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """The file system of the test's folder is said to have so much left, in MiB."""
    mount = holding(mounts(), str(tmp_path))
    if mount is None or not mount.source.startswith("/dev"):
        pytest.skip("the folder of the tests is on no device")
    left = [0]

    def told(point: str) -> SimpleNamespace:
        is_ours = Path(point).stat().st_dev == tmp_path.stat().st_dev
        blocks = left[0] + 1000 if is_ours else 0
        return SimpleNamespace(f_blocks=blocks, f_bfree=left[0], f_bavail=left[0], f_frsize=MIB)

    monkeypatch.setattr(os, "statvfs", told)
    return lambda mib: left.__setitem__(0, mib)


def sampled(collector: OpenFiles) -> list[dict[str, Any]]:
    return rows_of("statistic", collector.sample())


def test_a_deleted_file_that_grows_is_named_with_its_process(tmp_path: Path, falling: Callable[[int], None]) -> None:
    path = tmp_path / "spool"
    with closing(OpenFiles()) as collector, path.open("wb", buffering=0) as file:
        path.unlink()
        file.write(bytes(2 * MIB))
        for left in (900, 890):
            falling(left)
            assert [row for row in sampled(collector) if "spool" in row["entity"]] == []
        falling(880)
        first = sampled(collector)
        file.write(bytes(3 * MIB))
        os.fsync(file.fileno())
        time.sleep(0.3)  # that the look took a part of the time that may be taken for it
        falling(870)
        collector._look_from = 0.0
        second = sampled(collector)
    [deleted] = [row for row in first if row["name"] == "open_file.deleted_bytes" and "spool" in row["entity"]]
    assert f"{path} (deleted) by " in deleted["entity"]
    assert f"({os.getpid()})" in deleted["entity"]
    assert 2 * MIB <= deleted["value"] < 3 * MIB
    [grown] = [row for row in second if row["name"] == "open_file.grown_bytes" and "spool" in row["entity"]]
    assert grown["value"] * grown["interval_s"] == pytest.approx(3 * MIB, rel=0.1)


def test_nothing_is_looked_through_where_no_file_system_fills(falling: Callable[[int], None]) -> None:
    falling(900_000)
    with closing(OpenFiles()) as collector:
        assert [sampled(collector) for _ in range(4)] == [[], [], [], []]
