"""More time for the same load than ever before."""

from datetime import timedelta

import pytest

from diagnose.hosts import START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose

COMMITS = (None, "pg_stat_database.xact_commit")
BEFORE = host(start=START - timedelta(hours=1), seconds=600, postgres={COMMITS: 150.0})
PAST = "whether it is slower than it was"
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
    diagnosis = diagnose(host(postgres={COMMITS: 150.0}), BEFORE)
    assert diagnosis.healthy
    assert PAST not in {item.what for item in diagnosis.not_measured}


@pytest.mark.parametrize(
    ("before", "why"),
    [(None, "nothing"), (Dataset(), "nothing"), (host(start=START - timedelta(hours=1), seconds=10), "too little")],
)
def test_a_clean_bill_without_a_past_says_so(before: Dataset | None, why: str) -> None:
    diagnosis = diagnose(host(postgres={COMMITS: 150.0}), before)
    assert diagnosis.healthy
    assert [item.why for item in diagnosis.not_measured if item.what == PAST] == [
        f"{why} is recorded of the time before"
    ]


def test_who_is_told_what_is_wrong_is_not_told_of_a_past_too() -> None:
    diagnosis = diagnose(host(time={("Application", "transactionid"): 3.0}))
    assert not diagnosis.healthy
    assert PAST not in {item.what for item in diagnosis.not_measured}


def test_a_host_without_a_server_is_asked_for_no_past() -> None:
    diagnosis = diagnose(host(without=("session", "wait", "statistic")))
    assert diagnosis.healthy
    assert PAST not in {item.what for item in diagnosis.not_measured}
