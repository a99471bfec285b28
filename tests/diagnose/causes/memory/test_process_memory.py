"""A process that grows: for and against, and when memory ends."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from diagnose.hosts import GIB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

LISTENER = {"command": "tnslsnr", "rss_bytes": GIB}
MIB = 2.0**20


def grown(size: Callable[[float], float], **process: Any) -> list[Finding]:
    """An hour of a healthy host, a second in ten, whose listener has as much memory as `size` says of the seconds."""
    whole = host(seconds=360, other_processes=[LISTENER | process])
    tables = {}
    for name, table in whole.tables.items():
        if table.num_rows:
            rows = table.to_pylist()
            for row in rows:
                row["ts"] = START + 10 * (row["ts"] - START)
                if row.get("interval_s") is not None:
                    row["interval_s"] = 10.0
            tables[name] = rows
    tables["statistic"] = [
        {"ts": START + timedelta(seconds=10 * n), "host": "host", "component": "kernel", "entity": "tnslsnr (pid 5000)",
         "name": "process.anon_bytes", "value": size(10.0 * n), "unit": "bytes", "kind": "gauge"}
        for n in range(1, 361)
    ]  # fmt: skip
    return list(diagnose(Dataset.from_rows(**tables)).findings)


def test_a_leak_names_the_pace_and_when_memory_ends() -> None:
    (finding,) = grown(lambda s: (100 + s) * MIB)
    assert finding.cause == "process_grows"
    assert said(finding.title) == "tnslsnr (pid 5000) grows by 3.5 GiB an hour"
    assert finding.severity == "warning"
    words = " | ".join(f"{said(item.figure)}: {said(item.why)}" for item in finding.for_)
    assert "used up in 5.69 h at this pace" in words
    assert "grew all the 60 min" in words
    assert said(finding.remedy[0]).startswith("Restart it within 5.69 h")
    assert finding.confidence == 0.85


def test_a_slow_one_is_a_note() -> None:
    (finding,) = grown(lambda s: (100 + s / 50) * MIB)
    assert (finding.cause, finding.severity) == ("process_grows", "note")


def test_a_start_not_long_ago_and_more_threads_speak_against_it() -> None:
    (finding,) = grown(lambda s: (100 + s) * MIB, started=START - timedelta(minutes=5), threads=5)
    assert finding.confidence == 0.85  # an hour and five minutes are long enough, and threads stayed
    (young,) = grown(lambda s: (100 + s) * MIB, started=START + timedelta(minutes=10))
    assert young.confidence == 0.5
    assert "its caches may still fill" in [said(item.why) for item in young.against]


def test_a_server_that_is_steady_is_healthy() -> None:
    assert grown(lambda _: 8 * GIB) == []
