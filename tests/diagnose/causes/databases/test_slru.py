"""Transaction status that is read again and again."""

from typing import Any

import pytest

from diagnose.hosts import HEALTHY_TIME, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

HIT, READ = "pg_stat_slru.blks_hit", "pg_stat_slru.blks_read"
BUSY = {("Subtrans", HIT): 500_000.0, ("Subtrans", READ): 50_000.0, ("Xact", HIT): 3000.0}
WAITS = HEALTHY_TIME | {("User I/O", "SLRURead"): 0.2, ("Concurrency", "SubtransSLRU"): 0.02}


def found(figures: dict[tuple[str | None, str], float], **more: Any) -> list[Finding]:
    findings = diagnose(host(postgres=figures, **more)).findings
    return [finding for finding in findings if finding.cause == "transaction_status_read"]


def test_subtransactions_beyond_what_the_cache_holds() -> None:
    (finding,) = found(BUSY, time=WAITS)
    assert said(finding.title).startswith("550,000 look-ups a second of the parents of subtransactions, 50,000")
    assert finding.impact.share == pytest.approx(0.42, abs=0.02)
    assert finding.confidence == 0.85
    assert "savepoints" in said(finding.remedy[0])
    assert "subtransaction_buffers" in said(finding.remedy[1])
    assert not finding.against


def test_where_nobody_waits_it_may_cost_cpu_time_alone() -> None:
    (finding,) = found(BUSY)
    assert (finding.severity, finding.impact.known, finding.confidence) == ("warning", "not_measured", 0.6)
    assert finding.against


def test_the_names_of_version_17() -> None:
    (finding,) = found({("multixact_member", READ): 5000.0})
    assert "who shares a row lock" in said(finding.title)


def test_who_keeps_old_transactions_in_sight_is_told() -> None:
    session = {
        "sid": 77, "program": "ledger-import", "state": "idle in transaction", "wait_class": "Idle",
        "event": "ClientRead", "transaction_s": 60.0, "xmin_age": 6000,
    }  # fmt: skip
    (finding,) = found(BUSY, time=WAITS, sessions=[session])
    assert "ledger-import" in " ".join(said(item.why) for item in finding.for_)


def test_what_a_healthy_server_looks_up_is_no_finding() -> None:
    assert not found({("Subtrans", HIT): 50.0, ("Xact", HIT): 30_000.0, ("Xact", READ): 0.2, ("Notify", HIT): 1e6})
