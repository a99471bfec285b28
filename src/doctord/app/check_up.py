"""Look at this host and its databases now, keep what was measured where that is asked for, and diagnose it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from doctord.app.diagnose import Examination, diagnose
from doctord.app.incidents.known import resembled_now
from doctord.app.incidents.library import place_of
from doctord.app.source import Live
from doctord.app.watcher import SILENT, Watcher
from doctord.lake.claim import check_place
from doctord.lake.place import default_lake
from doctord.lake.writer import write


def check_up(
    seconds: float,
    dsns: Sequence[str] = (),
    *,
    databases: bool = True,
    lake: Path | None = None,
    probe: bool = True,
    watcher: Watcher = SILENT,
) -> Examination:
    """Examine this host and its databases now.

    Args:
        seconds: How long to look.
        dsns: libpq connection strings of the servers to look at; local servers are found when none is given.
        databases: Whether to look at databases at all.
        lake: Where to keep what is measured, and where the past is; null keeps nothing, and looks into the usual lake.
        probe: Whether to connect to its servers as a client does, and time it.
        watcher: Who is told how it goes on.

    Raises:
        UserError: a connection string is none, or the lake cannot be written.
    """
    if lake:
        check_place(lake)
    past = lake or default_lake()
    live = Live(seconds, dsns, databases, past, probe)
    examination = diagnose(live, watcher=watcher, servers=len(dsns))
    if lake:
        write(lake, examination.seen.batches)
    like = resembled_now(examination.seen.dataset, past, place_of(lake, None), watcher)
    return replace(examination, resemblance=like)
