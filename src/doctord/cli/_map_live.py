"""What `doctord map` looks at while it happens: live sources, or a pipe."""

import threading

from doctord.analyse.latency.map import LatencyMap
from doctord.cli._map import Wanted
from doctord.cli._map_feed import Feed
from doctord.cli._map_screen import watch
from doctord.read.formats import being_read
from doctord.read.source import STANDARD_INPUT
from doctord.report.map_view import View


def from_pipe(wanted: Wanted, view: View, zone: str | None) -> LatencyMap:
    """Watch what comes through standard input until it ends, or the user does; the map in the end.

    Raises:
        Refusal: no format fits, or nothing came that is wanted.
    """
    feed = Feed(wanted.subject)
    with being_read(STANDARD_INPUT, zone=zone) as (_, batches, _source):
        # It may wait for input when the user quits: nobody waits for it then.
        thread = threading.Thread(target=feed.take, args=(batches,), daemon=True)
        thread.start()
        watch(feed.maps, feed.grown, lambda: not thread.is_alive(), view, "PIPE")
        feed.grown()
        return feed.map_of()
