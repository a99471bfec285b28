"""Sums kept for years."""

import errno
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from doctord.dataset.buckets import percentiles
from doctord.dataset.dataset import Dataset
from doctord.dataset.figure import Figure
from doctord.dataset.rows import rows
from doctord.lake import rollups
from doctord.lake.history import History
from doctord.lake.imports import keep
from doctord.lake.place import LakeError, LakePaths
from doctord.lake.query import Lake
from doctord.lake.repair import repair
from doctord.lake.rollup_files import read_index, read_periods, write_index
from doctord.lake.rollups import expire, renew
from doctord.lake.verify import verify
from doctord.lake.writer import LakeWriter

pytestmark = pytest.mark.slow

MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
READS = Figure("reads", "reads", "storage", "disk", "reads_per_s", "per_s", each=("device",))
FIGURES = [READS]


def disk(path: Path, *minutes: tuple[float, float | None]) -> Lake:
    """A lake with more rows in it: minutes after midnight, and reads per second in the ten before."""
    told = [
        {
            "ts": MIDNIGHT + timedelta(minutes=at),
            "interval_s": 600.0,
            "host": "a",
            "device": "vda",
            "reads_per_s": value,
        }
        for at, value in minutes
    ]
    keep(path, Dataset.from_rows(disk=told).tables)
    return Lake(path)


def told(lake: Lake, name: str = "value", days: int = 1) -> list[float]:
    found = History(lake, FIGURES).steps(MIDNIGHT, MIDNIGHT + timedelta(days=days), (name,)).sums[name]
    return [value for value in found.ravel().tolist() if not np.isnan(value)]


def share(path: Path, rollup: str, share: float) -> float:
    """A percentile of the one step of a rollup."""
    ((_, part),) = read_periods(path, read_index(path), rollup, MIDNIGHT, MIDNIGHT + timedelta(days=1))
    (found,) = percentiles(part, "series", {"share": share})["share"]
    return float(found)


def without_rows(lake: Lake) -> None:
    """As retention leaves a lake."""
    for sealed in lake.path.glob("sealed/*/*/*.parquet"):
        sealed.unlink()


def test_sums_stay_when_the_rows_go(path: Path) -> None:
    lake = disk(path, (10, 1.0), (60, 3.0), (70, 5.0), (80, None))
    before = [told(lake, name) for name in ("value", "low", "high", "last")]
    assert before == [[2.0, 5.0], [1.0, 5.0], [3.0, 5.0], [3.0, 5.0]]
    assert renew(lake, FIGURES) == 2
    without_rows(lake)
    assert [told(lake, name) for name in ("value", "low", "high", "last")] == before
    assert History(lake, FIGURES).until == MIDNIGHT + timedelta(hours=2)


def test_each_row_counts_once_however_often_they_are_renewed(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    assert [renew(lake, FIGURES), renew(lake, FIGURES)] == [1, 0]
    disk(path, (20, 4.0))
    assert told(lake) == [2.5]  # of the rollups, and of what is not in them
    renew(lake, FIGURES)
    assert told(lake) == [2.5]


def test_rows_for_a_past_day_join_its_sums_though_its_other_rows_are_gone(path: Path) -> None:
    lake = disk(path, (10, 1.0), (20, 1.0), (1500, 8.0))
    renew(lake, FIGURES)
    without_rows(lake)
    disk(path, (30, 4.0))
    renew(lake, FIGURES)
    assert told(lake, days=2) == [2.0, 8.0]
    assert told(lake, "high", days=2) == [4.0, 8.0]


def test_what_is_still_written_to_is_told_but_not_kept(path: Path) -> None:
    row = {"ts": int(MIDNIGHT.timestamp() * 1e6), "host": "a", "device": "vda", "reads_per_s": 7.0}
    with LakeWriter(path) as writer:
        writer.append(rows("disk", [row]))
        writer.sync()
        lake = Lake(path)
        assert renew(lake, FIGURES) == 0
        found = History(lake, FIGURES).steps(MIDNIGHT - timedelta(hours=1), MIDNIGHT, ("value",))
        assert found.sums["value"].tolist() == [[7.0]]


def test_percentiles_are_right_to_one_percent(path: Path) -> None:
    values = np.random.default_rng(1).lognormal(3, 1, 140)
    lake = disk(path, *((minute, value) for minute, value in zip(range(1, 141), values, strict=True)))
    renew(lake, FIGURES)
    assert share(path, "1d", 0.9) == pytest.approx(np.quantile(values, 0.9, method="inverted_cdf"), rel=0.01)


@pytest.mark.parametrize("value", [-3.0, 0.0, 1e-9, 0.7, 1e15])
def test_any_number_has_its_bucket(path: Path, value: float) -> None:
    lake = disk(path, (10, value))
    renew(lake, FIGURES)
    assert share(path, "1d", 0.5) == pytest.approx(value, rel=0.01)


def test_infinity_is_no_measurement(path: Path) -> None:
    lake = disk(path, (10, float("inf")), (20, float("nan")), (30, 2.0))
    assert told(lake) == [2.0]


def test_another_definition_is_another_figure(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    doubled = [Figure("reads", "reads", "storage", "disk", "2 * reads_per_s", "per_s", each=("device",))]
    assert renew(lake, doubled) == 1
    found = History(lake, doubled).steps(MIDNIGHT, MIDNIGHT + timedelta(hours=1), ("value",))
    assert found.sums["value"].tolist() == [[2.0]]
    assert told(lake) == [1.0]


def test_a_crash_leaves_what_was_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    disk(path, (20, 4.0))

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rollups, "write_index", killed)
        with pytest.raises(KeyboardInterrupt):
            renew(lake, FIGURES)
    assert told(lake) == [2.5]
    renew(lake, FIGURES)
    assert told(lake) == [2.5]


def test_old_files_go(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    disk(path, (20, 4.0))
    renew(lake, FIGURES)
    assert len(list(path.glob("rollups/1h/*"))) == len(list(path.glob("rollups/1d/*"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"series": 7, "files": {}, "taken": {}, "names": {}}',
        '{"series": [], "files": {"1m": [], "1h": 1, "1h-buckets": {}, "1d": {}}, "taken": {}, "names": {}}',
        '{"series": [[1, 2]], "files": {"1m": {}, "1h": {}, "1h-buckets": {}, "1d": {}}, "taken": {}, "names": {}}',
        '{"series": [], "files": {"1m": {}, "1h": {"2026-11": "../../cpu"}, "1h-buckets": {}, "1d": {}},'
        ' "taken": {}, "names": {}}',
    ],
)
def test_a_damaged_index_is_said_and_costs_no_sums(path: Path, caplog: pytest.LogCaptureFixture, text: str) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    before = told(lake)
    sums = sorted(file.relative_to(path) for file in path.glob("rollups/*/*"))
    (path / "rollups" / "rollups.json").write_text(text, encoding="utf-8")
    assert told(lake) == before, "of the rows that there are"
    assert "rollups.json: damaged" in caplog.text
    renew(lake, FIGURES)
    assert told(lake) == before
    assert sorted(file.relative_to(path / "set_aside") for file in path.glob("set_aside/rollups/*/*")) == sums


def test_a_lake_of_before_keeps_its_sums_where_they_are(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    (path / "rollups" / "rollups.json").rename(path / "rollups" / "tiers.json")
    (path / "rollups").rename(path / "tiers")
    without_rows(lake)
    assert told(lake) == [1.0]
    disk(path, (20, 4.0))
    renew(lake, FIGURES)
    assert told(lake) == [2.5]
    assert not (path / "rollups").exists()
    assert not verify(LakePaths(path)).flaws


def test_an_index_that_is_gone_costs_no_sums(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    (path / "rollups" / "rollups.json").unlink()
    renew(lake, FIGURES)
    assert len(list(path.glob("set_aside/rollups/1h/*"))) == 1


@pytest.mark.parametrize("damaged", [b"PAR1", None])
def test_a_damaged_month_is_said_and_summing_up_goes_on(
    path: Path, caplog: pytest.LogCaptureFixture, damaged: bytes | None
) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    file = next(path.glob("rollups/1h/*"))
    content = bytearray(file.read_bytes())
    content[40] ^= 1
    file.write_bytes(content if damaged is None else damaged)
    assert told(lake) == []
    assert f"{file}: damaged" in caplog.text
    renew(disk(path, (20, 4.0)), FIGURES)
    assert told(lake) != [], "what came since"
    assert (path / "set_aside" / file.relative_to(path)).exists()


def test_after_a_damaged_month_was_repaired_all_goes_on(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    file = next(path.glob("rollups/1h/*"))
    file.write_bytes(b"PAR1")
    assert [deed for _, deed in repair(LakePaths(path), verify(LakePaths(path)).flaws) if "sums are missing" in deed]
    assert verify(LakePaths(path)).flaws == []
    assert told(lake) == []
    renew(disk(path, (20, 4.0)), FIGURES)
    assert told(lake) != []


def test_a_month_that_is_gone_stops_no_summing_up(path: Path) -> None:
    renew(disk(path, (10, 1.0)), FIGURES)
    next(path.glob("rollups/1h/*")).unlink()
    lake = disk(path, (20, 4.0))
    renew(lake, FIGURES)
    assert told(lake) != []


def test_sums_can_be_read_by_anything_that_reads_parquet(path: Path) -> None:
    renew(disk(path, (10, 1.0)), FIGURES)
    frame = pl.read_parquet(path / "rollups" / "1h" / "*.parquet")
    assert frame.columns == ["series", "ts", "count", "weight", "value", "low", "high", "last"]


def test_a_figure_that_cannot_be_reckoned_is_said(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    text = Figure("text", "text", "storage", "disk", "device", "")
    with pytest.raises(LakeError, match="figure 'text'"):
        History(lake, [text])


def test_minutes_go_when_they_are_old_and_no_row_is_left_and_hours_stay(path: Path) -> None:
    lake = disk(path, (10, 1.0), (20, 4.0))
    renew(lake, FIGURES)
    expire(path, timedelta(0))
    assert len(list(path.glob("rollups/1m/*"))) == 1, "rows of that day are still there"
    without_rows(lake)
    for day in path.glob("sealed/*/*/"):
        day.rmdir()
    expire(path, timedelta(days=36_500))
    assert len(list(path.glob("rollups/1m/*"))) == 1, "they are young"
    expire(path, timedelta(0))
    assert [len(list(path.glob(f"rollups/{rollup}/*"))) for rollup in ("1m", "1h-buckets", "1h", "1d")] == [0, 0, 1, 1]
    assert told(lake) == [2.5]


def test_minutes_add_up_to_steps_of_five(path: Path) -> None:
    lake = disk(path, (10, 1.0), (11, 5.0), (12, 4.0), (1440, 8.0))
    renew(lake, FIGURES)
    disk(path, (14, 9.0))
    steps = History(lake, FIGURES).steps(MIDNIGHT, MIDNIGHT + timedelta(days=1), ("value", "low", "high", "last"), 300)
    found = {name: sums[0][[1, 2, -1]].tolist() for name, sums in steps.sums.items()}
    assert found == {
        "value": [1.0, 6.0, 8.0],
        "low": [1.0, 4.0, 8.0],
        "high": [1.0, 9.0, 8.0],
        "last": [1.0, 9.0, 8.0],
    }
    assert steps.start == MIDNIGHT + timedelta(minutes=5)


def test_what_a_crash_left_behind_goes(path: Path) -> None:
    lake = disk(path, (10, 1.0))
    renew(lake, FIGURES)
    (path / "rollups" / "1h" / "2026-11-00000000.parquet").write_bytes(b"half of a month")
    disk(path, (20, 4.0))
    renew(lake, FIGURES)
    assert len(list(path.glob("rollups/1h/*"))) == 1


def test_many_files_are_summed_up_by_portions(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for minute in (10, 20, 70):
        lake = disk(path, (float(minute), float(minute)))
    monkeypatch.setattr(rollups, "PORTION_BYTES", 1)
    assert renew(lake, FIGURES) == 3  # the first hour twice, for its rows came in two portions
    assert renew(lake, FIGURES) == 0
    without_rows(lake)
    assert (told(lake), told(lake, "last")) == ([15.0, 70.0], [20.0, 70.0])
    assert share(path, "1d", 0.99) == pytest.approx(70.0, 0.01)


def test_portions_that_came_before_one_that_fails_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for minute in (10, 70):
        lake = disk(path, (float(minute), float(minute)))
    monkeypatch.setattr(rollups, "PORTION_BYTES", 1)
    times = list[int]()

    def failing(*arguments: Any) -> None:
        times.append(1)
        if len(times) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_index(*arguments)

    with monkeypatch.context() as full:
        full.setattr(rollups, "write_index", failing)
        with pytest.raises(LakeError, match="No space left"):
            renew(lake, FIGURES)
    assert [len(names) for names in read_index(path).taken.values()] == [1]
    assert told(lake) == [10.0, 70.0]
    assert renew(lake, FIGURES) == 1
    assert told(lake) == [10.0, 70.0]
