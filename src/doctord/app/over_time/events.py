"""What happened in a time of a lake."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import polars as pl

from doctord.app.source import Recorded
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

COLUMNS: Final = ("ts", "host", "db", "kind", "subject", "text", "hint")


def events_of(recorded: Recorded, since: datetime, until: datetime) -> Sequence[dict[str, Any]]:
    """The events of a time in its order; what could not be seen, and is told for all of it, is none.

    Raises:
        UserError: the lake cannot be read.
    """
    dataset = Lake(recorded.lake or default_lake()).dataset(since, until, {"event": "true"})
    rows = recorded.rows(dataset).frame("event").filter(pl.col("ts") > since, pl.col("kind") != "not measured")
    return rows.sort("ts", maintain_order=True).select(COLUMNS).to_dicts()
