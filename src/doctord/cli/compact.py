"""`doctord compact`: put what many hosts shipped into few large files."""

from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Json, argument, length


@command(app)
def compact(
    *,
    place: Annotated[str, argument("Where hosts ship to: a folder, or s3://BUCKET/PREFIX.", "PLACE")],
    settle: Annotated[str, length("Compact days that ended so long ago.")] = "6h",
    keep: Annotated[str | None, length("Remove days that ended so long ago (default: none).")] = None,
    json: Json = False,
) -> int:
    """Merge what hosts shipped into a file for each table, day and bucket of hosts; run it once a day.

    It may be ended at any moment, and run beside another one: each row is there once. Engines read the files as they
    are: table=cpu/day=2026-11-28/bucket=07/.

    Exit status: 0 all of these days is in files, 2 something of it is not, or a wrong option.
    """
    from datetime import timedelta

    from doctord.app.fleet.compact import compact as compacting
    from doctord.lake.store.store import store_at
    from doctord.report import compacted as words
    from doctord.units import parse_duration

    kept = timedelta(seconds=parse_duration(keep)) if keep else None
    found = compacting(store_at(place), timedelta(seconds=parse_duration(settle)), kept, Terminal())
    return show(found, words, json=json)
