"""CPUs that the server's own workers take."""

from typing import Any

import pytest

from diagnose.causes.host.test_cpu import FULL
from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

QUEUEING = {"usr_pct": 4.0, "sys_pct": 2.0, "run_wait_pct": 60.0}
LOGICAL = {(f"feed_{number}", "pg_stat_replication.is_logical"): 1.0 for number in range(4)}


def found(kind: str, each_pct: float = 35.0, **more: Any) -> dict[str, Finding]:
    workers = [{"command": f"postgres: {kind}", "usr_pct": each_pct, "run_wait_pct": 60.0}] * 4
    seen = {"cpu": FULL, "backend": QUEUEING, "background": workers} | more
    return {finding.cause: finding for finding in diagnose(host(**seen)).findings}


def test_walsenders_that_decode_for_many_slots() -> None:
    told = found("walsender", postgres=LOGICAL)
    finding = told["cpu_own_workers"]
    assert said(finding.title) == "4 walsenders take 71 % of the CPUs: each decodes all of the log for its own slot"
    assert told["cpu_saturated"].explained_by == "cpu_own_workers"
    assert "4 streams" in " ".join(said(one.figure) for one in finding.for_)


@pytest.mark.parametrize("kind", ["logical replication worker", "autovacuum worker"])
def test_other_workers_are_named_with_what_they_are_at(kind: str) -> None:
    assert said(found(kind)["cpu_own_workers"].title).startswith(f"4 {kind}s take 71 % of the CPUs: they ")


def test_what_is_little_or_keeps_nobody_waiting_is_none() -> None:
    assert "cpu_own_workers" not in found("walsender", each_pct=10.0, postgres=LOGICAL)
    assert "cpu_own_workers" not in found("walsender"), "a walsender of a standby sends, and decodes nothing"
    assert "cpu_own_workers" not in found("autovacuum worker", cpu=None, backend=None)


def test_newer_servers_call_them_by_another_name() -> None:
    title = said(found("logical replication apply worker")["cpu_own_workers"].title)
    assert title.startswith("4 logical replication workers take 71 % of the CPUs")
