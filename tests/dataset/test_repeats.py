"""Rows that tell again what others told."""

from datetime import UTC, datetime

import polars as pl
import pytest

from doctord.dataset import repeats
from doctord.dataset.dataset import Dataset
from doctord.dataset.repeats import without_repeats

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def cpu(**values: object) -> pl.DataFrame:
    return Dataset.from_rows(cpu=[{"ts": NOON, "interval_s": 600.0, "host": "a"} | values]).frame("cpu")


def kept(*parts: pl.DataFrame) -> list[int]:
    return [part.height for part in without_repeats("cpu", parts)]


def test_a_file_twice() -> None:
    assert kept(cpu(usr_pct=1.0), cpu(usr_pct=1.0)) == [1, 0]


def test_the_same_seen_by_another_tool() -> None:
    assert kept(cpu(usr_pct=1.0, interval_s=600.0), cpu(usr_pct=1.04, interval_s=600.4)) == [1, 0]


def test_another_host_cpu_or_length_is_something_else() -> None:
    assert kept(cpu(usr_pct=1.0), cpu(usr_pct=1.0, host="b"), cpu(usr_pct=1.0, cpu=0)) == [1, 1, 1]
    assert kept(cpu(usr_pct=1.0), cpu(usr_pct=1.0, interval_s=3600.0)) == [1, 1]


def test_what_adds_a_column_is_kept() -> None:
    assert kept(cpu(usr_pct=1.0), cpu(run_queue=3.0), cpu(usr_pct=1.0, run_queue=3.0)) == [1, 1, 1]


def test_equal_rows_of_one_file_are_kept() -> None:
    double = pl.concat([cpu(usr_pct=1.0)] * 2)
    assert kept(double, cpu(usr_pct=1.0)) == [2, 0]


def test_events_are_told_apart_by_all_that_they_tell() -> None:
    events = [
        Dataset.from_rows(event=[{"ts": NOON, "host": "a", "kind": "error", "subject": "x", "text": text}]).frame(
            "event"
        )
        for text in ("one", "two", "one")
    ]
    assert [part.height for part in without_repeats("event", events)] == [1, 1, 0]


def test_a_file_that_was_kept_before_waits_had_kinds() -> None:
    row = {"ts": NOON, "interval_s": 600.0, "host": "a", "db": "oracle:A", "event": "log file sync", "waits_per_s": 3.0}
    before, now = (Dataset.from_rows(wait=[row | {"wait_kind": kind}]).frame("wait") for kind in (None, "log sync"))
    assert [part.height for part in without_repeats("wait", [before, now])] == [1, 0]


def test_each_of_many_parts_is_held_once_against_all_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, without = list[int](), repeats._without

    def counting(table: str, part: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
        compared.append(earlier.height)
        return without(table, part, earlier)

    monkeypatch.setattr(repeats, "_without", counting)
    of_one_host = [cpu(usr_pct=float(number)) for number in range(50)]
    assert [part.height for part in without_repeats("cpu", of_one_host)] == [1] + [0] * 49
    assert compared == [1] * 49
    of_fifty = [cpu(host=f"db{number}", usr_pct=1.0) for number in range(50)]
    assert [part.height for part in without_repeats("cpu", of_fifty)] == [1] * 50
    assert compared == [1] * 49
