"""A restore_command that does not come back: recovery waits for it without end, and streams nothing meanwhile."""

import os
from typing import Final

from doctord._native import Batch
from doctord.collect.postgres.background_command import running
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows

# What fetches a segment in less is told by nobody.
_LEAST_S: Final = 1.0


class Restoring:
    """Fills `statistic` with `restore_command.running_s` (entity: its process), `setting` with `startup.process`."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._known: str | None = None

    def read(self, link: Link, figures: Figures) -> list[Batch]:
        """For how long it runs at this moment goes into `figures`; where it stands, as a setting when that changes."""
        server = link.server_pid()
        command = running(server, "startup") if server is not None else None
        if command is None or command.running_s is None or command.running_s < _LEAST_S:
            return []
        figures.gauge("restore_command.running_s", command.running_s, "s", command.name)
        if command.where == self._known:
            return []
        self._known = command.where
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "postgresql", "db": link.db}
        return [rows("setting", [{**common, "name": "startup.process", "value": command.where, "source": "kernel"}])]
