"""Kinds of wait: each vendor's mapping is whole, and rows get their kind wherever they are made."""

import polars as pl
import pytest

from doctord._native import Batch
from doctord.analyse.time import time_model
from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import columns, rows
from doctord.dataset.waits.events import VENDORS, find, kind_of, wait_events
from doctord.dataset.waits.kinds import KINDS

BY_ANALYSIS = {"run queue", "server log"}
"""Kinds that no server tells: the time model finds them, or the kernel tells."""

SAME_EVERYWHERE = {
    "row lock": ("transactionid", "enq: TX - row lock contention", "LOCK WAIT"),
    "table lock": ("relation", "enq: TM - contention", "wait/lock/metadata/sql/mdl"),
    "application lock": ("advisory", "enq: UL - contention", "User lock"),
    "internal lock": ("LockManager", "latch free", "wait/synch/mutex/innodb/trx_mutex"),
    "log sync": ("WALSync", "log file sync", "waiting for handler commit"),
    "single read": ("DataFileRead", "db file sequential read", "wait/io/file/innodb/innodb_data_file read"),
    "temp": ("BufFileWrite", "direct path write temp", "wait/io/file/innodb/innodb_temp_file write"),
    "network to client": ("ClientRead", "SQL*Net more data to client", "wait/io/socket/sql/client_connection"),
    "standby": ("SyncRep", "SYNC Remote Write", "Waiting for semi-sync ACK from replica"),
    "cpu": ("CPU", "CPU time", "CPU"),
}


def frame(batch: Batch) -> pl.DataFrame:
    return Dataset.from_batches([batch]).frame(batch.table)


@pytest.mark.parametrize("vendor", VENDORS)
def test_each_event_has_a_kind_that_is_declared(vendor: str) -> None:
    lines = wait_events(vendor)
    assert len(lines) > 100
    assert {line.wait_kind for line in lines} | {line.background_kind for line in lines} <= {*KINDS, ""}
    assert all(line.wait_kind and line.wait_class for line in lines)


def test_each_kind_is_of_some_event() -> None:
    assert {line.wait_kind for vendor in VENDORS for line in wait_events(vendor)} == KINDS.keys() - BY_ANALYSIS


def test_the_kind_follows_from_the_event_alone() -> None:
    """Vendors share no name, and PostgreSQL's types none of two kinds: what has no kind can be given one later."""
    told: dict[str, tuple[str, str]] = {}
    for vendor in VENDORS:
        for line in wait_events(vendor):
            if line.event not in {"*", "CPU"}:
                kinds = (line.wait_kind, line.background_kind)
                assert told.setdefault(line.event, kinds) == kinds
                others = [find(other, line.event) for other in VENDORS if other != vendor and "%" not in line.event]
                assert not any(others), line


@pytest.mark.parametrize(("kind", "events"), SAME_EVERYWHERE.items())
def test_the_same_thing_has_the_same_kind_everywhere(kind: str, events: tuple[str, ...]) -> None:
    assert {kind_of(event) for event in events} == {kind}


def test_the_longest_name_counts() -> None:
    assert kind_of("wait/io/file/innodb/innodb_log_file other") == "log sync"
    assert kind_of("wait/io/file/innodb/innodb_log_file write") == "log write"
    assert kind_of("wait/synch/mutex/sql/anything") == "internal lock"
    assert kind_of("enq: QQ - of tomorrow") == "other lock"
    assert kind_of("nothing of the kind") is None


def test_a_row_that_says_no_kind_gets_that_of_its_event() -> None:
    said = [{"event": "WALSync", "wait_class": "System I/O"}, {"event": "?"}, {}, {"event": "?", "wait_kind": "temp"}]
    assert frame(rows("wait", said))["wait_kind"].to_list() == ["log write", None, None, "temp"]
    by_column = columns("session", 2, {"event": ["transactionid", None], "wait_class": "Application"})
    assert frame(by_column)["wait_kind"].to_list() == ["row lock", None]
    assert frame(columns("wait", 1, {"event": "log file sync"}))["wait_kind"].to_list() == ["log sync"]


def test_the_time_model_gives_rows_of_old_lakes_their_kind_and_keeps_what_is_said() -> None:
    wait = {"interval_s": 10.0, "db": "postgresql:5432", "kind": "foreground", "average_active_sessions": 1.0}
    events = [
        {"wait_class": "Application", "event": "tuple"},
        {"wait_class": "Application", "event": "transactionid", "wait_kind": "row lock"},
        {"wait_class": "Concurrency", "event": "of an extension", "wait_kind": "internal lock"},
        {"wait_class": "Other", "event": "of an extension"},
    ]
    time = time_model(Dataset.from_rows(wait=[{**wait, **event} for event in events]))
    assert time.kind_share("row lock") == pytest.approx(0.5)
    assert time.kind_share("row lock", "internal lock") == pytest.approx(0.75)
    assert sorted(time.events_of("row lock")) == ["transactionid", "tuple"]
