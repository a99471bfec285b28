"""Every wait event of PostgreSQL 13 to 18 has a paragraph: what it is, what it usually means, what to collect."""

import csv
from pathlib import Path

import pytest

from doctord.dataset.waits.advice import advice
from doctord.dataset.waits.events import VENDORS, find, wait_events
from doctord.dataset.waits.kinds import KINDS
from doctord.dataset.waits.postgres import wait_events as of_postgresql

LIST = Path(__file__).with_name("postgresql_events.csv")
ADVICE = Path(advice.__code__.co_filename).with_name("advice.csv")


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_list_holds_the_events_of_six_versions() -> None:
    """As `tools/list_postgresql_waits.py` had them from servers and programs."""
    by_version = {str(version): 0 for version in range(13, 19)}
    for row in rows(LIST):
        for version in row["versions"].split():
            by_version[version] += 1
    assert all(200 < number < 300 for number in by_version.values()), by_version


@pytest.mark.parametrize("row", rows(LIST), ids=lambda row: f"{row['type']}:{row['event']}")
def test_every_event_of_the_list_has_a_line_and_a_paragraph(row: dict[str, str]) -> None:
    line = of_postgresql()[row["type"], row["event"].lower()]
    told = advice(line.event, line.wait_kind, "postgresql")
    assert line.meaning
    assert told.meaning
    assert min(len(told.usually), len(told.collect)) > 20
    assert told.usually.endswith(".")
    assert told.collect.endswith(".")


def test_a_line_of_one_event_has_a_meaning_that_is_no_sentence_of_two() -> None:
    for line in wait_events("postgresql"):
        assert line.meaning, line
        assert not line.meaning.endswith("."), line


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_event_of_every_vendor_has_a_paragraph(vendor: str) -> None:
    for line in wait_events(vendor):
        told = advice(line.event, line.wait_kind, vendor)
        assert told.meaning, line
        assert told.usually, line
        assert told.collect, line


def test_advice_is_about_what_there_is_and_says_nothing_twice() -> None:
    found = rows(ADVICE)
    keys = [(row["vendor"], row["wait_kind"], row["event"]) for row in found]
    assert len(set(keys)) == len(keys)
    assert {row["wait_kind"] for row in found if not row["vendor"]} == set(KINDS)
    assert {row["wait_kind"] for row in found} <= {*KINDS, ""}
    assert [row for row in found if row["event"] and find(row["vendor"], row["event"].replace("%", "x")) is None] == []
    assert all(bool(row["wait_kind"]) is not bool(row["event"]) for row in found)


def test_the_closest_advice_counts() -> None:
    assert advice("SyncRep").is_own
    assert not advice("AutoFile").is_own
    assert advice("AutoFile").usually == advice("ShmemIndex").usually
    assert advice("WalSync", vendor="postgresql") == advice("WALSync")
    assert advice("Backup: sbtwrite").usually == "A backup."
    assert "stack" in advice("of tomorrow").collect
    assert advice("of an extension", "internal lock", "postgresql").usually == advice("AutoFile").usually
