"""Processes that start and end between two samples, and who starts them, against this very host."""

import os
import subprocess
import sys
import time
from typing import Any

import pyarrow as pa
import pytest

from doctord._native import HostSampler
from doctord.dataset.tables import TABLES

LAYOUTS = {name: table.layout for name, table in TABLES.items()}
# Each burns some CPU time; the parent stays, and says what they used.
CHURN = """
import os, resource, time
for _ in range(120):
    if os.fork() == 0:
        open("/proc/self/comm", "w").write("doctord-brief")
        until = time.process_time() + 0.004
        while time.process_time() < until:
            pass
        os._exit(0)
    os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, flush=True)
input()
"""


def statistics(sampler: HostSampler) -> list[dict[str, Any]]:
    return [
        row for batch in sampler.sample() if batch.table == "statistic" for row in pa.record_batch(batch).to_pylist()
    ]


@pytest.mark.root
def test_those_who_come_and_go_are_told_by_name() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    sampler = HostSampler("here", LAYOUTS)
    statistics(sampler)
    command = [sys.executable, "-c", CHURN]
    churn = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert churn.stdout
    used_s = float(churn.stdout.readline())
    found = statistics(sampler)
    told = {row["name"]: row for row in found if row["entity"] == "doctord-brief"}
    interval_s = told["short_lived.ends_per_s"]["interval_s"]
    assert told["short_lived.ends_per_s"]["value"] * interval_s == pytest.approx(120, abs=1)
    # By ticks of the clock: these are few, and where CPUs are busy a tick falls into one of them by chance.
    assert 0.05 * used_s < told["short_lived.cpu_s_per_s"]["value"] * interval_s < 2 * used_s
    assert 0.003 < told["short_lived.elapsed_s"]["value"] < 0.5
    parent = {row["name"]: row["value"] for row in found if (row["entity"] or "").endswith(f"(pid {churn.pid})")}
    assert parent["process.children_per_s"] * interval_s == pytest.approx(120, abs=1)
    assert parent["process.anon_bytes"] > 1e6
    assert parent["process.page_table_bytes"] > 1e4
    churn.communicate("\n")


@pytest.mark.root
def test_many_that_end_at_once_are_told_also_where_samples_saw_them() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    sampler = HostSampler("here", LAYOUTS)
    statistics(sampler)
    seen = [subprocess.Popen(["sleep", "60"]) for _ in range(60)]
    time.sleep(0.2)
    statistics(sampler)
    for process in seen:
        process.kill()
        process.wait()
    (told,) = [row for row in statistics(sampler) if (row["entity"], row["name"]) == ("sleep", "process.exits_per_s")]
    assert told["value"] * told["interval_s"] == pytest.approx(60, abs=2)


def test_one_that_a_sample_saw_is_not_told_again() -> None:
    sampler = HostSampler("here", LAYOUTS)
    statistics(sampler)
    seen = [subprocess.Popen(["sleep", "0.6"]) for _ in range(30)]
    time.sleep(0.2)
    statistics(sampler)
    for process in seen:
        process.wait()
    told = [row for row in statistics(sampler) if row["name"] == "short_lived.ends_per_s"]
    assert "sleep" not in {row["entity"] for row in told}
