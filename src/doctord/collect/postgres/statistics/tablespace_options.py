"""Options of tablespaces: what a page costs there, and how many are read ahead; no session's settings show them."""

import os
from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.dataset.rows import now_us, rows

COMPONENT: Final = "pg_tablespace"
_OPTIONS: Final = """\
SELECT /* doctord */ spcname AS name, array_to_string(spcoptions, ', ') AS value FROM pg_tablespace ORDER BY name
"""


class TablespaceOptions:
    """Fills `setting` (component pg_tablespace, name of the tablespace) with its options, those that are set for it."""

    name = "options of tablespaces"

    def __init__(self) -> None:
        """Due every ten minutes: nothing tells when they change."""
        self.cadence = Cadence(every_s=600)
        self._known = dict[str, str | None]()

    def read(self, link: Link) -> list[Batch]:
        """What is set the first time, later what changed, without a value what is not set any more."""
        now = {row["name"]: row["value"] or None for row in link.query(_OPTIONS)}
        names = [name for name in {**self._known, **now} if now.get(name) != self._known.get(name)]
        self._known = now
        common = {"ts": now_us(), "host": os.uname().nodename, "component": COMPONENT, "db": link.db}
        return [rows("setting", [{**common, "name": name, "value": now.get(name)} for name in names])] if names else []

    def close(self) -> None:
        """There is nothing of its own."""
