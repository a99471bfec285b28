"""Subscriptions that send each other's changes back."""

from typing import Any

import pytest

from diagnose.hosts import DB, host
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

SELL = {
    "statement_id": "5", "text": "update stock set n = n - $1 where id = $2", "calls_per_s": 30.0, "rows_per_s": 30.0,
    "elapsed_s_per_s": 0.03, "database": "shop",
}  # fmt: skip


def sender(source: str, subscription: str) -> dict[str, Any]:
    return {"kind": "walsender", "program": subscription, "database": source, "db": DB, "state": "active",
            "wait_class": "Idle", "event": "WalSenderWaitForWAL", "wait_kind": "idle"}  # fmt: skip


def told(*streams: tuple[str, str, str], changed: float = 7000.0, is_counted: bool = True) -> Finding | None:
    """Of streams by source, subscription and target; the tables of each target change so often."""
    figures: dict[tuple[str | None, str], float] = {}
    for _, subscription, target in streams:
        figures[f"{target}.{subscription}", "pg_stat_subscription.apply_workers"] = 1.0
        figures[f"{target}.public.stock", "pg_stat_user_tables.n_tup_upd"] = changed
    sessions = [sender(source, subscription) for source, subscription, _ in streams]
    others = [SELL | {"database": target, "calls_per_s": 0.0, "rows_per_s": 0.0} for _, _, target in streams]
    statements = [SELL, *(one for one in others if one["database"] != "shop")] if is_counted else []
    found = diagnose(host(postgres=figures, sessions=sessions, statements=statements)).findings
    return next((one for one in found if one.cause == "replication_in_a_circle"), None)


BACK = ("north", "to_shop", "shop")


def test_two_databases_that_subscribe_to_each_other() -> None:
    finding = told(("shop", "to_north", "north"), BACK)
    assert finding is not None
    assert (finding.severity, finding.confidence) == ("critical", 0.85)
    assert "replicate public.stock in a circle, 7,000 rows a second" in said(finding.title)
    assert "clients' statements come to 60 calls and rows a second" in " ".join(said(one.why) for one in finding.for_)
    assert "DISABLE" in said(finding.remedy[0])


def test_a_circle_of_three() -> None:
    finding = told(("shop", "to_north", "north"), ("north", "to_south", "south"), ("south", "to_shop", "shop"))
    assert finding is not None
    assert len([one for one in finding.for_ if one.table == "session"]) == 3


def test_many_databases_that_all_subscribe_to_each_other_are_gone_through_quickly() -> None:
    names = [f"node_{number}" for number in range(12)]  # of which there are a hundred million circles
    finding = told(*((one, f"{one}_to_{other}", other) for one in names for other in names if one != other))
    assert finding is not None
    assert len([one for one in finding.for_ if one.table == "session"]) == 2


@pytest.mark.parametrize(
    "streams",
    [
        [("shop", "to_north", "north")],
        [("shop", "to_north", "north"), ("north", "to_south", "south")],
    ],
    ids=["one way", "passed on"],
)
def test_what_is_passed_on_comes_to_an_end(streams: list[tuple[str, str, str]]) -> None:
    assert told(*streams) is None


def test_two_ways_that_carry_what_clients_change_are_none() -> None:
    assert told(("shop", "to_north", "north"), BACK, changed=90.0) is None


def test_where_nobody_counts_statements_it_is_not_known_what_clients_change() -> None:
    assert told(("shop", "to_north", "north"), BACK, is_counted=False) is None
