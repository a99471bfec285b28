"""The segments at the top of some statistic: a section for each."""

from functools import lru_cache

from doctord._native import ReportTable
from doctord.read.oracle.awr.report import Report
from doctord.read.oracle.awr.section import Section, Special, Statistics, total

ENTITY = ("Owner", "Object Name", "Subobject Name")
# What a section's column is called, as V$SEGMENT_STATISTICS calls it.
STATISTICS = {
    "logical reads": "logical reads",
    "physical reads": "physical reads",
    "phys read requests": "physical read requests",
    "read requests": "physical read requests",
    "unoptimized reads": "unoptimized physical reads",
    "unoptimized requests": "unoptimized physical reads",
    "optimized reads": "optimized physical reads",
    "optimized requests": "optimized physical reads",
    "direct reads": "physical reads direct",
    "physical writes": "physical writes",
    "phys write requests": "physical write requests",
    "write requests": "physical write requests",
    "direct writes": "physical writes direct",
    "table scans": "segment scans",
    "db block changes": "db block changes",
    "row lock waits": "row lock waits",
    "itl waits": "itl waits",
    "buffer busy waits": "buffer busy waits",
    "gc buffer busy": "gc buffer busy",
    "gc buffer busy waits": "gc buffer busy",
    "gc remote grants": "gc remote grants",
    "cr blocks received": "gc cr blocks received",
    "current blocks received": "gc current blocks received",
    "gc cr blocks received": "gc cr blocks received",
    "gc current blocks received": "gc current blocks received",
    "space used": "space used",
    "space allocated": "space allocated",
}


GIVEN = tuple(
    (f"v$segment_statistics.{name}", "per_s", ".".join(ENTITY)) for name in dict.fromkeys(STATISTICS.values())
)


def segments(table: ReportTable, report: Report) -> bool:
    """The column of the section's own statistic; others are shares of it."""
    return _segments(table.names).fill(table, report)


@lru_cache(maxsize=256)
def _segments(names: tuple[str, ...]) -> Statistics:
    printed = [name for name in names if name.lower() in STATISTICS]
    figures = tuple(total(STATISTICS[name.lower()], name) for name in printed)
    return Statistics("", "v$segment_statistics", ENTITY, figures, glue=".")


SECTIONS: tuple[Section, ...] = (Special(r"(Top )?Segments (by|Comparison)", segments, GIVEN),)
