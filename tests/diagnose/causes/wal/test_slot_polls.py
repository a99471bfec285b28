"""Logical slots that are read by calls of a function, which decode what earlier calls have decoded."""

from typing import Any

import pytest

from diagnose.causes.wal.test_slot_readers import MIB, SETTINGS, fixed, moving, session, slot, writing
from diagnose.hosts import GIB, host
from doctord.dataset.dataset import Dataset
from doctord.diagnose.engine import diagnose
from doctord.diagnose.finding import Finding
from doctord.report.phrases import said

POLL = "select count(*) from pg_logical_slot_get_changes($1, $2, $3)"
IDLE = session(4711, "idle in transaction")


def found(*rows: list[dict[str, Any]], text: str = POLL, each_s: float = 0.12, calls: float = 2.0) -> Finding | None:
    statement = {"statement_id": "7", "text": text, "calls_per_s": calls, "elapsed_s_per_s": calls * each_s}
    own = {"statement_id": "7", "wait_kind": "cpu", "interval_s": calls * each_s, "pid": 1000}
    dataset = host(settings=SETTINGS, sessions=[IDLE, own], statements=[statement], time={})
    tables = {name: dataset.frame(name).to_dicts() for name in dataset.tables}
    told = [row for one in rows for row in one]
    dataset = Dataset.from_rows(**(tables | {"statistic": [*tables.get("statistic", []), *told]}))
    return next((one for one in diagnose(dataset).findings if one.cause == "slot_decodes_again"), None)


def test_each_poll_decodes_from_where_the_oldest_transaction_began() -> None:
    finding = found(slot(fixed, moving, active=0.0), writing(4711, 720))
    assert finding
    assert said(finding.title) == (
        "Each poll of slot cdc decodes 5.2 GiB of WAL again, in 120 ms: its restart_lsn is held by "
        "session 4711 (monthly, report), idle in transaction"
    )
    assert (finding.severity, finding.confidence, finding.impact.known) == ("warning", 0.9, "at_most")
    assert "pg_terminate_backend(4711)" in said(finding.remedy[0])
    assert not finding.against


def test_who_holds_it_may_not_be_known() -> None:
    finding = found(slot(fixed, moving, active=0.0), writing(4711, 3))
    assert finding
    assert finding.confidence == 0.6
    assert said(finding.title).endswith("in 120 ms")


def test_who_peeks_confirms_nothing() -> None:
    finding = found(slot(fixed, fixed, active=0.0), text=POLL.replace("get", "peek"))
    assert finding
    assert said(finding.title) == (
        "Each poll of slot cdc decodes up to 5.2 GiB of WAL again, in 120 ms: who peeks confirms nothing"
    )
    assert (finding.severity, finding.confidence) == ("warning", 0.9)
    assert "pg_replication_slot_advance" in said(finding.remedy[0])


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        (slot(moving, moving, active=0.0), {"text": POLL.replace("get", "peek")}),
        (slot(fixed, fixed, active=0.0), {}),
        (slot(moving, moving, active=0.0), {}),
        (slot(fixed, moving), {"text": "select count(*) from orders"}),
        (slot(fixed, moving), {"each_s": 0.002}),
        (slot(lambda at: 10 * GIB + 20 * MIB * at - 9 * MIB, moving), {}),
    ],
    ids=[
        "peeks, and confirms by another call",
        "nothing was confirmed before",
        "little is kept",
        "another statement",
        "quick",
        "less than a segment",
    ],
)
def test_a_poll_that_reads_what_is_new(rows: list[dict[str, Any]], changes: dict[str, Any]) -> None:
    assert found(rows, writing(4711, 720), **changes) is None
