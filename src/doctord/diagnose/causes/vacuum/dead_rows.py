"""What dead rows of a table cost: those who read it, its age, its bytes; what nobody steps over costs nothing."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from doctord.analyse.row_versions import PAGE_BYTES, Versions, row_versions
from doctord.dataset.waits.kinds import READS
from doctord.diagnose.case import Case
from doctord.diagnose.causes.vacuum.horizon import TRANSACTIONS
from doctord.diagnose.common.slowed import is_slowed
from doctord.diagnose.finding import WARNING_SHARE, Evidence
from doctord.diagnose.phrase import Words, phrase

SCANS: Final = "pg_stat_user_tables.seq_scan"
AGE: Final = "pg_class.relfrozenxid_age"
FREEZE_MAX: Final = "autovacuum_freeze_max_age"
FREEZE_MAX_DEFAULT: Final = 200e6
# Half of all pages that the server looks at.
MOST_WASTED: Final = 0.5
# A scan that finds ten rows among 15,000 dead ones looks at six pages for each, where two are usual.
MANY_TIMES: Final = 2.0
# A statement takes some 60 ns for each dead row that it steps over (25 ms for 400,000 rows of a queue, see
# docs/reference/lab-accuracy-held-out.md).
STEP_S: Final = 60e-9
# To find a page in memory, pin and lock it: less than this.
PAGE_S: Final = 1e-6
READING: Final = ("cpu", "run queue")
LARGE_BYTES: Final = 2**30
# Autovacuum looks once a minute and has work elsewhere: what is emptied sooner it would not have come to.
YOUNG_S: Final = 600.0


def costs(case: Case, row: Mapping[str, Any]) -> bool:
    """Whether dead rows of a table (a row of `space`) cost anything; true, too, where its reads were not counted.

    TRUNCATE takes dead rows away with all others, and no vacuum has to come for them. It gives the table a new
    relfrozenxid, as a new table has (PostgreSQL documentation, TRUNCATE, "Preventing Transaction ID Wraparound").
    """
    entity = f"{row['database']}.{row['name']}"
    if not any((one.db, one.entity) == (row["db"], entity) for one in case.figures(SCANS)):
        return True
    versions = _versions(case, row)
    if versions is not None and _is_stepped_over(case, versions):
        return True
    if _age(case, row) >= float(case.setting(FREEZE_MAX, row["db"]) or FREEZE_MAX_DEFAULT):
        return True
    young_s = _made_s(case, row)
    lasts = young_s is None or young_s >= YOUNG_S
    return lasts and ((row.get("bloat_bytes") or 0) >= LARGE_BYTES or _in_scans(case, row, versions) >= WARNING_SHARE)


def harmless(case: Case, row: Mapping[str, Any]) -> list[Evidence]:
    """What shows that they cost nothing: pages looked at for each row found, and how new the table's file is."""
    entity, versions, young_s = f"{row['database']}.{row['name']}", _versions(case, row), _made_s(case, row)
    told = []
    if versions is not None:
        told.append(looked_at(versions, "nobody steps over dead rows there"))
    if young_s is not None and young_s < YOUNG_S:
        told.append(
            Evidence("statistic", f"name = '{AGE}' and entity = '{entity}'",
                     phrase("emptied or made anew {:duration} ago", young_s), phrase("{:duration}", YOUNG_S),
                     "as its relfrozenxid says: TRUNCATE takes dead rows away without a vacuum", "at_least")
        )  # fmt: skip
    why = "no scan steps over what is dead"
    return told or [Evidence("statistic", f"name = '{SCANS}' and entity = '{entity}'", "hardly read", "", why)]


def is_stepped_over(table: Versions) -> bool:
    """Whether readers of a table look at twice as many pages, and more, as without its dead rows."""
    return table.pages_per_row >= MANY_TIMES * table.usual_pages


def looked_at(table: Versions, why: Words) -> Evidence:
    """How many pages of a table are looked at for each row found."""
    return Evidence("statistic",
                    f"name = 'pg_statio_user_tables.heap_blks_hit' and entity = '{table.database}.{table.name}'",
                    phrase("{:.2g} of its pages are looked at for each row found or written", table.pages_per_row),
                    phrase("{:.2g}", MANY_TIMES * table.usual_pages), why, "at_least")  # fmt: skip


def time_share(case: Case, tables: Sequence[Versions], *kinds: str) -> float:
    """The share (0 to 1) of the time of these kinds that goes into dead rows of tables, at most.

    It is their part of all pages looked at; and no more than so many pages and versions can take.
    """
    share = case.time.kind_share(*kinds) * min(sum(table.wasted for table in tables), 1.0)
    versions = [table.stepped_over_per_s for table in tables]
    if None in versions or not case.time.seconds_per_second:
        return share
    seconds = sum(filter(None, versions)) * STEP_S + sum(table.wasted_per_s for table in tables) * PAGE_S
    return min(share, seconds / case.time.seconds_per_second)


def _versions(case: Case, row: Mapping[str, Any]) -> Versions | None:
    own = (row["db"], row["database"], row["name"])
    return next((one for one in row_versions(case.dataset) if (one.db, one.database, one.name) == own), None)


def _is_stepped_over(case: Case, table: Versions) -> bool:
    """Whether readers pay: with time that is worth it, most of all pages looked at, or calls that take long by it."""
    if table.wasted >= MOST_WASTED or case.worth_saying(time_share(case, [table], *READING, *READS)):
        return True
    if not is_stepped_over(table):
        return False
    bare = re.compile(rf"\b{re.escape(table.name.rpartition('.')[2])}\b", re.IGNORECASE)
    named = (one for one in case.statements if one.db == table.db and bare.search(one.text or ""))
    return any(is_slowed(one, table.avoidable) for one in named)


def _in_scans(case: Case, row: Mapping[str, Any], table: Versions | None) -> float:
    """The part (0 to 1) of all pages looked at that scans of the whole table look at for its dead rows."""
    live, dead = row.get("live_rows") or 0, row.get("dead_rows") or 0
    if table is None or not dead or row.get("used_bytes") is None:
        return 0.0
    entity = f"{row['database']}.{row['name']}"
    scans = sum(one.mean for one in case.figures(SCANS) if (one.db, one.entity) == (row["db"], entity))
    heap = sum(
        one.mean
        for name in ("pg_statio_user_tables.heap_blks_hit", "pg_statio_user_tables.heap_blks_read")
        for one in case.figures(name)
        if (one.db, one.entity) == (row["db"], entity)
    )
    in_scans = min(scans * row["used_bytes"] / PAGE_BYTES / heap, 1.0) if heap else 0.0
    return table.gets_share * in_scans * dead / (live + dead)


def _age(case: Case, row: Mapping[str, Any]) -> float:
    one = case.figure(AGE, row["db"], f"{row['database']}.{row['name']}")
    return one.last if one else 0.0


def _made_s(case: Case, row: Mapping[str, Any]) -> float | None:
    """At most how long ago a table was made, emptied or frozen, seconds; null where no transaction began meanwhile."""
    per_s = next((one.mean for one in case.figures(TRANSACTIONS) if one.db == row["db"]), 0.0)
    age = case.figure(AGE, row["db"], f"{row['database']}.{row['name']}")
    return age.last / per_s if age and per_s else None
