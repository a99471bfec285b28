"""`doctord profile`: the host on one page, from a lake or from files."""

from typing import Annotated

from doctord.cli import Terminal, app, command, show
from doctord.cli.arguments import Figures, Json, Measured, OfFiles, Thresholds, flag, moment
from doctord.moments import asked_moment


@command(app)
def profile(
    *,
    measured: Measured,
    at: Annotated[str | None, moment("End of today: 2026-11-20T10:00Z, -1d; the last row if not said.")] = None,
    busy_hour: Annotated[bool, flag("Values of each server's busy hour instead of whole days.", "--busy-hour")] = False,
    figures: Figures = None,
    thresholds: Thresholds = None,
    files: OfFiles,
    json: Json = False,
) -> int:
    """Show the host on one page: each figure 90, 30 and 7 days ago and today, and the waits that cost most.

    Files of several hosts have a page for each, the worst first, whose today is the end of that host's own time. Of a
    lake, what was recorded since the last time is summed up by hour, and these sums are kept for years.

    Exit status: 0 nothing is violated, 1 a threshold is, or figures contradict each other, 2 there is no figure, or a
    wrong option.
    """
    from doctord.app.capacity import profile as profiling
    from doctord.report.capacity import profile as words

    source = measured.source(files)
    asked = profiling.Asked(asked_moment(at) if at else None, figures, thresholds, busy_hour)
    return show(profiling.profile(source, asked, Terminal()), words, json=json)
