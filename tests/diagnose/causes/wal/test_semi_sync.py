"""Commits that wait for a semi-synchronous replica."""

import pytest

from diagnose.mysql_servers import found, mysql
from doctord.report.phrases import said

WAITING = [{"wait_class": "Commit", "event": "Waiting for semi-sync ACK from slave", "wait_kind": "standby"}] * 4


@pytest.mark.parametrize(
    ("side", "there", "settings", "title"),
    [
        ("master", 0.0, {}, "0 of 1 that must confirm"),
        ("source", 1.0, {"rpl_semi_sync_source_wait_for_replica_count": "2"}, "1 of 2 that must confirm"),
        ("source", 2.0, {"rpl_semi_sync_source_wait_for_replica_count": "2"}, None),
        ("master", 1.0, {}, None),
    ],
)
def test_fewer_replicas_than_must_confirm(side: str, there: float, settings: dict[str, str], title: str | None) -> None:
    own = settings | {f"rpl_semi_sync_{side}_timeout": "3600000"}
    clients = {(None, f"global_status.rpl_semi_sync_{side}_clients"): there}
    finding = found(mysql(sessions=WAITING, gauges=clients, settings=own))["standby_slows_commits"]
    assert (title or "waits for a standby to confirm commits") in said(finding.title)
    if title:
        assert any("1 h" in said(item.figure) for item in finding.for_)
        assert f"rpl_semi_sync_{side}_enabled = OFF" in " ".join(said(step) for step in finding.remedy)


def test_where_nobody_waits_for_it_an_absent_replica_is_none() -> None:
    clients = {(None, "global_status.rpl_semi_sync_master_clients"): 0.0}
    assert "standby_slows_commits" not in found(mysql(sessions=[{}], gauges=clients))
