"""Large tables that are read whole again and again, and the statements that make it so, named by them or not."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.dependencies import Dependencies
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase

# A scan of fewer rows is quick whatever the plan.
LARGE_SCAN_ROWS: Final = 10_000
# Most of what is looked at of the table, and most of what the statement looks at: the one is by the other.
MOST: Final = 0.5
BLOCKS: Final = ("pg_statio_user_tables.heap_blks_hit", "pg_statio_user_tables.heap_blks_read")
SCANS: Final = "pg_stat_user_tables.seq_scan"


class WholeRead(NamedTuple):
    """A table whose sequential scans read many rows each: `figure` is what they read, in rows a second.

    `blocks_per_s` are the blocks of the table (not of its indexes) that are looked at; null where not counted.
    """

    figure: Statistic
    rows: float
    scans_per_s: float
    blocks_per_s: float | None

    @property
    def entity(self) -> str:
        """The table with its database and schema before it."""
        return self.figure.entity or ""

    @property
    def database(self) -> str:
        """Its database."""
        return self.entity.partition(".")[0]

    @property
    def table(self) -> str:
        """The table with its schema."""
        return self.entity.partition(".")[2]

    def is_named_by(self, statement: Statement) -> bool:
        """Whether the text of a statement names the table."""
        bare = re.escape(self.table.rpartition(".")[2])
        return re.search(rf"\b{bare}\b", statement.text or "", re.IGNORECASE) is not None

    def part_of(self, statement: Statement) -> float | None:
        """Which part (0 to 1) of the blocks that a statement looks at are of this table, at most; null if unknown.

        0 where a call looks at less than half of the blocks that a scan does: then it makes none.
        """
        looks, calls = statement.gets_per_s, statement.calls_per_s
        if looks is None or not calls or self.blocks_per_s is None:
            return None
        is_enough = looks / calls >= MOST * self.blocks_per_s / self.scans_per_s > 0
        return min(self.blocks_per_s / looks, 1.0) if is_enough else 0.0


def whole_reads(case: Case) -> Iterator[WholeRead]:
    """The tables, the one with most rows read first."""
    scans = {(figure.db, figure.entity): figure.mean for figure in case.figures(SCANS)}
    blocks: dict[tuple[str | None, str | None], float] = {}
    for figure in (figure for name in BLOCKS for figure in case.figures(name)):
        blocks[figure.db, figure.entity] = blocks.get((figure.db, figure.entity), 0.0) + figure.mean
    for figure in case.figures("pg_stat_user_tables.seq_tup_read"):
        key = (figure.db, figure.entity)
        per_s = scans.get(key, 0.0)
        if per_s and figure.mean / per_s >= LARGE_SCAN_ROWS:
            yield WholeRead(figure, figure.mean / per_s, per_s, blocks.get(key))


def dependencies(case: Case, read: WholeRead) -> Dependencies:
    """What depends on what in the table's database."""
    return Dependencies(case.dataset, read.figure.db, read.database)


def scanned(read: WholeRead) -> Evidence:
    """That the table is read whole."""
    return Evidence(
        "statistic",
        f"name = 'pg_stat_user_tables.seq_tup_read' and entity = '{read.entity}'",
        phrase("{:,.0f} rows a scan, {:,.0f rows/s} read by sequential scans", read.rows, read.figure.mean),
        phrase("{:,}", LARGE_SCAN_ROWS),
        phrase("table {}", read.table),
        "at_least",
    )


def in_its_blocks(read: WholeRead, statement: Statement) -> list[Evidence]:
    """How much of what a statement looks at is of the table; empty where that was not counted."""
    part = read.part_of(statement)
    if not part or statement.gets_per_s is None or not statement.calls_per_s:
        return []
    return [
        Evidence(
            "statistic",
            f"name in {BLOCKS} and entity = '{read.entity}'",
            phrase("{:share} of the {:,.0f} blocks that each call looks at", part,
                   statement.gets_per_s / statement.calls_per_s),
            phrase("{:share}", MOST),
            phrase("are of {}, which its text does not ask for", read.table),
            "at_least",
        )
    ]  # fmt: skip
