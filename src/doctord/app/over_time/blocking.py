"""Who blocked whom in a time of a lake."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from doctord.analyse.over_time.blocking import Blocked, blocking_trees
from doctord.analyse.over_time.buckets import Buckets
from doctord.app.source import Recorded
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

# Those that wait and those that are waited for: the rest of a day of samples need not be read.
BLOCKED_OR_BLOCKING: Final = (
    "blocker_sid IS NOT NULL OR sid IN (SELECT DISTINCT blocker_sid FROM session WHERE ts > $1 AND ts <= $2)"
)


@dataclass(frozen=True, slots=True)
class BlockingFound:
    """The trees, and the stretches of time that they are told by."""

    buckets: Buckets
    trees: list[Blocked]


def blocking_found(recorded: Recorded, since: datetime, until: datetime, buckets: int) -> BlockingFound:
    """The blocking trees of a time, in so many buckets at most.

    Raises:
        UserError: the lake cannot be read.
    """
    dataset = Lake(recorded.lake or default_lake()).dataset(since, until, {"session": BLOCKED_OR_BLOCKING})
    even = Buckets.between(since.timestamp(), until.timestamp(), buckets)
    return BlockingFound(even, blocking_trees(recorded.rows(dataset), even))
