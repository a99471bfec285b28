"""Subscriptions that fall back or stand still, and those that follow."""

from datetime import timedelta
from typing import Any

import pytest

from diagnose.hosts import DB, START, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

ORDERS, STOCK = "shop.orders", "shop.public.stock"
FOLLOWS = {
    "pg_subscription.enabled": 1.0, "pg_subscription.has_slot": 1.0, "pg_stat_subscription.apply_workers": 1.0,
    "pg_stat_subscription.sync_workers": 0.0, "pg_stat_subscription.apply_pid": 910.0,
    "pg_subscription_rel.tables_not_ready": 0.0, "pg_stat_subscription.last_msg_age_s": 0.0,
}  # fmt: skip
WORKER = {
    "sid": 910, "pid": 910, "kind": "logical replication worker", "database": "shop", "user": "postgres",
    "program": "orders", "wait_class": "CPU", "event": "CPU", "wait_kind": "cpu",
}  # fmt: skip
BUSY = {"command": "postgres: logical replication worker", "usr_pct": 97.0, "sys_pct": 2.0}
SCANNED = {
    (STOCK, "pg_subscription_rel.without_key"): 1.0,
    (STOCK, "pg_stat_user_tables.n_tup_upd"): 40.0, (STOCK, "pg_stat_user_tables.n_tup_del"): 2.0,
    (STOCK, "pg_stat_user_tables.seq_tup_read"): 8.4e6,
}  # fmt: skip


def subscriber(
    behind: list[float] | None = None,
    figures: dict[tuple[str | None, str], float] | None = None,
    worker: dict[str, Any] | None = None,
    **more: Any,
) -> list[Finding]:
    """Findings of a subscriber's host, with how far it is behind every five seconds."""
    known = {(ORDERS, name): value for name, value in (FOLLOWS | more.pop("subscription", {})).items()}
    dataset = host(postgres=known | (figures or {}), sessions=[] if worker is None else [WORKER | worker], **more)
    about = {"db": DB, "component": "postgresql", "entity": ORDERS, "name": "pg_stat_subscription.behind_s"}
    lag = [
        about | {"ts": START + timedelta(seconds=5 * number + 1), "interval_s": None, "host": "host", "value": value,
                 "kind": "gauge", "unit": "s"}
        for number, value in enumerate(behind or [0.01] * 4)
    ]  # fmt: skip
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    return list(diagnose(Dataset.from_rows(**tables | {"statistic": [*tables["statistic"], *lag]})).findings)


def told(findings: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.cause, one.severity, said(one.title)) for one in findings]


def evidence(finding: Finding) -> str:
    return " | ".join(said(one.figure) for one in finding.for_)


FALLS_BACK = [6.0, 9.0, 11.0, 14.0]


def test_a_table_without_a_key_that_is_read_whole_for_each_row() -> None:
    [finding] = subscriber(FALLS_BACK, SCANNED, {}, background=[BUSY])
    assert (finding.cause, finding.severity, finding.database) == ("subscription_behind", "warning", DB)
    assert said(finding.title) == (
        "Subscription orders is 14 s behind, 0.5 s more each second: it reads 200,000 rows of public.stock for each "
        "row changed"
    )
    assert "its worker is at work at 100 % of the looks | 99 % of a CPU" in evidence(finding)


def test_the_same_rate_by_a_key_is_healthy() -> None:
    by_key = SCANNED | {(STOCK, "pg_stat_user_tables.seq_tup_read"): 0.0}
    assert told(subscriber(figures=by_key, worker={"samples": 3})) == []


def test_a_worker_that_waits_for_a_lock_counts_on() -> None:
    lock = {"wait_class": "Application", "event": "relation", "wait_kind": "table lock", "blocker_sid": 7001}
    holder = {"sid": 7001, "state": "idle in transaction", "program": "export", "wait_class": "Idle"}
    [finding, *_] = [
        one
        for one in subscriber(
            [0.2] * 4, {(ORDERS, "pg_stat_subscription.last_msg_age_s"): 300.0}, lock,
            extra={"session": [{"db": DB, **holder}]},
        ) if one.cause == "subscription_behind"
    ]  # fmt: skip
    assert finding.severity == "warning"
    assert said(finding.title) == "Subscription orders is 5 min behind: it waits for a lock"
    assert "100 % of the time in relation" in evidence(finding)
    assert any("session 7001 (export, idle in transaction)" in said(one.why) for one in finding.for_)


@pytest.mark.parametrize(
    ("behind", "worker"),
    [
        ([0.01] * 4, None),
        ([20.0, 12.0, 8.0, 3.0], {"samples": 15}),
        ([0.2, 0.6, 0.4, 0.3], {}),
        ([3.0] * 4, {"samples": 17}),
    ],
    ids=["follows", "catches up", "busy, and nothing stands long", "not busy all along"],
)
def test_a_subscription_that_follows_is_healthy(behind: list[float], worker: dict[str, Any] | None) -> None:
    assert told(subscriber(behind, worker=worker)) == []


def test_one_that_just_began_to_fall_back_for_no_reason_seen_is_a_note() -> None:
    assert [one[:2] for one in told(subscriber(FALLS_BACK, worker={}))] == [("subscription_behind", "note")]
    assert [one[:2] for one in told(subscriber([30.0, 34.0, 38.0, 42.0], worker={}))] == [
        ("subscription_behind", "warning")
    ]


def test_a_worker_that_is_never_idle_while_all_that_comes_stands_in_line() -> None:
    """What the sockets hold is some seconds; what the publisher keeps, a subscriber cannot see."""
    [finding] = subscriber([2.0, 3.6, 2.4, 1.8], SCANNED, {}, background=[BUSY])
    assert finding.severity == "warning"
    assert said(finding.title) == (
        "Subscription orders does not keep up: it reads 200,000 rows of public.stock for each row changed"
    )
    assert said(finding.not_measured[0].what) == "how far the subscription is behind in all"
    [finding] = subscriber([2.0] * 4, worker={})
    assert finding.severity == "note", "a burst, perhaps"
    [finding] = subscriber([2.0] * 4, worker={}, seconds=90)
    assert finding.severity == "warning"


def test_minutes_behind_with_a_worker_that_rests_are_the_clocks() -> None:
    [finding] = subscriber([90.0] * 4, worker={"samples": 1})
    assert (finding.cause, finding.severity) == ("subscription_behind", "note")
    assert "waits for the publisher at 95 % of the looks" in said(finding.against[0].figure)


def test_commits_that_the_worker_waits_for_and_triggers() -> None:
    waits = {"wait_class": "Commit", "event": "WALSync", "wait_kind": "log sync"}
    [finding] = subscriber(FALLS_BACK, worker=waits)
    assert "100 % of the time until commits are safe" in evidence(finding)
    audit = {(STOCK, "pg_subscription_rel.triggers"): 2.0}
    [finding] = subscriber(FALLS_BACK, audit, {}, background=[BUSY])
    assert "2 triggers of public.stock" in evidence(finding)


DISABLED = {"pg_subscription.enabled": 0.0, "pg_stat_subscription.apply_workers": 0.0}


def test_a_subscription_that_is_disabled() -> None:
    assert told(subscriber(subscription=DISABLED)) == [
        ("subscription_stopped", "warning", "Subscription orders is disabled: nothing arrives")
    ]
    without_slot = DISABLED | {"pg_subscription.has_slot": 0.0}
    assert [one[:2] for one in told(subscriber(subscription=without_slot))] == [("subscription_stopped", "note")]


def test_a_subscription_without_a_worker() -> None:
    nobody = {"pg_stat_subscription.apply_workers": 0.0}
    assert told(subscriber(subscription=nobody)) == [
        ("subscription_stopped", "warning", "Subscription orders has no worker: nothing is applied")
    ]
    fails = {("orders", "pg_stat_subscription_stats.apply_error_count"): 0.2}
    assert [one[0] for one in told(subscriber(figures=fails, subscription=nobody))] == ["subscription_fails"]


def test_tables_that_nobody_copies_and_one_that_somebody_does() -> None:
    waiting = {"pg_subscription_rel.tables_not_ready": 1.0}
    table = {(STOCK, "pg_subscription_rel.not_ready"): 1.0}
    [finding] = subscriber(figures=table, subscription=waiting, settings={"max_sync_workers_per_subscription": "0"})
    assert (finding.cause, finding.severity) == ("subscription_stopped", "warning")
    assert said(finding.for_[0].why) == "public.stock"
    assert "max_sync_workers_per_subscription = 0" in evidence(finding)
    assert told(subscriber(figures=table, subscription=waiting | {"pg_stat_subscription.sync_workers": 1.0})) == []


WALSENDER = {
    ("orders", "pg_stat_replication.is_logical"): 1.0, ("orders", "pg_stat_replication.reply_age_s"): 1.0,
    ("orders", "pg_stat_replication.replay_lag_bytes"): 9e6,
}  # fmt: skip


def test_a_subscriber_that_is_behind_as_its_publisher_sees_it() -> None:
    late = {("orders", "pg_stat_replication.replay_lag_s"): 90.0}
    findings = diagnose(host(postgres=WALSENDER | late)).findings
    assert told(list(findings)) == [("subscription_behind", "warning", "Subscriber orders is 1 min 30 s behind")]
    growing = {(None, "pg_stat_wal.wal_bytes"): 1e5}
    sends = {"kind": "walsender", "program": "orders", "wait_class": "Network", "event": "WalSenderWriteData"}
    findings = diagnose(host(postgres=WALSENDER | growing, sessions=[sends])).findings
    assert told([one for one in findings if one.cause == "subscription_behind"]) == [
        ("subscription_behind", "warning", "Subscriber orders is 1 min 30 s behind")
    ]
    assert diagnose(host(postgres=WALSENDER | growing)).findings == (), "it takes what is sent at once"
    soon = {("orders", "pg_stat_replication.replay_lag_s"): 2.0}
    assert diagnose(host(postgres=WALSENDER | soon)).findings == ()
    physical = WALSENDER | late | {("orders", "pg_stat_replication.is_logical"): 0.0}
    assert diagnose(host(postgres=physical)).findings == ()


def rows(name: str, entity: str, of: dict[int, float], db: str = DB) -> list[dict[str, Any]]:
    """Readings by the second."""
    about = {"component": "postgresql", "host": "host", "kind": "gauge", "interval_s": None}
    return [
        about | {"db": db, "name": name, "entity": entity, "ts": START + timedelta(seconds=second), "value": value}
        for second, value in of.items()
    ]  # fmt: skip


def hour(of: dict[str, dict[int, float]], worker: dict[str, Any] | None = None, since: int = 0) -> list[Finding]:
    """Findings of an hour with readings of a subscription, whose worker is at work at each second from some on."""
    dataset = host(seconds=3600, cpus=0)
    at_work = [
        WORKER | (worker or {}) | {"ts": START + timedelta(seconds=second), "interval_s": 1.0, "host": "host", "db": DB,
                                   "state": "active", "in_state_s": 0.1}
        for second in (range(since, 3600) if worker is not None else ())
    ]  # fmt: skip
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    told = [row for name, values in of.items() for row in rows(name, ORDERS, values)]
    changed = {"statistic": [*tables["statistic"], *told], "session": [*tables["session"], *at_work]}
    return list(diagnose(Dataset.from_rows(**tables | changed)).findings)


STEADY = {f"pg_stat_subscription.{name}": dict.fromkeys(range(5, 3601, 5), value)
          for name, value in (("sync_workers", 0.0), ("apply_pid", 910.0), ("last_msg_age_s", 0.0))}  # fmt: skip


@pytest.mark.parametrize(("since", "is_found"), [(3000, True), (3590, False)])
def test_a_worker_that_went_away_in_the_middle_of_a_recording(since: int, *, is_found: bool) -> None:
    workers = {second: float(second < since) for second in range(5, 3601, 5)}
    enabled = dict.fromkeys(workers, 1.0)
    found = hour({"pg_subscription.enabled": enabled, "pg_stat_subscription.apply_workers": workers})
    assert [one.cause for one in found] == ["subscription_stopped"] * is_found
    assert not is_found or said(found[0].for_[0].figure) == "none at 121 looks"


def test_the_last_ten_minutes_of_an_hour_are_not_made_small_by_the_rest() -> None:
    """Nothing to do for long, then a worker that does not keep up; by the hour's mean it mostly rests."""
    behind = {second: max(second - 3100, 0) * 0.3 for second in range(5, 3601, 5)}
    [finding] = hour(STEADY | {"pg_stat_subscription.behind_s": behind}, worker={}, since=3100)
    assert (finding.cause, finding.severity) == ("subscription_behind", "warning")
    assert not finding.against


@pytest.mark.parametrize("lags", [(90.0, 0.1), (0.1, 90.0)])
def test_two_publishers_whose_subscriptions_have_the_same_name(lags: tuple[float, float]) -> None:
    """Nobody knows which of them the subscription follows that is looked at too."""
    first = {("orders", "pg_stat_replication.replay_lag_s"): lags[0]}
    dataset = host(postgres=WALSENDER | first | {(ORDERS, name): value for name, value in FOLLOWS.items()}
                   | {(ORDERS, "pg_stat_subscription.behind_s"): 0.01})  # fmt: skip
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    other = [row | {"db": "postgresql:5433", "value": lags[1] if "lag_s" in row["name"] else row["value"]}
             for row in tables["statistic"] if row["db"] == DB and "pg_stat_replication" in row["name"]]  # fmt: skip
    found = diagnose(Dataset.from_rows(**tables | {"statistic": [*tables["statistic"], *other]})).findings
    assert [said(one.title) for one in found] == ["Subscriber orders is 1 min 30 s behind"]
