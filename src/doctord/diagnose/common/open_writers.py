"""Transactions that have written and are open: what logical decoding must be able to begin with again."""

from dataclasses import dataclass
from typing import Final

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.phrase import Words, phrase

AGE: Final = "pg_stat_activity.writing_transaction_s"
PREPARED: Final = "pg_prepared_xacts.age_s"
IDLE: Final = "idle in transaction"


@dataclass(frozen=True, slots=True)
class Writer:
    """An open transaction with an id, `age_s` seconds old: of a session, or a prepared one (`sid` is null).

    `who` tells it in the server's words; `is_at_work` whether its session was active at the last look.
    """

    name: str
    sid: int | None
    who: Words
    age_s: float
    is_at_work: bool
    table: str
    filter: str


def open_writers(case: Case, db: str | None) -> list[Writer]:
    """Those of a server that are open at the last look, the oldest first."""
    found = [
        *(_session(case, one) for one in _open_at_end(case, AGE, db)),
        *(_prepared(one) for one in _open_at_end(case, PREPARED, db)),
    ]
    return sorted(found, key=lambda one: (-one.age_s, one.name))


def _open_at_end(case: Case, name: str, db: str | None) -> list[Statistic]:
    """Figures of a name that were told at the last look at slots: what ended before is not among them."""
    of_server = case.dataset.frame("statistic").filter(pl.col("db").eq_missing(pl.lit(db)))
    looked = of_server.filter(pl.col("name") == "pg_is_in_recovery")["ts"].max()
    # Each part of the statistics is read at its own moment of a look.
    last = of_server.filter((pl.col("name") == name) & (pl.col("ts") > pl.lit(looked) - pl.duration(seconds=3)))
    there = set(last["entity"].to_list()) if looked is not None else set()
    return [one for one in case.figures(name) if one.db == db and (looked is None or one.entity in there)]


def _session(case: Case, one: Statistic) -> Writer:
    sid = int(one.entity or 0)
    rows = case.dataset.frame("session").filter((pl.col("db") == one.db) & (pl.col("sid") == sid))
    row = rows.row(-1, named=True) if rows.height else {}
    names = ", ".join(name for name in (row.get("program"), row.get("user")) if name)
    state = row.get("state") or ""
    who = phrase("session {}{}{}", sid, f" ({names})" if names else "", f", {state}" if state.startswith(IDLE) else "")
    where = f"name = '{AGE}' and entity = '{one.entity}' and db = '{one.db}'"
    return Writer(str(sid), sid, who, one.last, state == "active", "statistic", where)


def _prepared(one: Statistic) -> Writer:
    where = f"name = '{PREPARED}' and entity = '{one.entity}' and db = '{one.db}'"
    who = phrase("prepared transaction {}", one.entity)
    return Writer(one.entity or "", None, who, one.last, is_at_work=False, table="statistic", filter=where)
