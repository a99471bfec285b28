"""Vacuum: row versions that nobody needs any more."""

from collections.abc import Iterator, Sequence

import polars as pl

from doctord.analyse.row_versions import LAST_VACUUM, Versions, row_versions
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.vacuum.dead_rows import READING, costs, harmless, is_stepped_over, looked_at, time_share
from doctord.diagnose.causes.vacuum.horizon import Holder, holders
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, WARNING_SHARE, Claim, Evidence, Impact, at_most
from doctord.diagnose.phrase import phrase

DEAD_SHARE = 0.2
DEAD_ROWS = 10_000
# A thousand versions of a row fill some ten pages: from here on a look at it takes several times as long.
STEPPED_OVER = 1000
# So many of the dead rows (0 to 1) that they, and not those of before, are what readers step over.
SINCE_THEN = 0.5
# With 10,000 dead rows to step over a statement takes several times as long as without. Where half of all pages are
# looked at for that alone, it is what the server does, also while it has CPUs to spare.
MOST_WASTED = 0.5
# A dump, a report: it ends by itself, and what it kept is removed then.
LONG_S = 3600.0
MOST_NAMED = 3
MOST_BLOATED = 5
BLOATED_BYTES = 100 * 1024 * 1024


@cause(explains=("bloat", "few_rows_of_many_blocks", "statement_slower_than_before"), waits=("cpu", "run queue"))
def vacuum_held_back(case: Case) -> Iterator[Claim]:
    """Something old keeps vacuum from removing dead rows.

    Looks like: a transaction that is minutes or days old (an idle one with a snapshot, a prepared one), a replication
        slot, a standby's query (hot_standby_feedback), or, up to version 15, vacuum_defer_cleanup_age, with nobody to
        be found; dead rows that grow although autovacuum runs. Where one row
        is changed all the time, seconds are enough: each reader of it steps over thousands of its versions.
    Hurts because: every scan steps over all row versions since then; tables and indexes grow and do not shrink again.
        Who holds a lock on such a row holds it as long as that takes. Each look at a table with 10,000 and more of them
        takes several times as long: a warning where half of all pages are looked at for that, though CPUs are idle.
    Speaks for it: the age of the oldest snapshot and who holds it; dead rows meanwhile; pages of a table that are
        looked at for each row found.
    Speaks against it: few dead rows so far; a holder of some minutes, as a dump or a report, while the rows that are
        looked for are found at once; rows that died long before that snapshot was taken: then vacuum did not come, or
        is too slow.
    Remedy: End the holder: the session (and set idle_in_transaction_session_timeout or transaction_timeout), the slot
        nobody reads (pg_drop_replication_slot), of one that is read the transaction that it waits for, the prepared
        transaction (ROLLBACK PREPARED), the query on the standby (or hot_standby_feedback = off there); the setting
        (ALTER SYSTEM RESET vacuum_defer_cleanup_age and a reload; hot_standby_feedback on the standby serves better).
    Verify: The oldest backend_xmin advances; n_dead_tup falls after the next vacuum.
    Source: PostgreSQL documentation, "Routine Vacuuming", "Heap-Only Tuples (HOT)" and hot_standby_feedback; of
        version 15, "Primary Server" (vacuum_defer_cleanup_age).
    """
    found = holders(case)
    counted = row_versions(case.dataset)
    tables = [one for one in counted if _is_in_the_way(one, found)]
    told = [holder for holder in found if holder.is_old or any(_holds(holder, table) for table in tables)]
    if not told:
        return
    against = [] if tables else _few_dead_rows(case) or _stepped_over_little(counted, told[0])
    is_felt = _is_felt(tables)
    impact = _cost(case, tables, harmless=not is_felt and bool(tables or against))
    yield Claim(
        phrase("Vacuum is held back by {}", told[0].who),
        impact=impact,
        severity="warning" if is_felt and (impact.share or 0.0) < WARNING_SHARE else None,
        confidence=0.6 if against else 0.85 if tables else 0.9,
        for_=[
            *(holder.evidence for holder in told[:MOST_NAMED]),
            *(item for table in tables[:MOST_NAMED] for item in _stepped_over(table, told[0])),
        ],
        against=against,
        database=told[0].db if tables else None,
    )


@cause()
def bloat(case: Case) -> Iterator[Claim]:
    """A large table consists to a good part of dead rows.

    Looks like: `n_dead_tup` a fifth of the rows or more, in a table of a hundred megabytes or more.
    Hurts because: scans and caches carry what nobody needs.
    Speaks for it: dead against live rows and the size of the table.
    Speaks against it: a table that is about to be vacuumed (autovacuum is at work on it); one that nobody reads over
        its dead rows, or that is emptied (TRUNCATE) before long: a note.
    Remedy: Let autovacuum keep up: a smaller autovacuum_vacuum_scale_factor for this table, a higher
        autovacuum_vacuum_cost_limit. To give space back: pg_repack, or VACUUM FULL at a quiet time.
    Verify: n_dead_tup falls under a tenth and stays there under load.
    Source: PostgreSQL documentation, "Routine Vacuuming", pg_stat_all_tables.
    """
    tables = (
        case.dataset.frame("space")
        .filter((pl.col("kind") == "table") & pl.col("dead_rows").is_not_null())
        .group_by("db", "database", "name", maintain_order=True)
        .last()
        .with_columns((pl.col("dead_rows") / (pl.col("dead_rows") + pl.col("live_rows").fill_null(0))).alias("dead"))
        .filter(
            (pl.col("dead") >= DEAD_SHARE)
            & (pl.col("dead_rows") >= DEAD_ROWS)
            & (pl.col("used_bytes") >= BLOATED_BYTES)
        )
        .sort("used_bytes", descending=True, maintain_order=True)
    )
    if tables.is_empty():
        return
    told = tables.to_dicts()
    costly = [row for row in told if costs(case, row)]
    first = (costly or told)[0]
    yield Claim(
        phrase("{:share} of table {} is dead rows", first["dead"], first["name"]),
        impact=NOT_MEASURED if costly else NONE_YET,
        confidence=0.8,
        for_=[
            Evidence(
                "space",
                f"name = '{row['name']}'",
                phrase(
                    "{:,} dead rows beside {:,}, {:bytes}", row["dead_rows"], row["live_rows"] or 0, row["used_bytes"]
                ),
                phrase("{:share} and {:bytes}", DEAD_SHARE, BLOATED_BYTES),
                phrase("database {}{}", row["database"], f" of {row['db']}" if len(case.dbs) > 1 else ""),
            )
            for row in (costly or told)[:MOST_BLOATED]
        ],
        against=[] if costly else harmless(case, first),
        database=first["db"],
    )


def _few_dead_rows(case: Case) -> list[Evidence]:
    """That there is hardly anything that vacuum could remove."""
    dead = case.dataset.frame("space").filter(pl.col("dead_rows").is_not_null())
    rows = int(dead.group_by("db", "name", maintain_order=True).last()["dead_rows"].sum() or 0)
    if rows >= DEAD_ROWS:
        return []
    figure, limit = phrase("{:,} dead rows so far", rows), phrase("{:,}", DEAD_ROWS)
    return [Evidence("space", "dead_rows", figure, limit, "it does no harm yet", "at_least")]


def _stepped_over_little(counted: Sequence[Versions], holder: Holder) -> list[Evidence]:
    """That of tables with many dead rows all reads were counted, and find their rows at once, while the holder is new.

    An hour later the same rows are in the way of somebody.
    """
    tables = [table for table in counted if table.dead >= DEAD_ROWS]
    worst = max(tables, key=lambda table: table.avoidable, default=None)
    if worst is None or holder.age_s is None or holder.age_s >= LONG_S or is_stepped_over(worst):
        return []
    return [looked_at(worst, "nobody steps over them so far")]


def _cost(case: Case, tables: Sequence[Versions], *, harmless: bool) -> Impact:
    """The time on a CPU that goes into dead rows of these tables, as their part of all pages that are looked at.

    Less than what is felt costs nothing yet, as do few dead rows (`harmless`); what scans of many of them cost is not
    measured.
    """
    own = time_share(case, tables, *READING)
    behind = case.roots.behind(READING) * own / (case.time.kind_share(*READING) or 1.0)
    if own and case.worth_saying(own + behind):
        return at_most(own)
    return NONE_YET if harmless else NOT_MEASURED


def _is_felt(tables: Sequence[Versions]) -> bool:
    """Whether readers of large numbers of dead rows spend most of all looks at pages on them."""
    return sum(table.wasted for table in tables if table.dead >= DEAD_ROWS) >= MOST_WASTED


def _is_in_the_way(table: Versions, found: Sequence[Holder]) -> bool:
    """Whether readers step over dead rows of a table, most of which died since one of these snapshots was taken."""
    if table.dead < STEPPED_OVER or not is_stepped_over(table):
        return False
    return any(_holds(holder, table) for holder in found)


def _holds(holder: Holder, table: Versions) -> bool:
    if holder.db != table.db or holder.database not in (None, table.database):
        return False
    if holder.is_of_catalogues and not table.is_catalogue:
        return False
    if holder.age_s is None or _was_in_vain(table, holder):
        return True
    return table.changed_per_s * holder.age_s >= SINCE_THEN * table.dead


def _was_in_vain(table: Versions, holder: Holder) -> bool:
    """Whether a vacuum has been at a table since a snapshot was taken: what is dead then is what it had to leave."""
    return table.vacuumed_s is not None and holder.age_s is not None and table.vacuumed_s < holder.age_s


def _stepped_over(table: Versions, holder: Holder) -> list[Evidence]:
    """What dead rows of a table cost its readers, and whether a vacuum has tried since."""
    told = [
        Evidence("space", f"name = '{table.name}'",
                 phrase("{}: {:,} dead rows beside {:,}", table.name, table.dead, table.live),
                 phrase("{:,}", STEPPED_OVER), phrase("{:.0f rows/s} die", table.changed_per_s), "at_least"),
        looked_at(table, phrase("these are {:share} of all pages that the server looks at", table.gets_share)),
    ]  # fmt: skip
    if _was_in_vain(table, holder):
        told.append(
            Evidence("statistic", f"name = '{LAST_VACUUM}' and entity = '{table.database}.{table.name}'",
                     phrase("vacuumed {:time} ago", table.vacuumed_s), phrase("{:time}", holder.age_s),
                     "since that snapshot was taken: it could not remove them", "at_most")
        )  # fmt: skip
    return told
