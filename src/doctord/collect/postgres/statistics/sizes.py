"""How much room databases, tablespaces and the WAL take."""

import os
from typing import Final

from doctord._native import Batch
from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.databases import largest
from doctord.collect.postgres.statistics.figures import Figures
from doctord.dataset.rows import now_us, rows

_TABLESPACES: Final = """\
SELECT /* doctord */ spcname AS name, pg_tablespace_size(oid) AS used_bytes FROM pg_tablespace
WHERE pg_has_role('pg_read_all_stats', 'USAGE') OR has_tablespace_privilege(oid, 'CREATE')
"""
_WAL: Final = "SELECT /* doctord */ sum(size)::float8 AS bytes, count(*) AS files FROM pg_ls_waldir()"


class Sizes:
    """Fills `space` with databases and tablespaces, and `statistic` with the size of the WAL (`pg_ls_waldir`)."""

    name = "sizes"

    def __init__(self) -> None:
        """Due every minute."""
        self.cadence = Cadence(every_s=60)

    def read(self, link: Link) -> list[Batch]:
        """The sizes of this moment."""
        common = {"ts": now_us(), "host": os.uname().nodename, "db": link.db}
        space = [
            {**common, "kind": kind, "database": database, "name": row["name"], "used_bytes": row["used_bytes"]}
            for kind, found in (("database", largest(link)), ("tablespace", link.query(_TABLESPACES)))
            for row in found
            for database in [row["name"] if kind == "database" else None]
        ]
        wal = link.query(_WAL)[0]
        figures = Figures(link.db)
        figures.gauge("pg_ls_waldir.size_bytes", wal["bytes"], "bytes")
        figures.gauge("pg_ls_waldir.files", wal["files"])
        return [rows("space", space), *figures.batches()]

    def close(self) -> None:
        """There is nothing of its own."""
