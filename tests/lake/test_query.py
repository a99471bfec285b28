import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.dataset.tables import OLD_NAMES, TABLES
from doctord.lake.place import LakeError, LakePaths
from doctord.lake.query import Lake
from doctord.lake.writer import LakeWriter
from lake_rows import statistic, values

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_an_empty_lake_has_every_table_with_its_columns(path: Path) -> None:
    LakeWriter(path).close()
    lake = Lake(path)
    with lake.connect() as connection:
        for name, table in TABLES.items():
            result = connection.sql(f'SELECT * FROM "{name}"')
            assert result.columns == [column.name for column in table.columns]
            assert result.fetchall() == []
    assert lake.span() is None
    assert lake.problems == []


def test_what_is_fresh_of_a_table_is_that_table_alone(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1, ts=micros(NOON)))
    connection, names = Lake(path).fresh("statistic", set(), sealed=True)
    with connection:
        assert connection.sql("SHOW TABLES").fetchall() == [("statistic",)], "a view takes milliseconds"
        assert connection.sql("SELECT count(*) FROM statistic").fetchall() == [(1,)]
    assert len(names) == 1


def test_no_lake_is_an_error_that_says_how_to_make_one(path: Path) -> None:
    with pytest.raises(LakeError, match="no lake here") as refusal:
        Lake(path)
    assert "doctord record" in refusal.value.hint


def test_a_dataset_holds_what_ended_in_its_half_open_interval(path: Path) -> None:
    with LakeWriter(path) as writer:
        for minute in range(4):
            writer.append(statistic(minute, ts=micros(NOON + timedelta(minutes=minute))))
    dataset = Lake(path).dataset(NOON + timedelta(minutes=1), NOON + timedelta(minutes=3))
    assert dataset.frame("statistic")["value"].to_list() == [2, 3]
    assert dataset.frame("statistic")["ts"][0] == NOON + timedelta(minutes=2)
    assert Lake(path).span() == (NOON, NOON + timedelta(minutes=3))


def test_the_span_is_told_without_a_query(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sealed files say of what time they are; DuckDB would take longer than all else to look."""
    monkeypatch.setattr(Lake, "_viewed", None)
    with LakeWriter(path) as writer:
        writer.append(statistic(1, ts=micros(NOON) + 7))
    assert list(LakePaths(path).parquet())
    with LakeWriter(path) as writer:
        writer.append(rows("event", [{"ts": micros(NOON) - 3, "kind": "recording"}, {"kind": "recording"}]))
        writer.sync()
        assert list(LakePaths(path).segments())
        assert Lake(path).span() == (NOON - timedelta(microseconds=3), NOON + timedelta(microseconds=7))


def test_words_of_an_earlier_vocabulary_are_read_as_those_of_today(path: Path) -> None:
    kinds = ("client backend", "parallel worker", "autovacuum worker", None)
    with LakeWriter(path) as writer:
        writer.append(rows("session", [{"ts": micros(NOON), "sid": at, "kind": kind} for at, kind in enumerate(kinds)]))
        writer.sync()
        unsealed = _kinds(path)
    assert _kinds(path) == unsealed == ["client", *kinds[1:]]


def test_columns_of_an_earlier_vocabulary_are_read_as_those_of_today(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    today = TABLES["disk"]
    columns = tuple(one._replace(name=OLD_NAMES.get(("disk", one.name), one.name)) for one in today.columns)
    with LakeWriter(path) as writer:
        with monkeypatch.context() as before:
            before.setitem(TABLES, "disk", replace(today, columns=columns))
            writer.append(rows("disk", [{"ts": micros(NOON), "device": "sda", "busy_pct": 42.0}]))
        writer.sync()
        unsealed = _busy(path)
    writer = LakeWriter(path)
    writer.append(rows("disk", [{"ts": micros(NOON), "device": "sdb", "util_pct": 43.0}]))
    writer.close()
    assert unsealed == [42.0]
    assert _busy(path) == [42.0, 43.0]


def _busy(path: Path) -> list[float | None]:
    dataset = Lake(path).dataset(NOON - timedelta(hours=1), NOON, {"disk": "util_pct > 1"})
    return dataset.frame("disk").sort("device")["util_pct"].to_list()


def _kinds(path: Path) -> list[str | None]:
    dataset = Lake(path).dataset(NOON - timedelta(hours=1), NOON, {"session": "kind = 'client' OR sid > 0"})
    return dataset.frame("session").sort("sid")["kind"].to_list()


def test_a_dataset_holds_the_settings_in_force(path: Path) -> None:
    now = datetime.now(UTC)
    long_ago = now - timedelta(days=9)
    with LakeWriter(path) as writer:
        for hour, value in enumerate(["4096", "8192"]):
            said = micros(long_ago + timedelta(hours=hour))
            writer.append(
                rows("setting", [{"ts": said, "component": "kernel", "name": "vm.swappiness", "value": value}])
            )
    with LakeWriter(path) as writer:
        writer.append(statistic(1.0, ts=micros(now)))
    dataset = Lake(path).dataset(now - timedelta(hours=1), now)
    assert dataset.frame("setting")["value"].to_list() == ["8192"]
    assert dataset.since == dataset.until, "the interval is that of the other tables"


@pytest.mark.parametrize("condition", ["true", "step IS NOT NULL"], ids=["whole", "by a query"])
def test_a_plan_holds_for_an_hour(path: Path, condition: str) -> None:
    now = datetime.now(UTC)
    with LakeWriter(path) as writer:
        for minutes in (180, 50, -5):
            said = micros(now - timedelta(minutes=minutes))
            writer.append(rows("plan", [{"ts": said, "statement_id": str(minutes), "step": 0, "kind": "Seq Scan"}]))
        writer.append(statistic(1.0, ts=micros(now)))
    dataset = Lake(path).dataset(now - timedelta(minutes=1), now, {"plan": condition, "statistic": "true"})
    assert dataset.frame("plan")["statement_id"].to_list() == ["50"]
    assert dataset.since == dataset.until, "the interval is that of the other tables"


def test_what_an_earlier_recorder_could_not_see_is_told_until_the_next_one_starts(path: Path) -> None:
    start = datetime.now(UTC) - timedelta(hours=10)

    def event(hour: int, kind: str, subject: str) -> Batch:
        return rows("event", [{"ts": micros(start + timedelta(hours=hour)), "kind": kind, "subject": subject}])

    with LakeWriter(path) as writer:
        for told in (event(0, "recording", "lake"), event(1, "not measured", "old"), event(1, "restart", "old")):
            writer.append(told)
        for told in (event(5, "recording", "lake"), event(6, "not measured", "new"), event(8, "restart", "new")):
            writer.append(told)

    def subjects(since: int, until: int) -> list[str]:
        dataset = Lake(path).dataset(start + timedelta(hours=since), start + timedelta(hours=until))
        return dataset.frame("event").sort("ts")["subject"].to_list()

    assert subjects(2, 3) == ["old"]
    assert subjects(7, 9) == ["new", "new"]


def test_settings_alone_are_no_recording(path: Path) -> None:
    now = datetime.now(UTC)
    with LakeWriter(path) as writer:
        writer.append(rows("setting", [{"ts": micros(now), "component": "kernel", "name": "vm.swappiness"}]))
    assert Lake(path).dataset(now, now + timedelta(hours=1)).until is None


def test_now_is_in_utc_like_ts(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
    with Lake(path).connect() as connection:
        recent = "SELECT count(*) FROM statistic WHERE ts BETWEEN now() - INTERVAL 1 MINUTE AND now()"
        assert connection.execute(recent).fetchone() == (1,)


def test_absent_stays_null(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(rows("cpu", [{"ts": micros(NOON), "host": "h", "usr_pct": 0.0}]))
    with Lake(path).connect() as connection:
        assert connection.execute("SELECT usr_pct, sys_pct, cpu FROM cpu").fetchall() == [(0.0, None, None)]


@pytest.mark.parametrize("kept", [0, 3, 20, -1])
def test_a_truncated_parquet_file_costs_itself_only(path: Path, kept: int) -> None:
    with LakeWriter(path, rotate_bytes=1) as writer:
        for value in range(3):
            writer.append(statistic(value))
            writer.sync()
    victim = next(iter(path.glob("sealed/*/*/*.parquet")))
    victim.write_bytes(victim.read_bytes()[:kept])
    lake = Lake(path)
    assert len(values(lake)) == 2
    [problem] = lake.problems
    assert str(victim) in problem
    assert "hint:" in problem


def test_a_parquet_file_with_a_damaged_footer_costs_itself_only(path: Path) -> None:
    with LakeWriter(path, rotate_bytes=1) as writer:
        for value in range(2):
            writer.append(statistic(value))
            writer.sync()
    victim = min(path.glob("sealed/*/*/*.parquet"))
    content = victim.read_bytes()
    victim.write_bytes(content[:-300] + bytes(292) + content[-8:])
    lake = Lake(path)
    assert values(lake) == [1]
    [problem] = lake.problems
    assert str(victim) in problem


def test_foreign_files_are_named_and_skipped(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
    day = next(path.glob("sealed/*/*/"))
    (path / "open" / "notes.segment").write_text("hello")
    (path / "open" / "20261120T100000Z-0000abcd.segment").write_text("#!/bin/sh\n")
    (day / "notes.parquet").write_text("hello")
    lake = Lake(path)
    assert values(lake) == [1]
    assert len(lake.problems) == 3
    assert any("not a segment of doctord" in problem for problem in lake.problems)


def test_an_older_vocabulary_reads_as_null_in_new_columns(path: Path) -> None:
    layout = [column for column in TABLES["statistic"].layout if column[0] != "unit"]
    with LakeWriter(path) as writer:
        batch = statistic(1)
        writer.append(type(batch).from_rows("statistic", layout, [{"ts": 1, "value": 1.0}]))
        writer.sync()
        assert values(path) == [1]
    with Lake(path).connect() as connection:
        assert connection.execute("SELECT value, unit FROM statistic").fetchall() == [(1.0, None)]


def test_a_reader_sees_every_row_once_while_segments_are_sealed(path: Path) -> None:
    synced = 0
    done = threading.Event()

    def write() -> None:
        nonlocal synced
        with LakeWriter(path, rotate_bytes=1) as writer:
            for value in range(40):
                writer.append(statistic(value))
                writer.sync()
                synced = value + 1
        done.set()

    LakeWriter(path).close()
    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        least = synced
        seen = values(path)
        assert seen == list(range(len(seen)))
        assert len(seen) >= least
    writer.join()
    assert values(path) == list(range(40))


def test_a_lake_that_may_only_be_read_is_read(path: Path) -> None:
    with LakeWriter(path) as writer:
        writer.append(statistic(1))
        writer.sync()
        writer.append(statistic(2))
    folders = [path, *(folder for folder in path.rglob("*") if folder.is_dir())]
    for folder in folders:
        folder.chmod(0o550)
    before = sorted(path.rglob("*"))
    try:
        assert values(path) == [1, 2]
        assert sorted(path.rglob("*")) == before
    finally:
        for folder in folders:
            folder.chmod(0o750)
