"""Sessions whose memory grows: which limit they meet, who they are, and what only looks like it."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import GIB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

MIB = 2.0**20
# Of 1.5 GiB, 300 MiB are shared buffers and 100 MiB page cache, which gives way.
GROUP = {"limit_bytes": 1536 * MIB, "file_bytes": 100 * MIB, "others": 400 * MIB}
WORKS = [
    {"sid": pid, "pid": pid, "user": "app", "program": "ledger", "statement_s": 0.01, "samples": 5}
    for pid in range(1000, 1008)
]


def leaks(second: float) -> float:
    """Two thirds of a MiB a second."""
    return 20 * MIB + second * 0.66 * MIB


def found(
    size: Callable[[float], float],
    *,
    group: Mapping[str, float] | None = GROUP,
    backends: int = 8,
    growing: int = 8,
    seconds: int = 20,
    **changes: Any,
) -> list[Finding]:
    """What is said of some seconds in which the first few sessions have as much memory as `size` says."""
    dataset = grown(size, group=group, backends=backends, growing=growing, seconds=seconds, **changes)
    return list(diagnose(dataset).findings)


def grown(size: Callable[[float], float], *, group: Mapping[str, float] | None, backends: int, growing: int,
          seconds: int = 20, **changes: Any) -> Dataset:  # fmt: skip
    whole = host(backends=backends, seconds=seconds, **{"sessions": WORKS, **changes})
    tables = {name: table.to_pylist() for name, table in whole.tables.items() if table.num_rows}
    for row in tables["process"]:
        second = (row["ts"] - START).total_seconds()
        if 1000 <= row["pid"] < 1000 + growing:
            row["anon_bytes"] = round(size(2 * (second // 2)))  # told at every second sample
        elif row["pid"] < 2000:
            row["anon_bytes"] = round(10 * MIB)
    for second in range(1, seconds + 1) if group else ():
        anon = growing * size(second)
        told = {
            "limit_bytes": group["limit_bytes"], "anon_bytes": anon, "file_bytes": group["file_bytes"],
            "usage_bytes": anon + group["others"],
        }  # fmt: skip
        tables["statistic"] = tables.get("statistic", []) + [
            {"ts": START + timedelta(seconds=second), "host": "host", "component": "cgroup", "entity": "/postgres",
             "name": f"memory.{name}", "value": value, "unit": "bytes", "kind": "gauge"}
            for name, value in told.items()
        ]  # fmt: skip
    return Dataset.from_rows(**tables)


def words(finding: Finding) -> str:
    return " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in [*finding.for_, *finding.against])


def test_a_leak_in_all_sessions_meets_the_limit_of_the_group() -> None:
    (finding,) = found(leaks)
    assert (finding.cause, finding.severity, finding.confidence) == ("sessions_grow", "critical", 0.9)
    # 8 sessions take 5.3 MiB/s, and 970 MiB are left.
    title = said(finding.title)
    assert title.startswith("Memory of control group /postgres ends in 3 min")
    assert "8 sessions of ledger take 5.3 MiB/s more" in title
    assert "of a limit of 1.5 GiB, page cache of files counted as free" in words(finding)
    assert "session 1000 (app, ledger): 676 KiB/s" in words(finding)
    assert "pg_log_backend_memory_contexts(1000)" in said(finding.remedy[0])
    assert finding.database == "postgresql:5432"


def test_one_session_is_named() -> None:
    (finding,) = found(lambda s: 20 * MIB + s * 8 * MIB, growing=1)
    assert "session 1000 (app, ledger) takes 8.0 MiB/s more" in said(finding.title)


def test_without_a_group_the_host_is_the_limit() -> None:
    memory = {"available_bytes": GIB, "total_bytes": 24 * GIB, "swap_free_bytes": GIB, "swap_total_bytes": GIB}
    (finding,) = [one for one in found(leaks, group=None, memory=memory) if one.cause == "sessions_grow"]
    assert said(finding.title).startswith("Memory of the host ends in 6 min")
    assert "GiB of swap left" in " | ".join(said(item.figure) for item in finding.against)


def test_the_nearest_limit_counts() -> None:
    (finding,) = found(leaks, memory={"available_bytes": 12 * GIB})
    assert "/postgres" in said(finding.title)


@pytest.mark.parametrize(
    "size",
    [
        lambda s: 20 * MIB + min(s, 8.0) * 2 * MIB,  # caches of new sessions fill, and come to rest
        lambda s: 40 * MIB * (1 - 0.8**s),  # ever more slowly
        lambda s: 20 * MIB + s * 10_000,  # some kilobytes
        lambda s: 20 * MIB + (s % 8) * 4 * MIB,  # sorts come and go
        lambda _: 200 * MIB,
    ],
)
def test_what_comes_to_rest_is_healthy(size: Callable[[float], float]) -> None:
    assert not found(size)


def test_room_for_hours_is_healthy() -> None:
    assert not found(leaks, group=GROUP | {"limit_bytes": 64 * GIB})


def test_new_sessions_are_no_growth_of_any() -> None:
    """More and more sessions, each of which stands still, are a start-up."""
    assert not found(lambda _: 20 * MIB, group=GROUP)


def test_young_sessions_speak_against_it() -> None:
    (finding,) = found(leaks, backend={"started": START - timedelta(seconds=10)})
    assert finding.confidence == 0.7
    assert "caches of a young session fill, and come to rest" in words(finding)


def test_one_statement_ends_and_is_told_only_where_it_may_not_come_to_that() -> None:
    """A statement that takes 8 MiB a second and has minutes to go is no finding; one that has seconds is."""
    runs = [WORKS[0] | {"statement_s": 19.0, "samples": 20, "interval_s": 0.01}]
    assert not found(lambda s: 20 * MIB + s * 4 * MIB, growing=1, sessions=runs)
    (finding,) = found(lambda s: 20 * MIB + s * 40 * MIB, growing=1, sessions=runs)
    assert "one statement ran all the time: what it takes it gives back" in words(finding)


def test_statements_that_are_prepared_and_not_freed_are_told() -> None:
    statements = [
        {"statement_id": "1", "text": "PREPARE p1 AS SELECT 1", "calls_per_s": 40.0, "elapsed_s_per_s": 0.01},
        {"statement_id": "2", "text": "DEALLOCATE p1", "calls_per_s": 1.0, "elapsed_s_per_s": 0.01},
    ]
    (finding,) = found(leaks, statements=statements)
    assert "40 statements prepared a second: and 1 a second freed" in words(finding)


def test_what_grows_in_the_last_minutes_of_half_an_hour_is_found() -> None:
    (finding,) = found(lambda s: leaks(max(s - 1500, 0.0)), seconds=1800, group=GROUP | {"limit_bytes": 4 * GIB})
    assert finding.cause == "sessions_grow"
    assert "8 sessions of ledger take 5.3 MiB/s more" in said(finding.title)


def test_sessions_that_have_ended_are_not_to_be_ended() -> None:
    """Memory goes on growing, in somebody else: those that grew at first are gone."""
    dataset = grown(leaks, group=GROUP, backends=8, growing=8, seconds=60)
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    tables["process"] = [
        row
        for row in tables["process"]
        if row["ts"] <= START + timedelta(seconds=30) or row["pid"] not in range(1000, 1008)
    ]
    assert [one.cause for one in diagnose(Dataset.from_rows(**tables)).findings] == []


def test_the_group_of_another_server_is_not_what_ends_it() -> None:
    """Its memory grows too, a fiftieth as fast as these sessions."""
    dataset = grown(leaks, group=None, backends=8, growing=8)
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    tables["statistic"] = []
    for second in range(1, 21):
        anon = 300 * MIB + second * 0.1 * MIB
        told = {"limit_bytes": 400 * MIB, "anon_bytes": anon, "file_bytes": 0.0, "usage_bytes": anon}
        tables["statistic"] += [
            {"ts": START + timedelta(seconds=second), "host": "host", "component": "cgroup", "entity": "/other",
             "name": f"memory.{name}", "value": value, "unit": "bytes", "kind": "gauge"}
            for name, value in told.items()
        ]  # fmt: skip
    assert [
        said(one.title) for one in diagnose(Dataset.from_rows(**tables)).findings if "/other" in said(one.title)
    ] == []


def test_without_a_reading_nothing_is_said() -> None:
    whole = host(backends=8, cgroup={"memory.limit_bytes": GIB, "memory.usage_bytes": 0.8 * GIB})
    assert diagnose(whole).healthy
