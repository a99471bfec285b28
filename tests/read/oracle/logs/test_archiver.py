"""How long logs take to be filled and to be archived, by an alert log."""

import pytest

from doctord.read.oracle.logs.archiver import Archiver
from reading import figure, read_sample

SECOND_US = 1_000_000


def test_of_each_log_from_switch_to_switch_and_to_the_first_destination() -> None:
    reading = read_sample("alert_log.archiving.log")
    assert reading.skipped_lines == 0
    assert figure(reading, "alert_log.fill_time", entity="thread 1") == [240.0] * 6
    assert figure(reading, "alert_log.archive_time") == [190.0] * 6


@pytest.mark.parametrize(
    "line",
    [
        "Archived Log entry 5 added for thread 2 sequence 41 ID 0x1 dest 1:",
        "ARC1 (PID:77): Archived Log entry 5 added for T-2.S-41 ID 0x1 LAD:1",
        "ARC0: Completed archiving  log 3 thread 2 sequence 41",
        "ARCH: Completed archiving thread 2 sequence 41",
    ],
)
def test_every_version(line: str) -> None:
    archiver = Archiver()
    for text, second in (("Thread 2 advanced to log sequence 41", 0), ("Thread 2 advanced to log sequence 42", 60),
                         ("Thread 1 advanced to log sequence 42", 61), (line, 90), (line, 200)):  # fmt: skip
        archiver.take(text, second * SECOND_US)
    told = {row["name"]: (row["value"], row["entity"]) for row in archiver.statistics()}
    assert told == {"alert_log.archive_time": (30.0, "thread 2"), "alert_log.fill_time": (60.0, "thread 2")}


def test_what_was_not_seen_to_begin_tells_nothing() -> None:
    archiver = Archiver()
    archiver.take("Thread 1 advanced to log sequence 42", 0)
    archiver.take("Archived Log entry 5 added for thread 1 sequence 41 ID 0x1 dest 1:", SECOND_US)
    assert list(archiver.statistics()) == []
