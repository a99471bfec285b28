"""Unlogged tables: what a crash of the server empties, without an error and without a word in its log."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

SIZE: Final = "pg_class.unlogged_bytes"
PAGES: Final = "pg_class.unlogged_relpages"
SCANS: Final = ("pg_stat_user_tables.seq_scan", "pg_stat_user_tables.idx_scan")
STATISTICS: Final = "pg_stat_database.stats_age_s"
PROCESSES: Final = "pg_stat_activity.own_processes_s"
# A crash empties the statistics a moment before the background processes begin; recovery lies in between at the most.
TOGETHER_S: Final = 60.0
# VACUUM and ANALYZE renew the number of pages: after a crash it stays until a table that is filled again has so many.
PART_FILLED: Final = 0.5
BLOCK_BYTES: Final = 8192
MOST_NAMED: Final = 4


class Emptied(NamedTuple):
    """An unlogged table that lost its pages: `pages` when it was last vacuumed or analysed, `left` now."""

    table: str
    pages: float
    left: float
    scans_per_s: float


@cause()
def unlogged_tables_emptied(case: Case) -> Iterator[Claim]:
    """Unlogged tables are empty since the server recovered from a crash: their rows are gone.

    Looks like: queries find nothing in a table that had rows, and no statement removed them; its file has no page,
        while pg_class.relpages still tells of some.
    Hurts because: what is not in the WAL cannot be recovered: after a crash, a kill -9 or a power failure each unlogged
        table begins empty, also where its pages were on disk. So it does on a standby that is promoted and in a base
        backup that is restored. Nothing fails: the answers are wrong.
    Speaks for it: pages of the last VACUUM or ANALYZE against none now (TRUNCATE and VACUUM set both to nought);
        statistics that begin where the server's processes do, as they do after a crash; scans of the empty table.
    Speaks against it: nobody reads it, or it is being filled again: a cache.
    Remedy: Fill the tables again from where their rows came from, before their readers act on nothing; the server's log
        tells when it happened ("database system was not properly shut down", "all server processes terminated").
        ALTER TABLE ... SET LOGGED for what must survive (it rewrites the table, into the WAL too); an unlogged table is
        for what can be made again, by a job that runs after each start. Then find why the server crashed.
    Verify: The tables have their rows; relpersistence of pg_class is p for those that must keep them.
    Source: PostgreSQL documentation, CREATE TABLE (UNLOGGED), "The Initialization Fork", ALTER TABLE (SET LOGGED),
        pg_class (relpages, relpersistence), "The Cumulative Statistics System" (statistics are discarded by a crash).
    """
    for db in case.dbs:
        if emptied := _emptied(case, db):
            yield _claim(case, db, emptied)


def _emptied(case: Case, db: str) -> list[Emptied]:
    """Those that have no page, or after a crash few; those without any at first, then the one that is read most."""
    block_bytes = float(case.setting("block_size", db) or BLOCK_BYTES)
    pages = {one.entity: one.last for one in case.figures(PAGES) if one.db == db}
    scans = dict[str | None, float]()
    for one in (figure for name in SCANS for figure in case.figures(name) if figure.db == db):
        scans[one.entity] = scans.get(one.entity, 0.0) + one.mean
    most = PART_FILLED if _recovered(case, db) else 0.0
    found = [
        Emptied(one.entity, pages.get(one.entity, 0.0), one.last / block_bytes, scans.get(one.entity, 0.0))
        for one in case.figures(SIZE)
        if one.db == db and one.entity
    ]
    return sorted(
        (one for one in found if one.pages > 0 and one.left <= most * one.pages),
        key=lambda one: (one.left > 0, -one.scans_per_s, -one.pages, one.table),
    )


def _claim(case: Case, db: str, emptied: Sequence[Emptied]) -> Claim:
    others = phrase(" and {:count other/others}", len(emptied) - 1) if emptied[1:] else ""
    return Claim(
        phrase("Unlogged {}{} of {}: emptied, as a recovery from a crash does", emptied[0].table, others, db),
        impact=NOT_MEASURED,
        confidence=0.9,
        severity=_severity(emptied[0]),
        for_=[*map(_pages, emptied[:MOST_NAMED]), *_recovered(case, db), *_read(emptied)],
        against=_against(emptied[0]),
        first_steps=_steps(emptied),
        database=db,
    )


def _severity(worst: Emptied) -> Severity:
    if worst.left > 0:
        return "note"
    return "critical" if worst.scans_per_s > 0 else "warning"


def _against(worst: Emptied) -> list[Evidence]:
    """That somebody fills it again, or that nobody reads it."""
    where = f"entity = '{worst.table}'"
    if worst.left > 0:
        filled = phrase("{}: {:,.0f} pages now", worst.table, worst.left)
        return [Evidence("statistic", f"name = '{SIZE}' and {where}", filled, "", "it is being filled again")]
    if worst.scans_per_s > 0:
        return []
    return [
        Evidence("statistic", f"name in {SCANS} and {where}", "no scan was counted", "", "nobody reads it just now")
    ]


def _pages(one: Emptied) -> Evidence:
    return Evidence(
        "statistic",
        f"name like 'pg_class.unlogged_%' and entity = '{one.table}'",
        phrase("{}: {:,.0f} pages at its last VACUUM or ANALYZE", one.table, one.pages),
        "",
        phrase("{:,.0f} now", one.left) if one.left else "none now",
    )


def _read(emptied: Sequence[Emptied]) -> list[Evidence]:
    return [
        Evidence("statistic", f"name in {SCANS} and entity = '{one.table}'",
                 phrase("{}: {:rate scans}", one.table, one.scans_per_s), "", "who asks is told of no row")
        for one in emptied[:MOST_NAMED] if one.scans_per_s > 0
    ]  # fmt: skip


def _recovered(case: Case, db: str) -> list[Evidence]:
    """That the statistics begin where the background processes do."""
    processes_s = next((one.last for one in case.figures(PROCESSES) if one.db == db), None)
    ages = [one.last for one in case.figures(STATISTICS) if one.db == db]
    if processes_s is None or not ages or abs(max(ages) - processes_s) > TOGETHER_S:
        return []
    return [
        Evidence("statistic", f"name in ('{STATISTICS}', '{PROCESSES}') and db = '{db}'",
                 phrase("its processes and its statistics begin {:time} ago", processes_s), "",
                 "a crash discards the statistics, a stop does not")
    ]  # fmt: skip


def _steps(emptied: Sequence[Emptied]) -> list[Words]:
    names = ", ".join(one.table.partition(".")[2] for one in emptied[:MOST_NAMED])
    return [
        phrase(
            "Fill again: {}. Then ALTER TABLE ... SET LOGGED, if its rows cannot be made again at each start.", names
        )
    ]
