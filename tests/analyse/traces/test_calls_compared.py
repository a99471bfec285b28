"""What changed from one trace to another."""

import pytest

from doctord.analyse.traces.calls_compared import Change, compare
from traces import call, healthy, listener_after, listener_before, loop, step, without_loop


def named(changes: tuple[Change, ...]) -> dict[tuple[str, int | None], str]:
    return {(change.call, change.nth): change.kind for change in changes}


def test_the_listener_gains_by_its_second_read() -> None:
    found = compare(listener_before(), listener_after())
    first = found.changes[0]
    assert (first.call, first.nth, first.kind) == ("read", 2, "faster")
    assert first.before == {"count": 1.0, "seconds": 0.1298}
    assert first.after == {"count": 1.0, "seconds": 0.0050}
    assert found.loop is not None
    assert found.loop.gained_s == pytest.approx(0.0987)
    assert found.loop.gained_share == pytest.approx(0.33, abs=0.005)
    assert (found.loop.before_per_second, found.loop.after_per_second) == pytest.approx((3.33, 4.97), abs=0.01)


def test_a_call_of_another_process_that_is_not_there_any_more_is_gone() -> None:
    after = listener_after()
    after["processes"] = listener_before()["processes"]
    kinds = named(compare(listener_before(), after).changes)
    assert kinds["cladm", None] == "gone"
    assert kinds["read", 2] == "faster"


def test_processes_that_were_traced_only_once_are_not_compared() -> None:
    found = compare(listener_before(), listener_after())
    kinds = named(found.changes)
    assert not found.others_compared
    assert ("cladm", None) not in kinds
    assert kinds["read", 1] == "slower"
    assert ("waitid", 1) not in kinds  # 0.5 ms of 300
    assert ("pollsys", None) not in kinds  # the wait for clients


def test_a_trace_against_itself_has_no_change() -> None:
    found = compare(listener_before(), listener_before())
    assert found.changes == ()
    assert found.unchanged == 7


@pytest.mark.parametrize(("share", "listed"), [(0.009, False), (0.011, True)])
def test_a_difference_below_a_hundredth_of_the_pass_is_not_listed(share: float, *, listed: bool) -> None:
    before = healthy(loop=loop(steps=[step("fsync", "3", seconds=0.0005)]))
    after = healthy(loop=loop(steps=[step("fsync", "3", seconds=0.0005 + share * 0.001)]))
    assert bool(compare(before, after).changes) is listed


def test_a_call_counts_as_the_same_with_other_process_ids_and_addresses() -> None:
    before = healthy(loop=loop(steps=[step("wait4", "8195, 0x7ffd, 0", seconds=0.5)]))
    after = healthy(loop=loop(steps=[step("wait4", "91214, 0x7ffe, 0", seconds=0.1)]))
    (change,) = compare(before, after).changes
    assert (change.kind, change.arguments) == ("faster", "*, *, 0")


@pytest.mark.parametrize(
    ("count", "seconds", "kind"),
    [(100, 0.5, "slower"), (1000, 0.5, "more frequent"), (10, 0.01, "less frequent"), (100, 0.02, "faster")],
)
def test_without_a_loop_calls_are_compared_by_second(count: int, seconds: float, kind: str) -> None:
    before = without_loop(calls=[call("fsync", "sync", count=100, seconds=0.1), call("futex", "lock", seconds=0.2)])
    after = without_loop(
        calls=[call("fsync", "sync", count=count, seconds=seconds), call("futex", "lock", seconds=9.0)]
    )
    found = compare(before, after)
    assert found.per == "second"
    assert found.loop is None
    assert [(change.call, change.kind) for change in found.changes] == [("fsync", kind)]


def test_what_has_no_length_is_not_compared() -> None:
    before = healthy(loop=loop(seconds_per_pass=0.0), calls=[call("read", "read", seconds=None)])
    assert compare(before, healthy(calls=[call("read", "read", seconds=None)])).changes == ()
