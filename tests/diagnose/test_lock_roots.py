"""Who explains whom follows from what the sessions do that others wait behind."""

from typing import Any

import pytest

from diagnose.hosts import host
from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION, LOCKS
from doctord.dataset.dataset import Dataset
from doctord.dataset.waits.kinds import KINDS
from doctord.diagnose.cause import CAUSES
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

BUSY = {("CPU", "CPU"): 0.2}
SLOW_DISK = {
    "reads_per_s": 10.0, "writes_per_s": 30.0, "read_ms": 24.0, "write_ms": 24.0, "device_queue": 1.0,
    "host_queue": 0.0, "util_pct": 60.0,
}  # fmt: skip
WAITER = {"wait_class": "Application", "event": "transactionid", "blocker_sid": 7000, "in_state_s": 0.2}
IN_LINE = WAITER | {"event": "tuple", "blocker_sid": 7001}


def root(wait_class: str, event: str, **changes: Any) -> dict[str, Any]:
    """A session that holds a row and waits for something itself; its number is 7000."""
    return {"sid": 7000, "wait_class": wait_class, "event": event} | changes


def convoy(*roots: dict[str, Any], waiters: int = 8, **changes: Any) -> Dataset:
    """Sessions that wait for a row: the first directly behind the root, all others in line behind the first."""
    behind = [WAITER | {"sid": 7001}, *[IN_LINE | {"sid": 7002 + number} for number in range(waiters - 1)]]
    return host(**{"time": BUSY, "sessions": [*roots, *behind]} | changes)


def found(dataset: Dataset) -> dict[str, Finding]:
    return {finding.cause: finding for finding in diagnose(dataset).findings}


def figures(finding: Finding) -> str:
    return " | ".join(said(item.figure) for item in finding.for_)


def test_rows_that_are_held_while_a_standby_is_waited_for() -> None:
    findings = found(convoy(root("Commit", "SyncRep")))
    assert list(findings) == ["standby_slows_commits", "row_locks"]
    assert findings["row_locks"].explained_by == "standby_slows_commits"
    standby = findings["standby_slows_commits"]
    assert standby.impact.share == pytest.approx(9 / 9.2), "its own wait, and all that stands behind it"
    assert standby.severity == "critical"
    assert "waits for locks behind sessions that wait for SyncRep" in figures(standby)
    assert "100 % of the waits for row locks are behind sessions that wait for SyncRep" in figures(
        findings["row_locks"]
    )


def test_a_root_whose_share_is_small_is_found_by_what_waits_behind_it() -> None:
    findings = found(convoy(root("Commit", "SyncRep"), waiters=40))
    assert next(iter(findings)) == "standby_slows_commits", "2 % of the time, and 97 % behind it"


def test_a_slow_disk_below_the_commits_below_the_rows() -> None:
    slow = {"disk": SLOW_DISK, "postgres": {(None, "pg_stat_database.xact_commit"): 25.0}}
    findings = found(convoy(root("Commit", "WALSync"), **slow))
    assert list(findings)[:3] == ["device_slow", "commits_slow", "row_locks"]
    assert findings["row_locks"].explained_by == "device_slow"
    assert findings["commits_slow"].explained_by == "device_slow"
    assert all((one.impact.share or 0.0) > 0.9 for one in (findings["device_slow"], findings["commits_slow"]))


def test_a_hot_row_whose_commits_are_quick_stays_first() -> None:
    quick = {"postgres": {(None, "pg_stat_database.xact_commit"): 900.0}}
    assert list(found(convoy(root("Commit", "WALSync"), **quick))) == ["row_locks"]


def test_a_hot_row_whose_holder_is_at_work_stays_first() -> None:
    assert list(found(convoy(root("CPU", "CPU")))) == ["row_locks"]


def test_full_cpus_are_behind_the_rows_whose_holder_wants_one() -> None:
    full = {
        "cpu": {"idle_pct": 1.0, "wait_io_pct": 0.0, "usr_pct": 90.0, "pressure_some_pct": 80.0, "run_queue": 9.0},
        "backend": {"usr_pct": 5.0, "sys_pct": 1.0, "run_wait_pct": 60.0},
        "time": {("CPU", "CPU"): 2.0},
    }
    findings = found(convoy(root("CPU", "CPU", pid=1000), **full))
    assert next(iter(findings)) == "cpu_saturated"
    assert findings["row_locks"].explained_by == "cpu_saturated"
    assert "behind sessions that want a CPU" in figures(findings["cpu_saturated"])


def test_who_takes_the_cpu_of_the_one_that_holds_the_row_is_behind_all_that_wait_for_it() -> None:
    hogs = [{"command": "sha256sum", "user": "root", "usr_pct": 24.0, "run_wait_pct": 75.0} for _ in range(8)]
    full = {
        "cpu": {"idle_pct": 0.5, "wait_io_pct": 0.0, "usr_pct": 98.0, "pressure_some_pct": 90.0, "run_queue": 9.0},
        "backend": {"usr_pct": 7.0, "sys_pct": 1.0, "run_wait_pct": 75.0},
        "time": {("CPU", "CPU"): 0.8},
    }
    findings = found(convoy(root("CPU", "CPU", pid=1000), waiters=80, backends=1, other_processes=hogs, **full))
    assert next(iter(findings)) == "cpu_other_processes"
    assert findings["row_locks"].explained_by == "cpu_other_processes"
    assert (findings["cpu_other_processes"].impact.share or 0.0) > 0.5
    room = found(convoy(root("CPU", "CPU", pid=1000), waiters=80, backends=1, **full | {"cpu": {}}))
    assert list(room) == ["row_locks"]


def test_who_stands_in_a_line_for_a_row_wants_no_cpu() -> None:
    """As seen in the lab: eight checksums beside a convoy, in which holders are idle between their statements."""
    hogs = [{"command": "sha256sum", "user": "root", "usr_pct": 14.0, "run_wait_pct": 86.0} for _ in range(8)]
    full = {
        "cpu": {"idle_pct": 0.0, "wait_io_pct": 0.0, "usr_pct": 98.0, "pressure_some_pct": 99.0, "run_queue": 13.0},
        "backend": {"usr_pct": 17.0, "sys_pct": 1.0, "run_wait_pct": 29.0},
        "time": {("CPU", "CPU"): 1.8},
    }
    idle = root("Idle", "ClientRead", state="idle in transaction", transaction_s=0.3, in_state_s=0.01)
    findings = found(convoy(idle, waiters=30, other_processes=hogs, **full))
    assert findings["row_locks"].severity == "critical"
    assert findings["cpu_other_processes"].severity == "warning"
    assert (findings["cpu_other_processes"].impact.share or 1.0) < 0.1


def test_what_hardly_anybody_is_behind_explains_nothing() -> None:
    other = [root("Commit", "SyncRep", sid=7500), WAITER | {"sid": 7501, "blocker_sid": 7500}]
    findings = found(convoy(root("CPU", "CPU"), *other, waiters=12))
    assert list(findings)[:2] == ["row_locks", "standby_slows_commits"]
    assert findings["row_locks"].explained_by is None


def test_an_idle_transaction_that_few_wait_behind_does_not_explain_the_hot_row() -> None:
    idle = root("Idle", "ClientRead", sid=7500, state="idle in transaction", transaction_s=42.0, in_state_s=41.0)
    findings = found(convoy(root("CPU", "CPU"), idle, WAITER | {"sid": 7501, "blocker_sid": 7500}, waiters=9))
    assert findings["idle_in_transaction_blocker"].impact.share == pytest.approx(0.1, abs=0.02)
    assert findings["row_locks"].explained_by is None


def test_where_holders_were_not_seen_the_names_that_causes_give_hold() -> None:
    unseen = [{"wait_class": "Application", "event": "transactionid", "sid": 8000 + number} for number in range(30)]
    idle = root("Idle", "ClientRead", state="idle in transaction", transaction_s=42.0, in_state_s=41.0)
    findings = found(convoy(idle, *unseen, waiters=4))
    assert findings["row_locks"].explained_by == "idle_in_transaction_blocker"


def test_locks_on_tables_likewise() -> None:
    waiters = [{"wait_class": "Application", "event": "relation", "blocker_sid": 7000} for _ in range(6)]
    findings = found(host(time=BUSY, sessions=[root("Commit", "SyncRep"), *waiters]))
    assert findings["table_locks"].explained_by == "standby_slows_commits"


def test_the_kinds_of_wait_that_causes_name_are_known_and_locks_explain_nothing() -> None:
    for cause in CAUSES.values():
        assert {*cause.waits} <= {*KINDS, IDLE_IN_TRANSACTION}, cause.name
        assert not (cause.explains and {*cause.waits} & {*LOCKS}), f"{cause.name}: a circle"


ADVISORY: dict[str, Any] = {"wait_class": "Application", "event": "advisory", "blocker_sid": 6999}


def test_rows_that_are_held_while_an_advisory_lock_is_waited_for() -> None:
    """Its holder, session 6999, is idle and outside of any transaction: nobody samples it."""
    findings = found(convoy(root(**ADVISORY)))
    assert list(findings) == ["table_locks", "row_locks"]
    assert findings["row_locks"].explained_by == "table_locks"
    assert findings["table_locks"].impact.share == pytest.approx(9 / 9.2), "its own wait, and all that stands behind it"
    assert "100 % of the waits for row locks are behind sessions that wait for advisory" in figures(
        findings["row_locks"]
    )


def test_an_idle_transaction_is_before_the_lock_that_it_holds() -> None:
    idle = {"sid": 6999, "state": "idle in transaction", "transaction_s": 42.0, "in_state_s": 41.0}
    holder = root("Idle", "ClientRead", **idle)
    findings = found(convoy(holder, root(**ADVISORY)))
    assert next(iter(findings)) == "idle_in_transaction_blocker"
    assert findings["row_locks"].explained_by == "idle_in_transaction_blocker"
    assert findings["table_locks"].explained_by == "idle_in_transaction_blocker"


def test_two_kinds_of_lock_behind_each_other_are_no_circle() -> None:
    of_table = [ADVISORY | {"event": "relation", "blocker_sid": 7500, "sid": 7600 + number} for number in range(3)]
    holds_table = WAITER | {"sid": 7500, "blocker_sid": 6998}
    findings = found(convoy(root(**ADVISORY), holds_table, *of_table))
    assert {"row_locks", "table_locks"} <= findings.keys()
    assert next(iter(findings)) == "row_locks"
    assert findings["row_locks"].explained_by is None
