"""What `doctord map` looks at while it happens: live sources, or a pipe."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from doctord._native import Batch
from doctord.analyse.latency.map import LatencyMap
from doctord.cli._map_feed import Feed
from doctord.cli._map_screen import watch
from doctord.cli.arguments import Refusal, note
from doctord.collect import schedule
from doctord.collect.collector import Collector
from doctord.collect.latency.sources import Wanted, choose
from doctord.lake.writer import LakeWriter
from doctord.read.formats import being_read
from doctord.read.source import STANDARD_INPUT, Told
from doctord.report.map_view import View

PERIOD_S, SHORT_PERIOD_S = 3.0, 1.0
SHORT_S = 30.0
PATIENCE_S = 0.2


def period_s(seconds: float | None) -> float:
    """Width of a column, where none is said: that of OraLatencyMap, and less for a short look."""
    return SHORT_PERIOD_S if seconds is not None and seconds <= SHORT_S else PERIOD_S


def from_pipe(subject: str | None, view: View, told: Told) -> LatencyMap:
    """Watch what comes through standard input until it ends, or the user does; the map in the end.

    Raises:
        Refusal: no format fits, or nothing came that is wanted.
    """
    feed = Feed(subject)
    with being_read(STANDARD_INPUT, told) as (_, batches, _source):
        # It may wait for input when the user quits: nobody waits for it then.
        thread = threading.Thread(target=feed.take, args=(batches,), daemon=True)
        thread.start()
        watch(feed.maps, feed.grown, lambda: not thread.is_alive(), view, "PIPE")
        feed.grown()
        return feed.map_of()


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
    choice = choose(wanted)
    for word in filter(None, (choice.note, choice.lost)):
        note(f"{word}")
    feed = Feed(wanted.subject)
    with _collecting(choice.collectors, feed.append, seconds, lake) as thread:
        if watched:
            watch(feed.maps, feed.grown, lambda: not thread.is_alive(), view, "LIVE")
        else:
            # A wait without end is not interrupted: Polars' own handler of Ctrl-C lets the system call go on.
            with suppress(KeyboardInterrupt):
                while thread.is_alive():
                    thread.join(PATIENCE_S)
    feed.grown()
    return feed.map_of()


@contextmanager
def _collecting(
    collectors: Sequence[Collector], sink: Callable[[Batch], None], seconds: float | None, lake: Path | None
) -> Iterator[threading.Thread]:
    """Ask the collectors in the background until the end of the block; into a lake too where one is named."""
    stop = threading.Event()
    with LakeWriter(lake) if lake else _no_lake() as writer:

        def both(batch: Batch) -> None:
            sink(batch)
            if writer:
                writer.append(batch)

        def run() -> None:
            schedule.run(collectors, both, stop=stop, seconds=seconds)

        thread = threading.Thread(target=run, name="doctord-map")
        thread.start()
        try:
            yield thread
        finally:
            stop.set()
            thread.join()


@contextmanager
def _no_lake() -> Iterator[None]:
    yield
