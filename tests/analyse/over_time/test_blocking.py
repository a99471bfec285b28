"""Who blocked whom: trees, whose times add up, and circles that end."""

import pytest

from doctord.analyse.over_time.blocking import MOST_NODES, blocking_trees
from doctord.analyse.over_time.buckets import Buckets
from doctord.dataset.dataset import Dataset
from sampled_sessions import AT, START


def blocked(*edges: tuple[int, int | None]) -> Dataset:
    """One sample, of a second that ends a second after `START`: who waits for whom."""
    rows = [
        {"ts": START.replace(second=1), "interval_s": 1.0, "db": "d", "sid": sid, "blocker_sid": blocker}
        | {"kind": "client", "state": "active", "event": "transactionid" if blocker else "CPU"}
        for sid, blocker in edges
    ]
    return Dataset.from_rows(session=rows)


BUCKETS = Buckets(AT, 2, 1)


def test_a_chain_is_a_tree_whose_root_holds_up_all() -> None:
    [root] = blocking_trees(blocked((1, None), (2, 1), (3, 2), (4, 1)), BUCKETS)
    assert (root.sid, root.waited_s, root.behind_s, root.values.tolist()) == (1, 0.0, 3.0, [1.5])
    assert root.about["event"] == "CPU"
    assert [(one.sid, one.waited_s, one.behind_s) for one in root.below] == [(2, 1.0, 1.0), (4, 1.0, 0.0)]
    assert [one.sid for one in root.below[0].below] == [3]


def test_a_circle_ends() -> None:
    trees = blocking_trees(blocked((1, 2), (2, 1)), BUCKETS)
    assert sorted(tree.sid for tree in trees) == [1, 2]
    assert sum(tree.behind_s for tree in trees) == pytest.approx(2.0)


def test_a_root_that_was_not_sampled_is_told_without_what_it_was() -> None:
    [root] = blocking_trees(blocked((2, 99)), BUCKETS)
    assert (root.sid, set(root.about.values())) == (99, {None})


def test_nobody_is_blocked() -> None:
    assert blocking_trees(blocked((1, None)), BUCKETS) == []
    assert blocking_trees(Dataset(), BUCKETS) == []


def test_a_crowd_is_bounded() -> None:
    [root] = blocking_trees(blocked(*((sid, 1) for sid in range(2, MOST_NODES + 500))), BUCKETS)
    assert len(root.below) < MOST_NODES
