"""Commits that wait for a standby: one that is slow, and one that is not there."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

WAITING = {("Commit", "SyncRep"): 3.0, ("CPU", "CPU"): 0.2}
WAITER = {"wait_class": "Commit", "event": "SyncRep", "wait_kind": "standby", "in_state_s": 41.0}


REMOVED = "ERROR 58P01 requested WAL segment ? has already been removed"


def in_log(entity: str, per_s: float = 0.2) -> dict[str, Any]:
    """A message that came at each second of the look."""
    row = {"db": DB, "component": "postgresql", "name": "log.errors", "entity": entity, "value": per_s, "kind": "rate"}
    return {"statistic": [row]}


def waiting(
    names: str, connected: float | None, synchronous: float | None, extra: dict[str, Any] | None = None
) -> Dataset:
    told = {"pg_stat_replication.connected": connected, "pg_stat_replication.synchronous": synchronous}
    figures = {(None, name): value for name, value in told.items() if value is not None}
    settings = {"synchronous_standby_names": names}
    return host(time=WAITING, sessions=[WAITER], postgres=figures, settings=settings, extra=extra)


def only(dataset: Dataset) -> Finding:
    (finding,) = diagnose(dataset).findings
    assert finding.cause == "standby_slows_commits"
    return finding


@pytest.mark.parametrize(
    ("names", "connected", "synchronous", "title"),
    [
        ("s1", 0.0, 0.0, "0 of 1 that must confirm"),
        ("ANY 2 (s1, s2, s3)", 1.0, 1.0, "1 of 2 that must confirm"),
        ("FIRST 1 (s1)", 1.0, 0.0, "0 of 1 that must confirm"),
        ("*", 0.0, None, "0 of 1 that must confirm"),
    ],
    ids=["none", "one of two", "of another name", "states hidden"],
)
def test_fewer_are_there_than_must_confirm(names: str, connected: float, synchronous: float | None, title: str) -> None:
    finding = only(waiting(names, connected, synchronous))
    assert said(finding.title).endswith(title)
    assert finding.confidence == 0.95
    assert names in said(finding.for_[2].figure)
    assert any("a commit waits for 41.00 s" in said(item.figure) for item in finding.for_)
    assert any("synchronous_standby_names = ''" in said(step) for step in finding.remedy)
    others = any("others are connected" in said(item.why) for item in finding.for_)
    assert others is (connected > (connected if synchronous is None else synchronous))


@pytest.mark.parametrize(
    ("names", "connected", "synchronous"),
    [("s1", 1.0, 1.0), ("s1", 1.0, None), ("s1", None, None), ("", 0.0, 0.0)],
    ids=["there", "there, states hidden", "not looked at", "names unknown"],
)
def test_a_standby_that_is_there_is_slow(names: str, connected: float | None, synchronous: float | None) -> None:
    assert "waits for a standby to confirm" in said(only(waiting(names, connected, synchronous)).title)


@pytest.mark.parametrize("code", ["58P01 ", "XX000 ", ""], ids=["missed", "known to be removed", "no code is logged"])
def test_one_that_asks_for_wal_that_was_removed_has_to_be_made_anew(code: str) -> None:
    entity = REMOVED.replace("58P01 ", code)
    finding = only(waiting("s1", 0.0, 0.0, in_log(entity)))
    assert "a synchronous standby that cannot come back" in said(finding.title)
    assert any("4 times in the log: requested WAL segment" in said(item.figure) for item in finding.for_)
    assert "nor does pg_rewind" in said(finding.remedy[0])
    assert "pg_basebackup" in said(finding.remedy[1])
    assert any("synchronous_standby_names = ''" in said(step) for step in finding.remedy)


def test_another_file_that_is_missing_is_none_of_the_standbys() -> None:
    dataset = waiting("s1", 0.0, 0.0, in_log('ERROR 58P01 could not open file "?": No such file or directory'))
    first = next(one for one in diagnose(dataset).findings if one.cause == "standby_slows_commits")
    assert "that is not there" in said(first.title)


def test_names_that_a_server_has_whose_commits_wait_for_nobody_are_not_why() -> None:
    """Beside the server whose standby is slow stands that standby, with the same settings and nobody who follows it."""
    other = "postgresql:5431"
    extra = {
        "statistic": [{"component": "postgresql", "db": other, "name": "pg_stat_replication.connected", "value": 0.0}],
        "setting": [{"component": "postgresql", "db": other, "name": "synchronous_standby_names", "value": "s1"}],
    }
    finding = only(waiting("s1", 1.0, 1.0, extra))
    assert "waits for a standby to confirm" in said(finding.title)
    assert finding.database == DB


def test_one_that_is_there_beside_one_that_asks() -> None:
    """The synchronous one is slow, another one is to be made anew."""
    found = {one.cause: one for one in diagnose(waiting("s1", 1.0, 1.0, in_log(REMOVED))).findings}
    assert set(found) == {"standby_slows_commits", "standby_stands_still"}
    assert "to confirm" in said(found["standby_slows_commits"].title)


LAGS = {("archive", "pg_stat_replication.flush_lag_bytes"): 0.0}
REPLAYS = {("archive", "pg_stat_replication.replay_lag_bytes"): 9e6}


def applying(level: str, lags: dict[tuple[str | None, str], float]) -> str:
    told = {(None, "pg_stat_replication.connected"): 1.0, (None, "pg_stat_replication.synchronous"): 1.0}
    settings = {"synchronous_standby_names": "archive", "synchronous_commit": level}
    finding = only(host(time=WAITING, sessions=[WAITER], postgres=told | lags, settings=settings))
    assert finding.impact.share is not None
    assert finding.impact.share > 0.9
    return said(finding.title)


def test_a_receiver_that_writes_the_log_never_replays_it() -> None:
    assert applying("remote_apply", LAGS) == "Commits wait until archive has replayed them, which replays nothing"


@pytest.mark.parametrize(("level", "lags"), [("on", LAGS), ("remote_apply", LAGS | REPLAYS), ("remote_apply", {})])
def test_who_replays_or_need_not_is_merely_waited_for(level: str, lags: dict[tuple[str | None, str], float]) -> None:
    assert applying(level, lags) == "95 % of database time waits for a standby to confirm commits"
