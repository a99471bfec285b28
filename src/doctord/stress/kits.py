"""Kits: tables and transactions for a load test, in the language of pgbench."""

from collections.abc import Mapping
from typing import Final, NamedTuple

BLOCK_BYTES: Final = 8192
_TPCB_BYTES: Final = 16_000_000  # of pgbench's tables for each unit of its scale
# 4,224 random characters: no two rows fit into a block, and nothing of them can be compressed.
_FILLER: Final = "(SELECT string_agg(md5(random()::text || i || n), '') FROM generate_series(1, 132) AS i)"
_READ: Final = "SELECT length(filler) FROM stress_blocks WHERE key = :key;\n"
_WRITE: Final = "UPDATE stress_blocks SET touched = touched + 1 WHERE key = :key;\n"


class Kit(NamedTuple):
    """Tables, and what is done to them.

    Attributes:
        name: How it is asked for.
        about: What it is, in a line.
        scale: Of pgbench's own tables; null: `tables` makes its own.
        tables: Statements that make the tables.
        scripts: Transactions by name: their text, and how often each comes. Empty: `builtin`.
        builtin: pgbench's own transaction.
    """

    name: str
    about: str
    scale: int | None = None
    tables: tuple[str, ...] = ()
    scripts: Mapping[str, tuple[str, int]] = {}
    builtin: str = ""


def tpcb(size_bytes: int) -> Kit:
    """The transaction of pgbench: three updates, an insert, a select."""
    return Kit("tpcb", "pgbench's TPC-B-like transaction", _scale(size_bytes), builtin="tpcb-like")


def select(size_bytes: int) -> Kit:
    """The look-up of pgbench, -S, of one row by its key."""
    return Kit("select", "a row by its key, pgbench -S", _scale(size_bytes), builtin="select-only")


def blocks(size_bytes: int, update_pct: int = 0) -> Kit:
    """Random blocks in the manner of SLOB: a row in each block, keys at random over the working set.

    K. Closson, "SLOB: the Silly Little Oracle Benchmark" (2012): one row a block makes each look-up a random read of
    one block, so that what the server reads is known beforehand. The rows cannot be compressed.
    """
    rows = max(size_bytes // BLOCK_BYTES, 1)
    key = f"\\set key random(1, {rows})\n"
    shares = {"read": (key + _READ, 100 - update_pct), "write": (key + _WRITE, update_pct)}
    return Kit(
        "blocks",
        f"one of {rows:,} blocks at random, {update_pct} % of them updated",
        tables=(
            "CREATE UNLOGGED TABLE stress_blocks (key integer, touched integer, filler text)",
            "ALTER TABLE stress_blocks ALTER filler SET STORAGE PLAIN",
            f"INSERT INTO stress_blocks SELECT n, 0, {_FILLER} FROM generate_series(1, {rows}) AS n",  # noqa: S608 - a number
            "ALTER TABLE stress_blocks SET LOGGED",
            "ALTER TABLE stress_blocks ADD PRIMARY KEY (key)",
            "VACUUM ANALYZE stress_blocks",
        ),
        scripts={name: (text, weight) for name, (text, weight) in shares.items() if weight},
    )


def _scale(size_bytes: int) -> int:
    return max(round(size_bytes / _TPCB_BYTES), 1)
