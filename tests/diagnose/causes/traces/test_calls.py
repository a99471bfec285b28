"""A server's loop at its limit, slow forks, and calls repeated for nothing, as a call trace shows them."""

from typing import Any

import pytest

from doctord.dataset.calltrace import Trace
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said
from traces import (
    births,
    call,
    healthy,
    listener_after,
    listener_before,
    loop,
    path_part,
    repetition,
    step,
    wait,
    without_loop,
)

REPEATED = {"calls_per_pass": 75.0, "on_critical_path": True, "share_of_pass": None}


def findings(trace: Trace) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(Dataset(), trace=trace).findings}


def test_a_healthy_server_is_not_blamed() -> None:
    assert findings(healthy()) == {}
    assert findings(without_loop(calls=[call("poll", "poll", count=5, seconds=0.95)])) == {}


def test_the_listener_of_the_casebook() -> None:
    found = findings(listener_before())
    assert list(found) == ["single_threaded_limit", "repeated_call", "slow_fork"]
    assert said(found["single_threaded_limit"].title) == "process 15697 serves one at a time, at most 3.33 a second"
    assert said(found["repeated_call"].title) == "cladm(CL_CONFIG, 17) is called 75 times over, 39 % of each pass"
    assert said(found["slow_fork"].title) == "A fork of process 15697 takes 30.0 ms; forks are 18 % of each pass"
    assert found["single_threaded_limit"].impact.share == pytest.approx(0.2806 / 0.2999)


def test_without_the_repeated_call_the_fork_is_left() -> None:
    assert list(findings(listener_after())) == ["single_threaded_limit", "slow_fork"]


@pytest.mark.parametrize(("a_pass", "limited"), [(0.099, False), (0.1, True)])
def test_a_pass_is_long_when_a_person_feels_it(a_pass: float, *, limited: bool) -> None:
    slow = loop(seconds_per_pass=a_pass, waits=[wait("read", "16", seconds=0.09, on="child")])
    assert ("single_threaded_limit" in findings(healthy(loop=slow))) is limited


@pytest.mark.parametrize(("idle", "passes", "limited"), [(0.31, 400, False), (0.3, 400, True), (0.1, 9, False)])
def test_a_busy_loop_is_at_its_limit(idle: float, passes: int, *, limited: bool) -> None:
    found = findings(healthy(loop=loop(idle_share=idle, passes=passes)))
    assert ("single_threaded_limit" in found) is limited


def test_idle_time_between_long_passes_speaks_against_it() -> None:
    (finding,) = findings(healthy(loop=loop(seconds_per_pass=0.2, idle_share=0.9))).values()
    assert [said(item.figure) for item in finding.against] == ["busy 10 % of the time"]


def test_who_accepts_nobody_is_no_server() -> None:
    busy = loop(idle_share=0.0, seconds_per_pass=0.5, steps=[step("recvfrom", "9")], anchor={"call": "epoll_wait"})
    assert findings(healthy(loop=busy)) == {}


@pytest.mark.parametrize(("mean_s", "slow"), [(0.0049, False), (0.005, True)])
def test_a_fork_is_slow_from_five_milliseconds_on(mean_s: float, *, slow: bool) -> None:
    path = [path_part(0, "server", "clone", mean_s, 0.5)]
    trace = healthy(births=[births(mean_s=mean_s)], loop=loop(seconds_per_pass=0.01, path=path))
    assert ("slow_fork" in findings(trace)) is slow


@pytest.mark.parametrize(("mean_s", "slow"), [(1.0, False), (2.0, True)])
def test_a_clock_of_whole_seconds_carries_no_fork_of_one(mean_s: float, *, slow: bool) -> None:
    """`strace -t` without -T: a second may have turned within a fork of microseconds."""
    about = {"calls": [call("clone", "fork", count=9, max_s=mean_s)], "births": [births(mean_s=mean_s, count=9)]}
    trace = without_loop(**about)
    assert ("slow_fork" in findings(trace)) is slow
    told = [said(part.why) for part in diagnose(Dataset(), trace=trace).not_measured]
    assert told == ["the log has whole seconds only (strace -t): what is shorter is 0 or 1 s in it"]


def test_a_clock_of_whole_seconds_gives_no_clean_bill() -> None:
    calls = [call("read", "read", count=9, max_s=1.0)]
    assert diagnose(Dataset(), trace=without_loop(calls=calls)).health == "not_judged"


def test_a_finer_clock_is_not_doubted() -> None:
    diagnosis = diagnose(Dataset(), trace=healthy())
    assert diagnosis.not_measured == ()
    assert diagnosis.healthy


def test_the_size_of_a_process_that_was_traced_live_is_told() -> None:
    path = [path_part(0, "server", "clone", 0.03, 0.5)]
    used: Any = {"cpu_ms_per_s": None, "switches_per_s": None}
    live: Any = {
        "how": "strace", "pid": 7, "processes": 1, "resident_bytes": 400 << 20, "page_tables_bytes": 800 << 10,
        "seconds": 9.0, "ended": "time", "before": used, "during": used, "note": None,
    }  # fmt: skip
    trace = healthy(births=[births(mean_s=0.03)], loop=loop(seconds_per_pass=0.06, path=path))
    assert [said(one.what) for one in findings(trace)["slow_fork"].not_measured] == [
        "The size of the process that forks"
    ]
    trace["live"] = live
    finding = findings(trace)["slow_fork"]
    assert not finding.not_measured
    assert said(finding.for_[-1].figure).startswith("process 7: 400 MiB resident and 800 KiB of page tables")


def test_a_slow_fork_that_is_rare_is_not_worth_saying() -> None:
    assert findings(healthy(births=[births(count=1, mean_s=0.02)], loop=loop(path=[]))) == {}


def test_a_fork_of_unknown_length_is_not_judged() -> None:
    assert findings(healthy(births=[births(mean_s=None)])) == {}


@pytest.mark.parametrize(("seconds", "said"), [(0.00004, False), (0.00005, True), (None, False)])
def test_a_repetition_is_worth_saying_by_its_share_of_the_pass(seconds: float | None, *, said: bool) -> None:
    repeated = repetition(**REPEATED, seconds_per_pass=seconds, seconds=seconds and seconds * 400)
    assert ("repeated_call" in findings(healthy(repetitions=[repeated]))) is said


@pytest.mark.parametrize(("seconds", "said"), [(0.06, False), (0.08, True)])
def test_beside_the_critical_path_it_is_the_busy_time_that_counts(seconds: float, *, said: bool) -> None:
    found = findings(healthy(repetitions=[repetition(seconds=seconds)]))
    assert ("repeated_call" in found) is said
    assert all(finding.time_of == "busy" for finding in found.values())


@pytest.mark.parametrize("kind", ["read", "poll", "lock", "sync"])
def test_calls_that_move_data_or_wait_have_a_point(kind: str) -> None:
    calls = [call("getpid", kind)]
    assert findings(without_loop(calls=calls, repetitions=[repetition(seconds=0.5)])) == {}


def test_differing_arguments_speak_against_a_repetition() -> None:
    repeated = repetition("stat", seconds=0.5, same_arguments=10)
    (finding,) = findings(without_loop(calls=[call("stat", "path")], repetitions=[repeated])).values()
    assert said(finding.against[0].figure) == "10 of 100 with the same arguments"


@pytest.mark.parametrize(("errors", "cause"), [(89, "repeated_call"), (90, "failed_calls_loop")])
def test_a_call_that_fails_over_and_over_is_a_cause_of_its_own(errors: int, cause: str) -> None:
    figures: dict[str, Any] = {"seconds": 0.5, "errors": errors, "error": "ENOENT", "arguments": '"/no/such"'}
    (finding,) = findings(
        without_loop(calls=[call("stat", "path")], repetitions=[repetition("stat", **figures)])
    ).values()
    assert finding.cause == cause
    assert "stat(" in said(finding.title)
