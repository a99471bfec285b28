"""Writes of the log that do not end, as samples of those who wait for it tell them."""

from datetime import datetime
from typing import Final, NamedTuple

import polars as pl

from doctord.dataset.tables import CLIENT
from doctord.diagnose.case import Case

KINDS: Final = ("log sync", "log write")
FLUSHED: Final = "pg_current_wal_flush_lsn.flushed_bytes"
# A disk answers in milliseconds, a volume that is throttled in a second; paths that fail over take tens of seconds.
HANGS_S: Final = 5.0
# What is over was no hang for good: it is worth its own words where nobody would call it a slow disk any more.
HUNG_S: Final = 30.0
FEWEST_LOOKS: Final = 5
# One session may write much log for long; several that all stand in the same wait at each look do nothing.
FEWEST_SESSIONS: Final = 2
NEARLY_ALL: Final = 0.9
# Who still waited so shortly before the last look has not come back.
_END_S: Final = 2.0
# Looks come a little late; one that is missing, the session was not at work at.
_LATE: Final = 1.5
_CLOCK_S: Final = 0.2


class Hang(NamedTuple):
    """A time in which nobody who waited for the log of a server came out of it.

    `longest_s` is how long one of its `sessions` stood so, `share` the part (0 to 1) of the database time that clients
    lost by it, `is_over` whether they came back. `flushed_bytes` were written meanwhile; null where no two readings
    lie within it.
    """

    db: str
    since: datetime
    until: datetime
    sessions: int
    longest_s: float
    share: float
    is_over: bool
    flushed_bytes: float | None


def hangs(case: Case) -> list[Hang]:
    """Of each server the one in which most was lost; none where something of the log was written meanwhile."""
    found = []
    events, sessions = case.time.events_of(*KINDS), case.dataset.frame("session")
    # Hardly any recording has one: to sort all samples of an hour takes a quarter of a second.
    long = sessions.filter(pl.col("event").is_in(events) & (pl.col("in_state_s") >= HANGS_S))
    for db in long["db"].drop_nulls().unique(maintain_order=True).sort():
        stands = _stands(sessions.filter(pl.col("db") == db), events)
        told = [hang for spell in _spells(stands) if (hang := _hang(case, db, spell)) is not None]
        found += sorted(told, key=lambda hang: (hang.is_over, -hang.share))[:1]
    return found


def _stands(sessions: pl.DataFrame, events: list[str]) -> pl.DataFrame:
    """Each time that a session, or a process of the server, stood in one wait for the log, look after look.

    Columns: sid, since, until, looks, longest (seconds: of the whole statement, where all looks at it are such),
    client_s (client sessions' seconds in it).
    """
    is_at_work = (pl.col("wait_class") != "Idle") & (pl.col("state").is_null() | (pl.col("state") == "active"))
    ordered = sessions.filter(is_at_work).sort("sid", "ts", maintain_order=True)
    elapsed_s = (pl.col("ts") - pl.col("ts").shift(1)).dt.total_microseconds() / 1e6
    # Whoever is in the same statement as a look before has been in it for as long as that is ago.
    is_later = (pl.col("in_state_s") < elapsed_s / 2) | (pl.col("in_state_s") < pl.col("in_state_s").shift(1))
    was_away = elapsed_s > _LATE * pl.col("interval_s") + _CLOCK_S
    is_other = pl.col("sid") != pl.col("sid").shift(1)
    is_new = is_other.fill_null(value=True) | is_later.fill_null(value=False) | was_away.fill_null(value=False)
    is_next = is_new | (pl.col("event") != pl.col("event").shift(1)).fill_null(value=True)
    ends = is_new.shift(-1).fill_null(value=True)
    numbered = ordered.with_columns(is_new.alias("#is_new"), ends.alias("#ends"), is_next.cum_sum().alias("#stand"))
    stated_s, seen_s = (
        pl.col("in_state_s").last(),
        (pl.col("ts").max() - pl.col("ts").min()).dt.total_microseconds() / 1e6,
    )
    is_all = pl.col("#is_new").first() & pl.col("#ends").last() & stated_s.is_not_null()
    client_s = pl.when(pl.col("kind") == CLIENT).then(pl.col("interval_s")).otherwise(0.0)
    return (
        numbered.filter(pl.col("event").is_in(events))
        .group_by("sid", "#stand", maintain_order=True)
        .agg(
            pl.col("ts").min().alias("since"),
            pl.col("ts").max().alias("until"),
            pl.len().alias("looks"),
            pl.when(is_all).then(stated_s).otherwise(pl.min_horizontal(stated_s, seen_s)).alias("longest"),
            client_s.sum().alias("client_s"),
        )
    )


def _spells(stands: pl.DataFrame) -> list[pl.DataFrame]:
    """Those that are long, by the times at which they overlap, each with all shorter ones of that time."""
    long = stands.filter((pl.col("longest") >= HANGS_S) & (pl.col("looks") >= FEWEST_LOOKS)).sort(
        "since", maintain_order=True
    )
    begins = (pl.col("since") > pl.col("until").cum_max().shift(1)).fill_null(value=False).cum_sum()
    spells = []
    for (_,), group in long.with_columns(begins.alias("#spell")).group_by("#spell", maintain_order=True):
        since, until = group["since"].min(), group["until"].max()
        spells.append(stands.filter((pl.col("since") >= since) & (pl.col("until") <= until)))
    return spells


def _hang(case: Case, db: str, spell: pl.DataFrame) -> Hang | None:
    """What a spell is, where nearly all that waited in it did so until its end, and nothing was written."""
    since, until = spell["since"].min(), spell["until"].max()
    if not isinstance(since, datetime) or not isinstance(until, datetime):
        return None
    stuck = spell.filter(pl.col("until") >= pl.lit(until) - pl.duration(microseconds=_END_S * 1_000_000))
    told = stuck.filter((pl.col("longest") >= HANGS_S) & (pl.col("looks") >= FEWEST_LOOKS))
    if told["sid"].n_unique() < FEWEST_SESSIONS or int(stuck["looks"].sum()) < NEARLY_ALL * int(spell["looks"].sum()):
        return None
    longest_s, total_s = float(told["longest"].max() or 0.0), case.database_time_s()  # type: ignore[arg-type]
    flushed, is_over = _flushed(case, db, since, until), _is_over(case, db, until)
    if flushed or (is_over and longest_s < HUNG_S):
        return None
    share = min(float(stuck["client_s"].sum()) / total_s, 1.0) if total_s else 0.0
    return Hang(db, since, until, stuck["sid"].n_unique(), longest_s, share, is_over, flushed)


def _is_over(case: Case, db: str, until: datetime) -> bool:
    """Whether sessions were looked at for longer than that: what was waited for is told each second, be it nothing."""
    lasts = [
        last for table in ("session", "wait")
        if isinstance(last := case.dataset.frame(table).filter(pl.col("db") == db)["ts"].max(), datetime)
    ]  # fmt: skip
    return (max(lasts) - until).total_seconds() > _END_S if lasts else False


def _flushed(case: Case, db: str, since: datetime, until: datetime) -> float | None:
    """Bytes of the log that were written between two readings within a time; null where there were none."""
    rates = case.dataset.frame("statistic").filter((pl.col("name") == FLUSHED) & (pl.col("db") == db))
    began = pl.col("ts") - pl.duration(microseconds=pl.col("interval_s") * 1_000_000)
    within = rates.filter((began >= since) & (pl.col("ts") <= until))
    return float((within["value"] * within["interval_s"]).sum()) if within.height else None
