"""Latency maps of what happens now: live sources, or what comes through a pipe."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from doctord._native import Batch
from doctord.app.maps.feed import Feed, Maps
from doctord.app.watcher import SILENT, Watcher
from doctord.collect.core import schedule
from doctord.collect.core.collector import Collector
from doctord.collect.core.database import Wanted
from doctord.collect.live import choose
from doctord.lake.writer import LakeWriter
from doctord.read.formats import being_read
from doctord.read.source import STANDARD_INPUT, ReadOptions

PERIOD_S, SHORT_PERIOD_S = 3.0, 1.0
SHORT_S = 30.0
PATIENCE_S = 0.2


@dataclass(frozen=True, slots=True)
class Growing:
    """Maps that grow, and who makes them grow."""

    feed: Feed
    _thread: threading.Thread

    def grown(self) -> bool:
        """Put what came into the maps; whether anything did."""
        return self.feed.grown()

    def maps(self) -> Maps:
        """The map of each subject seen so far, as they came, with the histogram that its rows are chosen by."""
        return self.feed.maps()

    def is_over(self) -> bool:
        """Whether the source has ended."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until the source ends, or for Ctrl-C; never so long at once that this would not be noticed."""
        # A wait without end is not interrupted: Polars' own handler of Ctrl-C lets the system call go on.
        with suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(PATIENCE_S)


def period_s(seconds: float | None) -> float:
    """Width of a column, where none is said: that of OraLatencyMap, and less for a short look."""
    return SHORT_PERIOD_S if seconds is not None and seconds <= SHORT_S else PERIOD_S


@contextmanager
def from_pipe(subject: str | None, options: ReadOptions) -> Iterator[Growing]:
    """What comes through standard input.

    Raises:
        UserError: no format fits.
    """
    feed = Feed(subject)
    with being_read(STANDARD_INPUT, options) as (_, batches, _source):
        # It may wait for input when the user quits: nobody waits for it then.
        thread = threading.Thread(target=feed.take, args=(batches,), daemon=True)
        thread.start()
        yield Growing(feed, thread)


@contextmanager
def live(wanted: Wanted, seconds: float | None, lake: Path | None, watcher: Watcher = SILENT) -> Iterator[Growing]:
    """What live sources tell, until the end of the block.

    Args:
        wanted: What to time.
        seconds: How long; null until the end of the block.
        lake: Where to keep what is seen.
        watcher: Who is told how it goes on.

    Raises:
        UserError: nothing here times it.
    """
    choice = choose(wanted)
    for word in filter(None, (choice.note, choice.lost)):
        watcher.note(word)
    feed = Feed(wanted.subject)
    with _collecting(choice.collectors, feed.append, seconds, lake) as thread:
        yield Growing(feed, thread)


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
