"""More time for the same load than ever before."""

from datetime import timedelta

from diagnose.hosts import START, host
from doctord.diagnose.engine import diagnose

COMMITS = (None, "pg_stat_database.xact_commit")
BEFORE = host(start=START - timedelta(hours=1), seconds=600, postgres={COMMITS: 150.0})
SLOWER = {("Concurrency", "LockManager"): 2.0, ("CPU", "CPU"): 0.4}


def test_more_sessions_at_the_same_load() -> None:
    finding = diagnose(host(time=SLOWER, postgres={COMMITS: 150.0}), BEFORE).findings[0]
    assert finding.cause == "unlike_before"
    assert finding.against == ()
    assert any("LockManager" in item.filter for item in finding.for_)


def test_more_work_takes_more_sessions() -> None:
    finding = diagnose(host(time=SLOWER, postgres={COMMITS: 1200.0}), BEFORE).findings[0]
    assert finding.against
    assert finding.confidence < 0.5


def test_as_before_is_healthy() -> None:
    assert diagnose(host(postgres={COMMITS: 150.0}), BEFORE).healthy
