"""Maps that grow."""

from datetime import UTC, datetime, timedelta

import pytest

from doctord._native import Batch
from doctord.app.maps.feed import Feed
from doctord.dataset.rows import micros, rows
from doctord.errors import UserError

T0 = datetime(2026, 11, 21, tzinfo=UTC)


def reads(second: int, count: int, subject: str = "pread64") -> Batch:
    row = {"ts": micros(T0 + timedelta(seconds=second)), "interval_s": 1.0, "host": "h", "subject": subject}
    return rows("latency", [row | {"gt_us": 32.0, "le_us": 64.0, "count": count}])


def test_it_grows_by_what_came() -> None:
    feed = Feed()
    assert not feed.grown()
    for second in (1, 2):
        feed.append(reads(second, second))
    assert feed.grown()
    feed.append(reads(5, 9))
    assert feed.grown()
    ((drawn, whole),) = feed.maps()
    assert [column.count for column in drawn.columns] == [1, 2, None, None, 9]
    assert whole.total == 12


def test_one_subject_or_all() -> None:
    batches = [reads(1, 1), reads(1, 7, "pwrite64")]
    every, one = Feed(), Feed("pread64")
    for feed in (every, one):
        for batch in batches:
            feed.append(batch)
        feed.grown()
    assert every.map_of().subject == "pwrite64"
    assert one.map_of().subject == "pread64"


def test_what_happened_is_marked_on_all_maps() -> None:
    feed = Feed()
    feed.append(reads(1, 1))
    feed.grown()
    event = {"ts": micros(T0 + timedelta(seconds=2)), "host": "h", "kind": "gap", "text": "the server was lost"}
    feed.append(rows("event", [event]))
    feed.grown()
    assert [marker.text for marker in feed.maps()[0][0].markers] == ["the server was lost"]


def test_nothing_seen_is_refused() -> None:
    with pytest.raises(UserError, match="nothing of 'pread64' was seen"):
        Feed("pread64").map_of()
