"""Transaction status that is read again and again."""

from typing import Any

import pytest

from diagnose.hosts import DB, HEALTHY_TIME, host
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


def test_what_costs_next_to_nothing_is_a_note_and_explains_nothing() -> None:
    """Three hundredths of a CPU, of two sessions."""
    statement = {"statement_id": "5", "text": "SELECT 1", "calls_per_s": 100.0, "elapsed_s_per_s": 1.9}
    busy: Any = {"time": {("CPU", "CPU"): 1.9}, "statements": [statement]}
    findings = diagnose(host(postgres={("Subtrans", HIT): 110_000.0}, **busy)).findings
    assert {one.cause: one.severity for one in findings}["transaction_status_read"] == "note"
    assert "transaction_status_read" not in [one.explained_by for one in findings]


def test_two_caches_do_not_share_the_waits_for_reads() -> None:
    both = BUSY | {("MultiXactMember", READ): 2000.0, ("MultiXactOffset", READ): 2000.0}
    shares = {said(one.title).rpartition(" ")[2]: one.impact.share for one in found(both, time=WAITS)}
    assert shares == {"Subtrans)": pytest.approx(0.42, abs=0.02), "MultiXactMember)": None, "MultiXactOffset)": None}


def test_what_another_server_waits_for_is_not_this_ones() -> None:
    about = {"component": "postgresql", "db": "postgresql:5433", "entity": "Subtrans", "kind": "rate"}
    other = {"statistic": [about | {"name": HIT, "value": 500_000.0}, about | {"name": READ, "value": 60_000.0}]}
    told = {one.database: one.impact.share for one in found(BUSY, time=WAITS, extra=other)}
    assert told == {DB: pytest.approx(0.42, abs=0.02), "postgresql:5433": None}


@pytest.mark.parametrize(("commits", "is_found"), [(50_000.0, False), (4000.0, True)], ids=["busy", "far more"])
def test_a_server_at_full_throttle_looks_up_a_few_outcomes_for_each_transaction(
    commits: float, *, is_found: bool
) -> None:
    figures = {("Xact", HIT): 350_000.0, ("bench", "pg_stat_database.xact_commit"): commits}
    assert bool(found(figures)) is is_found


def test_the_wait_of_commits_that_are_written_down_together_is_no_look_up() -> None:
    figures = {("Xact", READ): 1500.0}
    (finding,) = found(figures, time=HEALTHY_TIME | {("IPC", "XactGroupUpdate"): 0.5})
    assert finding.impact.share is None


def test_what_a_healthy_server_looks_up_is_no_finding() -> None:
    assert not found({("Subtrans", HIT): 50.0, ("Xact", HIT): 30_000.0, ("Xact", READ): 0.2, ("Notify", HIT): 1e6})
