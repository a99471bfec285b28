from typing import Any

import pytest

from doctord._native import call_class, syscall_name, syscall_number
from doctord.collect.bpf.call_sums import document, quantile_s
from doctord.dataset.calltrace import Live

LIVE: Live = {
    "how": "bpf", "pid": 100, "processes": 1, "resident_bytes": 2**20,
    "page_tables_bytes": 2**16, "seconds": 10.0, "ended": "time",
    "before": {"cpu_ms_per_s": 1.0, "switches_per_s": 2.0}, "during": {"cpu_ms_per_s": 1.0, "switches_per_s": 2.0},
    "note": None,
}  # fmt: skip


NOTHING = {"count": 0, "ns": 0, "longest_ns": 0, "buckets": []}


def times(count: int, ns: int, longest_ns: int, power: int) -> dict[str, Any]:
    buckets = [{"min": 2**power, "max": 2 ** (power + 1) - 1, "count": count}]
    return {"count": count, "ns": ns, "longest_ns": longest_ns, "buckets": buckets}


def number_of(name: str) -> int:
    number = syscall_number(name)
    assert number is not None
    return number


def waits(**by_call: int) -> dict[str, Any]:
    call = times(4, 9_000_000_000, 3_000_000_000, 31) | {"errors": 0}
    return {"calls": {number_of(name): call | {"waits": count} for name, count in by_call.items()}}


def sums(**more: Any) -> dict[str, Any]:
    read = times(4, 6000, 1800, 10) | {"errors": 1, "waits": 0}
    calls = waits(epoll_pwait=4)["calls"] | {number_of("read"): read}
    told = {"calls": calls, "passes": times(4, 1_000_000_000, 260_000_000, 27), "accepting_passes": NOTHING}
    return told | {"accepts": 0, "idle_ns": 9_000_000_000} | more


def test_calls_are_named_and_summed() -> None:
    trace = document(sums(), LIVE, "server")
    wait, read = trace["calls"]
    assert (read["call"], read["class"], read["count"], read["errors"]) == ("read", "read", 4, 1)
    assert read["seconds"] == pytest.approx(6e-6)
    assert read["p95_s"] == pytest.approx(1.8e-6)  # not above the longest
    assert wait["share"] == pytest.approx(1.0, abs=1e-6)
    assert trace["trace"]["calls"] == 8


def test_the_loop_of_a_process_that_does_not_accept_has_all_its_turns() -> None:
    loop = document(sums(), LIVE, "server")["loop"]
    assert loop
    assert (loop["passes"], loop["mean_s"], loop["max_passes_per_second"], loop["steps"]) == (4, 0.25, 4.0, [])
    assert (loop["min_s"], loop["max_s"]) == (2**27 / 1e9, 0.26)
    assert loop["idle_share"] == pytest.approx(0.9)


def test_a_server_has_the_passes_that_accepted() -> None:
    accepted = times(3, 600_000_000, 210_000_000, 27)
    loop = document(sums(accepts=3, accepting_passes=accepted), LIVE, "server")["loop"]
    assert loop
    assert (loop["passes"], loop["wakeups"], loop["mean_s"]) == (3, 1, 0.2)


def test_the_cpu_of_a_pass_is_the_process_s_by_its_passes() -> None:
    loop = document(sums(), LIVE, "server", 20.0)["loop"]
    assert loop
    assert (loop["own_cpu_s"], loop["own_cpu_share"]) == (pytest.approx(0.05), pytest.approx(0.2))
    unknown = document(sums(), LIVE, "server", None)["loop"]
    assert unknown
    assert (unknown["own_cpu_s"], unknown["own_cpu_share"]) == (None, None)


def test_a_client_that_waits_now_here_now_there_has_no_loop() -> None:
    assert document(sums(**waits(ppoll=80, pselect6=20)), LIVE, "pgbench")["loop"] is None
    assert document(sums(**waits(ppoll=99, pselect6=1)), LIVE, "pgbench")["loop"]


def test_a_process_that_made_no_call_has_no_loop() -> None:
    trace = document(sums(calls={}, passes=NOTHING), LIVE, "server")
    assert (trace["calls"], trace["loop"], trace["trace"]["calls"]) == ([], None, 0)


def test_quantiles_are_spread_within_their_bucket() -> None:
    buckets = [{"min": 0, "max": 1000, "count": 50}, {"min": 1000, "max": 2000, "count": 50}]
    assert quantile_s(buckets, 0.5) == pytest.approx(1e-6)
    assert quantile_s(buckets, 0.75) == pytest.approx(1.5e-6)


def test_numbers_and_names_of_calls_agree() -> None:
    number = syscall_number("openat")
    assert number is not None
    assert syscall_name(number) == "openat"
    assert syscall_number("no_such_call") is None
    assert syscall_name(100_000) is None
    assert (call_class("openat"), call_class("no_such_call")) == ("open", "other")
