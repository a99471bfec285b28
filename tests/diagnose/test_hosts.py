"""The hosts that the tests of causes are made of."""

import pytest

from diagnose.hosts import DB, HEALTHY_TIME, host
from doctord.diagnose.case import Case
from doctord.diagnose.engine import diagnose


def test_healthy_host_has_no_finding() -> None:
    assert diagnose(host()).healthy


def test_sampled_time_adds_up_to_the_sessions_asked_for() -> None:
    time = Case(host(time={("Commit", "WALSync"): 2.5, ("User I/O", "DataFileRead"): 0.5})).time
    assert time.of == "database"
    assert time.seconds_per_second == pytest.approx(3.0)
    assert time.share("Commit") == pytest.approx(2.5 / 3)


def test_what_is_left_out_is_not_there() -> None:
    dataset = host(without=("session", "process"), cpu={"pressure_some_pct": None})
    assert dataset.frame("session").is_empty()
    assert Case(dataset).mean("cpu", "pressure_some_pct") is None


def test_sessions_of_ones_own_are_sampled_once_a_second() -> None:
    dataset = host(seconds=10, time={}, sessions=[{"sid": 77, "blocker_sid": 5}, {"samples": 3}])
    rows = dataset.frame("session")
    assert rows["sid"].value_counts(sort=True).rows() == [(77, 10), (7001, 3)]
    assert set(rows["db"]) == {DB}


@pytest.mark.parametrize(("share", "worth"), [(0.04, False), (0.06, True)])
def test_a_share_is_worth_saying_when_large(share: float, *, worth: bool) -> None:
    assert Case(host(time={("CPU", "CPU"): 10.0})).worth_saying(share) is worth


def test_a_large_share_of_an_idle_server_is_not_worth_saying() -> None:
    assert sum(HEALTHY_TIME.values()) * 0.3 < 0.1
    assert not Case(host()).worth_saying(0.3)
