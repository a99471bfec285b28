"""What is read from each tablespace, and how long a read takes where the server tells."""

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import Counters
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

# The server times reads by database. Where as good as all of a database's lie in one tablespace, it is that one's time.
_ALL: Final = 0.95
# A mean of fewer reads than this may be one slow moment.
_LEAST_PER_S: Final = 1.0
_READ: Final = ("pg_statio_user_tables.heap_blks_read", "toast_blks_read", "pg_statio_user_indexes.idx_blks_read")

_TABLESPACES: Final = """\
SELECT /* doctord */ t.oid, t.spcname AS name, t.oid = d.dattablespace AS is_default, s.blks_read, s.blk_read_time
FROM pg_database AS d JOIN pg_stat_database AS s ON s.datid = d.oid CROSS JOIN pg_tablespace AS t
WHERE d.datname = current_database()
"""
# Beside the relations, of the database as a whole: no relation has these numbers.
_BLOCKS, _MS = 0, -1


class Tablespaces:
    """Fills `statistic` with `tablespace_io.*`, by tablespace over all databases that are looked into.

    The relations are those that were read anyhow, with the tablespace of each in `reltablespace` (0: its database's);
    the system catalogues are left out.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._counters: dict[str, Counters[int]] = {}
        self._read: dict[str, float] = {}
        self._timed: dict[str, tuple[float, float]] = {}
        self._interval_s = 0.0

    def begin(self) -> None:
        """A new reading of all databases begins."""
        self._read, self._timed, self._interval_s = {}, {}, 0.0

    def add(self, link: Link, tables: Iterable[Mapping[str, Any]], indexes: Iterable[Mapping[str, Any]]) -> None:
        """Add what one database's tables and indexes read since the last reading."""
        known = link.query(_TABLESPACES)
        names = {row["oid"]: row["name"] for row in known}
        default = next((row["name"] for row in known if row["is_default"]), None)
        lies_in: dict[int, str | None] = {}
        reading: dict[int, float] = {}
        for row in chain(tables, indexes):
            lies_in[row["relid"]] = names.get(row["reltablespace"], default)
            reading[row["relid"]] = float(sum(row.get(name) or 0 for name in _READ))
        for row in known[:1]:
            reading |= {_BLOCKS: float(row["blks_read"]), _MS: float(row["blk_read_time"])}
        increase = self._counters.setdefault(link.database, Counters[int]()).step(time.monotonic(), reading)
        if increase is not None:
            self._interval_s = max(self._interval_s, increase.interval_s)
            self._sum_up(increase.per_s, lies_in)

    def batches(self, link: Link) -> list[Batch]:
        """The sums of the reading; nothing of the first, which has nothing to compare with."""
        figures = Figures(link.db)
        for name, blocks in sorted(self._read.items()):
            figures.rate("tablespace_io.blks_read", blocks, self._interval_s, name)
        for name, ms in sorted(self._means()):
            figures.gauge("tablespace_io.read_ms", ms, "ms", name)
        return figures.batches()

    def _sum_up(self, per_s: Mapping[int, float], lies_in: Mapping[int, str | None]) -> None:
        read: dict[str, float] = {}
        for relation, blocks in per_s.items():
            if name := lies_in.get(relation):
                read[name] = read.get(name, 0.0) + blocks
        for name, blocks in read.items():
            self._read[name] = self._read.get(name, 0.0) + blocks
        most = max(read, key=lambda name: read[name], default=None)
        blocks, ms = per_s.get(_BLOCKS, 0.0), per_s.get(_MS, 0.0)
        if most is not None and ms > 0 and read[most] >= max(_ALL * blocks, _LEAST_PER_S):
            before = self._timed.get(most, (0.0, 0.0))
            self._timed[most] = (before[0] + blocks, before[1] + ms)

    def _means(self) -> Iterator[tuple[str, float]]:
        """Milliseconds that reading a block took, by tablespace; of those whose time is known."""
        yield from ((name, ms / blocks) for name, (blocks, ms) in self._timed.items() if blocks)
