"""Whose the load is in a time that was recorded, server by server."""

from collections.abc import Mapping, Sequence

from doctord.analyse.load import Load, load_by
from doctord.app.asked import ALL, Interval
from doctord.app.source import Source
from doctord.app.watcher import SILENT, Watcher


def loads_by(
    source: Source,
    dimension: str,
    where: Mapping[str, str] | None = None,
    asked: Interval = ALL,
    watcher: Watcher = SILENT,
) -> Sequence[tuple[str, Load]]:
    """The load of each host by a dimension (`analyse.load.DIMENSIONS`), the host with most load first.

    Raises:
        UserError: the source cannot be read, tells nothing of that time, or not of that dimension.
    """
    found = [
        (seen.host or ", ".join(sorted(seen.dataset.hosts)), load_by(seen.dataset, dimension, where))
        for seen in source.each(asked, watcher)
    ]
    return sorted(found, key=lambda one: (-one[1].sessions, one[0]))
