"""Commits that sleep before they write."""

import pytest

from diagnose.hosts import host
from doctord.diagnose.engine import diagnose
from doctord.report.phrases import said

WAITING = {("LWLock", "WALWrite"): 8.0, ("CPU", "CPU"): 0.2}


def test_a_delay_of_a_tenth_of_a_second_is_the_cause_of_slow_commits() -> None:
    dataset = host(time=WAITING, settings={"commit_delay": "100000", "commit_siblings": "1"})
    first = diagnose(dataset).findings[0]
    assert first.cause == "commit_delay_long"
    assert said(first.title).endswith("sleep 100 ms each before they write the log: commit_delay = 100000")


@pytest.mark.parametrize("settings", [{"commit_delay": "0"}, {"commit_delay": "2000"}, {}])
def test_a_delay_of_a_flush_or_none_is_not(settings: dict[str, str]) -> None:
    causes = {finding.cause for finding in diagnose(host(time=WAITING, settings=settings)).findings}
    assert "commit_delay_long" not in causes


def test_a_delay_that_nobody_waits_for_is_no_finding() -> None:
    dataset = host(time={("CPU", "CPU"): 0.5}, settings={"commit_delay": "100000"})
    assert "commit_delay_long" not in {finding.cause for finding in diagnose(dataset).findings}
