"""What `doctord map` shows while it happens: live sources, or a pipe."""

import sys
from contextlib import suppress
from pathlib import Path

from doctord.analyse.latency.map import LatencyMap
from doctord.app import map_live
from doctord.cli._map_screen import watch
from doctord.cli._terminal import Terminal
from doctord.cli.arguments import Refusal
from doctord.collect.core.database import Wanted
from doctord.read.source import Told
from doctord.report.map_view import View


def from_pipe(subject: str | None, view: View, told: Told) -> LatencyMap:
    """Watch what comes through standard input until it ends, or the user does; the map in the end.

    Raises:
        Refusal: no format fits, or nothing came that is wanted.
    """
    with map_live.from_pipe(subject, told) as growing:
        watch(growing, view, "PIPE")
        return growing.feed.map_of()


def live(wanted: Wanted, view: View, seconds: float | None, lake: Path | None) -> LatencyMap:
    """Watch live sources on a terminal, else wait; the map in the end.

    Args:
        wanted: What to time.
        view: What of the map is looked at first.
        seconds: How long; null until the user ends it.
        lake: Where to keep what is seen.

    Raises:
        Refusal: nothing here times it, or nothing was seen.
    """
    watched = sys.stdout.isatty() and sys.stdin.isatty()
    if seconds is None and not watched:
        raise Refusal("without a terminal nobody can end it", "say how long: --for 1m")
    with map_live.live(wanted, seconds, lake, Terminal()) as growing:
        if watched:
            watch(growing, view, "LIVE")
        else:
            # A wait without end is not interrupted: Polars' own handler of Ctrl-C lets the system call go on.
            with suppress(KeyboardInterrupt):
                growing.wait()
    return growing.feed.map_of()
