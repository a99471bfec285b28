from typing import Any

import pytest

from doctord.dataset.dataset import Dataset
from doctord.report.diagnosis.tops import MOST_ROWS, blocking_tree, top_processes, top_statements
from report import datasets
from report.examples import UNTIL

POINT: dict[str, Any] = {"ts": UNTIL, "interval_s": 10.0}


def session(sid: int, blocker: int | None) -> dict[str, Any]:
    return POINT | {"db": datasets.DB, "sid": sid, "kind": "client", "blocker_sid": blocker}


def shape(*sessions: dict[str, Any]) -> list[tuple[int, int]]:
    return [(one.depth, one.sid) for one in blocking_tree(Dataset.from_rows(session=list(sessions)))]


def test_the_tree_follows_who_blocks_whom() -> None:
    assert shape(session(1, None), session(2, 1), session(3, 2), session(4, 1), session(9, None)) == [
        (0, 1),
        (1, 2),
        (2, 3),
        (1, 4),
    ]


def test_a_blocker_that_was_not_sampled_is_still_the_root() -> None:
    assert shape(session(2, 1)) == [(0, 1), (1, 2)]


def test_each_session_of_a_deadlock_is_shown_once() -> None:
    assert sorted(sid for _, sid in shape(session(1, 2), session(2, 1))) == [1, 2]


def test_nobody_blocked_is_no_tree() -> None:
    assert shape(session(1, None)) == []


def test_the_moment_with_most_blocked_is_shown() -> None:
    tree = blocking_tree(datasets.dataset())
    assert (tree[0].sid, tree[0].waiters, tree[0].state) == (datasets.BLOCKER, 4, "idle in transaction")
    assert len(tree) == datasets.WAITERS + 1


def test_processes_are_in_order_of_cpu_and_null_stays_null() -> None:
    rows = top_processes(datasets.dataset(processes=30))
    assert len(rows) == MOST_ROWS
    assert rows[0].cpu_pct == max(row.cpu_pct or 0 for row in rows)
    assert rows[0].io_wait_pct is None
    assert rows[0].write_bytes_per_s == pytest.approx(2.5e6)


def test_statements_are_weighted_by_the_time_they_were_seen() -> None:
    one = {"db": datasets.DB, "statement_id": "1", "elapsed_s_per_s": 2.0, "calls_per_s": 4.0, "text": "SELECT 1"}
    dataset = Dataset.from_rows(
        cpu=[{"ts": UNTIL, "interval_s": 20.0}],
        statement=[POINT | one, POINT | {"db": datasets.DB, "statement_id": "2", "elapsed_s_per_s": 0.1}],
    )
    first, second = top_statements(dataset)
    assert (first.elapsed_s_per_s, first.calls_per_s, first.elapsed_ms) == (1.0, 2.0, 500.0)
    assert (second.calls_per_s, second.elapsed_ms, second.text) == (None, None, None)
