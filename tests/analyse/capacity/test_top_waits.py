"""The waits that cost most."""

import pytest

from doctord.analyse.capacity.top_waits import CLASSES, WAIT_MS, WAITED, top_waits

KNOWN = {"log file sync": "Commit", "rdbms ipc message": "Idle", "PX qref latch": "Other"}


def test_idle_and_parallel_slaves_are_left_out_and_cpu_is_one() -> None:
    values = {(WAITED, entity): 1.0 for entity in ("CPU", *KNOWN)}
    assert [(wait.event, wait.wait_class, wait.share) for wait in top_waits(values, KNOWN)] == [
        ("CPU", "CPU", 0.5),
        ("log file sync", "Commit", 0.5),
    ]


def test_instances_add_up_and_their_means_count_by_their_waits() -> None:
    values = {
        (WAITED, "1 log file sync"): 3.0,
        (WAITED, "2 log file sync"): 1.0,
        (WAIT_MS, "1 log file sync"): 30.0,
        (WAIT_MS, "2 log file sync"): 1.0,
    }
    (wait,) = top_waits(values, KNOWN)
    assert wait.s_per_s == 4.0
    assert wait.average_ms == pytest.approx(4.0 / (3.0 / 30 + 1.0 / 1))


def test_ten_of_them() -> None:
    values = {(WAITED, f"event {number}"): float(number) for number in range(20)}
    assert [wait.event for wait in top_waits(values, {})] == [f"event {number}" for number in range(19, 9, -1)]


def test_classes_where_cpu_is_the_only_event() -> None:
    values = {(WAITED, "1 CPU"): 1.0, (CLASSES, "DB CPU"): 1.5, (CLASSES, "User I/O"): 0.5, (CLASSES, "Commit"): 0.0}
    assert [(wait.event, wait.share, wait.whole_class) for wait in top_waits(values, {})] == [
        ("CPU", 0.75, False),
        ("User I/O", 0.25, True),
    ]


def test_what_was_not_measured_has_no_mean() -> None:
    (wait,) = top_waits({(WAITED, "log file sync"): 1.0}, KNOWN)
    assert wait.average_ms is None
