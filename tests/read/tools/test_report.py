"""Where reports are put in time, and which of them count."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from doctord.dataset.dataset import Dataset
from doctord.read.source import ReadOptions, SourceFile, opened
from doctord.read.tools.report import SINCE_BOOT_AGAIN, SINCE_BOOT_ALONE, SINCE_BOOT_LEFT_OUT, Report, placed
from doctord.read.tools.tool import block, tool_of

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def source(tmp_path: Path) -> SourceFile:
    file = tmp_path / "file"
    file.write_text("x")
    with opened(file) as opened_source:
        return opened_source


def report(**told: object) -> Report:
    made = Report(1, **told)  # type: ignore[arg-type]
    made.row("cpu", {"usr_pct": 5.0}, cpu=None)
    return made


def placed_at(reports: list[Report], source: SourceFile, **told: object) -> list[tuple[datetime, float | None]]:
    rows = Dataset.from_batches(placed(reports, source, **told)).frame("cpu")  # type: ignore[arg-type]
    return rows.select("ts", "interval_s").rows()


def test_reports_that_say_their_time_cover_the_time_since_the_one_before(source: SourceFile) -> None:
    times = [NOON, NOON + timedelta(seconds=5), NOON + timedelta(seconds=15)]
    found = placed_at([report(at=at) for at in times], source)
    assert found == list(zip(times, (None, 5.0, 10.0), strict=True))


def test_since_boot_counts_only_alone(source: SourceFile) -> None:
    later = NOON + timedelta(seconds=5)
    assert placed_at([report(at=NOON, since_boot=True), report(at=later)], source) == [(later, 5.0)]
    assert source.notes == [SINCE_BOOT_LEFT_OUT]
    assert placed_at([report(at=NOON, since_boot=True)], source) == [(NOON, None)]
    assert SINCE_BOOT_ALONE in source.notes


def test_reports_since_boot_again_and_again_are_set_aside(source: SourceFile) -> None:
    runs = [report(at=at, since_boot=True) for at in (NOON, NOON + timedelta(hours=1))]
    runs[0].row("cpu", {"run_queue": 3.0}, cpu=None)
    runs[1].row("disk", {"util_pct": 90.0, "queue": 4.0}, device="sda")
    runs[1].statistic("kernel", "vmstat.re", 7.0, "per_s", kind="rate")
    found = Dataset.from_batches(placed(runs, source))
    assert found.frame("disk").is_empty()
    assert found.frame("cpu").select("ts", "usr_pct", "run_queue").rows() == [(NOON, None, 3.0)], "ready at that moment"
    assert found.frame("statistic").select("name", "entity", "value", "unit", "kind").rows() == [
        ("since_boot.cpu.usr_pct", None, 5.0, "pct", "gauge"),
        ("since_boot.cpu.usr_pct", None, 5.0, "pct", "gauge"),
        ("since_boot.disk.queue", "sda", 4.0, "count", "gauge"),
        ("since_boot.disk.util_pct", "sda", 90.0, "pct", "gauge"),
        ("since_boot.vmstat.re", None, 7.0, "per_s", "gauge"),
    ]
    assert found.frame("event")["kind"].to_list() == ["not measured"]
    assert source.notes[-1] == SINCE_BOOT_AGAIN


def test_reports_without_a_time_end_when_the_file_was_written(source: SourceFile) -> None:
    (first, no_interval), (second, _) = placed_at([report(), report()], source)
    assert (second, second - first, no_interval) == (source.modified, timedelta(seconds=1), None)


def test_every_tells_how_far_apart(source: SourceFile) -> None:
    source.options = ReadOptions(every_s=30.0)
    (first, interval_s), (second, _) = placed_at([report(), report()], source)
    assert (second - first, interval_s) == (timedelta(seconds=30), 30.0)


def test_a_text_that_tells_only_its_day_begins_at_midnight(source: SourceFile) -> None:
    found = placed_at([report(day=date(2021, 11, 30)), report()], source)
    assert [ts for ts, _ in found] == [datetime(2021, 11, 30, 0, 0, second, tzinfo=UTC) for second in (0, 1)]


def test_a_count_becomes_a_rate_where_the_interval_is_known(source: SourceFile) -> None:
    counted = report(at=NOON, interval_s=4.0)
    counted.counted("process", "icsw_per_s", 20.0, pid=7)
    (row,) = Dataset.from_batches(placed([counted], source)).frame("process").to_dicts()
    assert (row["pid"], row["icsw_per_s"]) == (7, 5.0)
    unknown = report(at=NOON)
    unknown.counted("process", "icsw_per_s", 20.0, pid=7)
    (row,) = Dataset.from_batches(placed([unknown], source)).frame("process").to_dicts()
    assert row["icsw_per_s"] is None


def test_a_piece_of_an_archive_is_put_at_its_stamp(source: SourceFile) -> None:
    text = """procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 2  0      0 1000 20 300    0    0     1     3   29   57  0  0 99  0  0
 5  0      0 1000 20 300    0    0     1     3   29   57 10  5 85  0  0
 7  0      0 1000 20 300    0    0     1     3   29   57 20  5 75  0  0
"""
    tool = tool_of(text)
    assert tool is not None
    lines = list(enumerate(text.splitlines(), 41))
    rows = Dataset.from_batches(block(tool, lines, source, NOON, every_s=1.0)).frame("cpu")
    assert rows.select("ts", "interval_s", "run_queue").rows() == [
        (NOON + timedelta(seconds=1), 1.0, 5.0),
        (NOON + timedelta(seconds=2), 1.0, 7.0),
    ]
