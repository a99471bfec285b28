"""Pages whose checksums fail."""

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

FAILED, LAST = "pg_stat_database.checksum_failures_count", "pg_stat_database.checksum_last_failure_s"


def test_a_page_that_failed_last_week_is_critical() -> None:
    (finding,) = diagnose(host(postgres={("shop", FAILED): 3.0, ("shop", LAST): 7 * 86400.0})).findings
    assert (finding.cause, finding.severity) == ("pages_damaged", "critical")
    assert said(finding.title) == "3 pages of postgresql:5432 failed their checksums"
    assert said(finding.for_[0].why) == "the last 7 d ago"


def test_no_failure_is_no_finding() -> None:
    assert diagnose(host()).healthy
