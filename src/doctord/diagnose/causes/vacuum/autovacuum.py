"""Autovacuum that does not come: switched off, with too few workers for what dies, or cancelled again and again."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.vacuum.cancelled_vacuums import cancelled_again
from doctord.diagnose.causes.vacuum.dead_rows import costs, harmless
from doctord.diagnose.causes.vacuum.horizon import holders
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

ENABLED, WORKERS = "pg_class.autovacuum_enabled", "pg_stat_activity.autovacuum_workers"
MOST_WORKERS = "autovacuum_max_workers"
# More dead rows than living ones, five times what the defaults let pass; and enough of them to be felt by who reads.
DEAD_SHARE, DEAD_ROWS = 0.5, 10_000
# Nearly every look.
ALWAYS = 0.8
ASLEEP = "VacuumDelay"
# What a page costs that is found in the buffers and changed, and how much may be spent between two sleeps (the
# workers share it): defaults of vacuum_cost_page_hit, _dirty and vacuum_cost_limit.
PAGE_HIT, PAGE_DIRTY, COST_LIMIT = 1.0, 20.0, 200.0
PAGE_BYTES = 8192
# Meanwhile a queue or a hot table has changed as a whole many times over.
LONG_PASS_S = 600.0
MOST_TOLD = 5


@cause(explains=("bloat",))
def autovacuum_behind(case: Case) -> Iterator[Claim]:
    """Autovacuum does not come to tables of which more is dead than alive.

    Looks like: n_dead_tup above n_live_tup in a table with tens of thousands of rows, while no old snapshot holds
        them: autovacuum is off, for the server or for that table; or all its workers are busy; or they sleep most of
        the time (autovacuum_vacuum_cost_delay, cost_limit); or it begins again and again and is cancelled each time:
        somebody takes a lock that conflicts with its own (LOCK TABLE, TRUNCATE, ALTER TABLE, CREATE INDEX), for which
        it gives way after deadlock_timeout.
    Hurts because: each scan steps over dead rows, indexes grow, statistics go stale and plans with them; tables never
        shrink by themselves again. Where it is off the age of transaction ids is watched by nobody until it is
        forced.
    Speaks for it: dead beside living rows; the setting; workers at each look, what part of it they sleep, and how long
        they need at the least for all pages of such a table at the rate that these settings allow. How often the log
        says "canceling autovacuum task" of a table since its last vacuum ended, who waited for the worker's lock, and
        the statement.
    Speaks against it: what else keeps dead rows (vacuum_held_back): it is asked first. A table that was changed in
        one go just now: autovacuum_naptime is a minute. A vacuum that was cancelled once, as by a migration. A table
        without autovacuum that nobody reads over its dead rows, as one that is loaded, used and TRUNCATEd: a note,
        while it is neither large nor old.
    Remedy: Off: autovacuum = on, or ALTER TABLE ... RESET (autovacuum_enabled). Busy: a higher
        autovacuum_vacuum_cost_limit (the workers share it), a shorter autovacuum_vacuum_cost_delay, then more
        autovacuum_max_workers. Cancelled: a weaker lock for the job that takes it, or none. VACUUM (ANALYZE) the tables
        named now, at a quiet time.
    Verify: n_dead_tup falls under a fifth and stays there; last_autovacuum of these tables is young.
    Source: PostgreSQL documentation, "The Autovacuum Daemon", "Automatic Vacuuming", "Table-Level Locks",
        pg_stat_all_tables.
    """
    held = {holder.db for holder in holders(case) if holder.is_old}
    for db in [db for db in case.dbs if db not in held]:
        tables = _mostly_dead(case, db)
        switched_off = {one.entity or "" for one in case.figures(ENABLED) if one.db == db and not one.last}
        off = [row for row in tables if _entity(row) in switched_off]
        costly = [row for row in off if costs(case, row)]
        others = [row for row in tables if row not in off]
        reasons = [*_server_off(case, db), *_busy(case, db), *(_asleep(case, db, others[0]) if others else ())]
        if costly:
            yield _behind(db, costly, _off_for(costly), _tables_off(costly))
        elif (again := cancelled_again(case, db)) and not (again.graded == "note" and others and reasons):
            yield again
        elif others and reasons:
            yield _behind(db, others, phrase("{} has more dead rows than living ones", others[0]["name"]), reasons)
        elif off:
            told = _behind(db, off, _off_for(off), _tables_off(off))
            yield replace(told, impact=NONE_YET, severity="note", against=harmless(case, off[0]))


def _mostly_dead(case: Case, db: str) -> list[dict[str, Any]]:
    """Tables with more dead rows than living ones at the last look, the most dead rows first."""
    dead, living = pl.col("dead_rows"), pl.col("live_rows").fill_null(0)
    tables = case.dataset.frame("space").filter((pl.col("db") == db) & (pl.col("kind") == "table"))
    last = tables.group_by("database", "name", maintain_order=True).last()
    found = last.filter((dead >= DEAD_ROWS) & (dead >= DEAD_SHARE * (dead + living)))
    return found.sort("dead_rows", "name", descending=[True, False], maintain_order=True).to_dicts()


def _off_for(tables: list[dict[str, Any]]) -> Words:
    return phrase("Autovacuum is switched off for table {}", tables[0]["name"])


def _entity(row: dict[str, Any]) -> str:
    return f"{row['database']}.{row['name']}"


def _server_off(case: Case, db: str) -> list[Evidence]:
    """That it is off for the whole server, or blind: it goes by the counts of changed rows."""
    return [
        Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = off", name), "", "no table is vacuumed")
        for name in ("autovacuum", "track_counts")
        if case.setting(name, db) == "off"
    ]


def _busy(case: Case, db: str) -> list[Evidence]:
    """That as many workers are at work at nearly every look as there may be."""
    workers = next((one for one in case.figures(WORKERS) if one.db == db), None)
    most = float(case.setting(MOST_WORKERS, db) or 0)
    if workers is None or not most or workers.mean < ALWAYS * most:
        return []
    figure, limit = phrase("{:.1f} workers at work", workers.mean), phrase("{:.0f} there may be", most)
    return [
        Evidence("statistic", f"name = '{WORKERS}' and db = '{db}'", figure, limit, "none is free for other tables")
    ]


def _asleep(case: Case, db: str, table: dict[str, Any]) -> list[Evidence]:
    """That a worker is at work all along and sleeps nearly all the time, at a rate by which a table takes too long.

    An ordinary pass sleeps as much; it is over before the table has changed again.
    """
    pass_s, rate = _pass_s(case, db, table)
    worker = (pl.col("db") == db) & (pl.col("kind") == "autovacuum worker")
    looks = case.dataset.frame("session").filter(worker)
    at_work_s = float(looks.unique("ts", maintain_order=True)["interval_s"].sum() or 0.0)
    of_all_s, asleep_s = (float(rows["interval_s"].sum() or 0.0) for rows in (looks, looks.filter(event=ASLEEP)))
    is_always = at_work_s >= ALWAYS * case.seconds and asleep_s >= ALWAYS * of_all_s
    if pass_s is None or pass_s < LONG_PASS_S or not of_all_s or not is_always:
        return []
    return [
        Evidence("session", f"kind = 'autovacuum worker' and event = '{ASLEEP}'",
                 phrase("a worker at work all along, asleep for {:share} of it", asleep_s / of_all_s),
                 phrase("{:share}", ALWAYS), "it has spent what it may, and waits", "at_least"),
        Evidence("setting", f"name in ('autovacuum_vacuum_cost_delay', 'autovacuum_vacuum_cost_limit') and db = '{db}'",
                 phrase("{:duration} for a pass over {}", pass_s, table["name"]), phrase("{:duration}", LONG_PASS_S),
                 phrase("at the least: {:.0f pages/s} at the rate that is set", rate), "at_least"),
    ]  # fmt: skip


def _pass_s(case: Case, db: str, table: dict[str, Any]) -> tuple[float | None, float]:
    """How long autovacuum takes at the least to change each page of a table once, seconds, and how many pages a second.

    Null where there is no limit to its rate, or the size of the table is not known.
    """
    delay_ms = _of_autovacuum(case, db, "cost_delay", 2.0)
    limit = _of_autovacuum(case, db, "cost_limit", COST_LIMIT)
    page = _number(case, db, "vacuum_cost_page_hit", PAGE_HIT) + _number(case, db, "vacuum_cost_page_dirty", PAGE_DIRTY)
    if delay_ms <= 0 or page <= 0 or table["used_bytes"] is None:
        return None, 0.0
    per_s = limit / page / (delay_ms / 1000)
    return table["used_bytes"] / PAGE_BYTES / per_s, per_s


def _of_autovacuum(case: Case, db: str, name: str, default: float) -> float:
    """A setting of autovacuum's own, or that of all vacuums where it has none (-1)."""
    own = _number(case, db, f"autovacuum_vacuum_{name}", default)
    return own if own >= 0 else _number(case, db, f"vacuum_{name}", COST_LIMIT if name == "cost_limit" else 0.0)


def _number(case: Case, db: str, name: str, default: float) -> float:
    value = case.setting(name, db)
    return float(value) if value else default


def _tables_off(tables: list[dict[str, Any]]) -> list[Evidence]:
    return [
        Evidence("statistic", f"name = '{ENABLED}' and entity = '{_entity(row)}'", "autovacuum_enabled = off", "",
                 phrase("table {} only", row["name"]))
        for row in tables[:MOST_TOLD]
    ]  # fmt: skip


def _behind(db: str, tables: list[dict[str, Any]], title: Words, reasons: list[Evidence]) -> Claim:
    dead = [
        Evidence("space", f"name = '{row['name']}'",
                 phrase("{}: {:,} dead rows beside {:,}", row["name"], row["dead_rows"], row["live_rows"] or 0),
                 phrase("{:,}", DEAD_ROWS), "", "at_least")
        for row in tables[:MOST_TOLD]
    ]  # fmt: skip
    return Claim(title, impact=NOT_MEASURED, confidence=0.85, for_=[*reasons, *dead], database=db)
