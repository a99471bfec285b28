"""Tables that are far larger than their rows: blocks that scans look at for nothing, and vacuum cannot give back."""

from typing import Final, NamedTuple

from doctord.analyse import figures
from doctord.dataset.dataset import Dataset

HEAP: Final = "pg_class.heap_bytes"
ROW: Final = "pg_class.row_bytes"
PAGES: Final = "pg_class.relpages"
FILLFACTOR: Final = "pg_class.fillfactor_pct"
ROWS: Final = "pg_class.reltuples"
LIVE, DEAD = "pg_stat_user_tables.n_live_tup", "pg_stat_user_tables.n_dead_tup"
BLOCK_BYTES: Final = 8192
_HEADER_BYTES: Final = 24  # of a block
# The last vacuum or analyze saw at least half of the blocks: what it counted tells of the table as it is.
SEEN: Final = 0.5
# A row more or less in a block, and columns whose widths differ, are far from that: estimators of this kind are wrong
# by a half now and then (PostgreSQL wiki, "Show database bloat"; check_postgres).
FAR_LARGER: Final = 4.0


class Room(NamedTuple):
    """A table (`database.schema.name`), the bytes that its blocks take, and what its live and dead rows would fill.

    `rows` are those that may be there, dead ones with them; `row_bytes` what one takes, `fillfactor` (0 to 1) how full
    new blocks are made.
    """

    db: str
    entity: str
    heap_bytes: float
    needed_bytes: float
    rows: float
    dead: float
    row_bytes: float
    fillfactor: float

    @property
    def blocks(self) -> float:
        """Its blocks."""
        return self.heap_bytes / BLOCK_BYTES

    @property
    def wasted(self) -> float:
        """Part (0 to 1) of the blocks that a compact table would not have."""
        return 1 - self.needed_bytes / self.heap_bytes

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]


def far_larger(dataset: Dataset) -> list[Room]:
    """Tables that are four times as large as their rows need, and more; most bytes wasted first.

    Nothing is said of one that neither vacuum nor analyze has seen at about its size: how many rows it has, nobody
    knows then.
    """
    last = {name: _last(dataset, name) for name in (HEAP, ROW, PAGES, FILLFACTOR, ROWS, LIVE, DEAD)}
    found = [room for key in last[HEAP] if (room := _room(key, last)) is not None]
    larger = [room for room in found if room.heap_bytes >= FAR_LARGER * room.needed_bytes]
    return sorted(larger, key=lambda room: (room.needed_bytes - room.heap_bytes, room.entity))


def _room(key: tuple[str, str], last: dict[str, dict[tuple[str, str], float]]) -> Room | None:
    row_bytes, pages, counted = (last[name].get(key) for name in (ROW, PAGES, ROWS))
    blocks = last[HEAP][key] / BLOCK_BYTES
    if not row_bytes or not pages or counted is None or pages < SEEN * blocks:
        return None
    dead = last[DEAD].get(key, 0.0)
    rows = max(last[LIVE].get(key, 0.0), counted / pages * blocks) + dead
    fillfactor = last[FILLFACTOR].get(key, 100.0) / 100
    in_block = max((BLOCK_BYTES - _HEADER_BYTES) * fillfactor // row_bytes, 1.0)
    needed = max(-(-rows // in_block), 1.0) * BLOCK_BYTES
    return Room(*key, last[HEAP][key], needed, rows, dead, row_bytes, fillfactor)


def _last(dataset: Dataset, name: str) -> dict[tuple[str, str], float]:
    return {(one.db or "", one.entity or ""): one.last for one in figures.figures(dataset, name)}
