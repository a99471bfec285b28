"""Replication slots over the time that was looked at: whether they are still there, who reads them, how they grow."""

from datetime import datetime, timedelta
from typing import Final

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal_room import Room
from doctord.diagnose.finding import Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

RETAINED: Final = "pg_replication_slots.retained_bytes"
ACTIVE: Final = "pg_replication_slots.active"
# Told at each look at slots, also where there are none.
LOOKED: Final = "pg_is_in_recovery"
# What was long ago says nothing of what is to come within the hour.
LATELY: Final = timedelta(hours=1)
GONE: Final = timedelta(minutes=1)
TWO: Final = 2
# Four segments: a reader that lives lags so much now and then.
LEAST_BYTES: Final = 64 * 2**20
# A night and a weekend must be outlived without anybody who looks.
SOON_S: Final = 3 * 86_400.0


def is_gone(case: Case, retained: Statistic) -> bool:
    """Whether a slot is no longer there at the last look of a recording."""
    seen, looked = _last(_looks(case, retained, RETAINED)), _last(_of_server(case, retained, LOOKED))
    return seen is not None and looked is not None and looked - seen > GONE


def unread_s(case: Case, retained: Statistic) -> float | None:
    """For how long nobody read a slot, seconds: at all looks, or for the last hour at the least; null where one did."""
    looks = _looks(case, retained, ACTIVE)
    since, until = _last(looks.filter(pl.col("value") > 0)), _last(looks)
    if until is None:
        return None
    if since is None:
        return float((until - looks["ts"][0]).total_seconds())
    return float((until - since).total_seconds()) if until - since >= LATELY else None


def still_s(case: Case, retained: Statistic, name: str) -> float | None:
    """For how long a reading of a slot has not changed up to the last look, seconds.

    Null where it did since the look before, and of a single look.
    """
    looks = _looks(case, retained, name)
    if looks.height < TWO:
        return None
    moved = looks.filter(pl.col("value") != looks["value"][-1])
    since = looks["ts"][0] if moved.is_empty() else looks.filter(pl.col("ts") > moved["ts"][-1])["ts"][0]
    return float((looks["ts"][-1] - since).total_seconds()) or None


def reading(case: Case, name: str, retained: Statistic) -> Statistic | None:
    """Another figure of the same slot; null where it was not measured."""
    figures = case.figures(f"pg_replication_slots.{name}")
    return next((one for one in figures if (one.db, one.entity) == (retained.db, retained.entity)), None)


def growth(case: Case, retained: Statistic, *, lately: bool = False) -> float | None:
    """Bytes a second more that are kept for a slot, from the first look to the last; null of a single look.

    With `lately` of the last hour alone.
    """
    looks = _looks(case, retained, RETAINED)
    if lately and looks.height:
        looks = looks.filter(pl.col("ts") >= looks["ts"][-1] - LATELY)
    seconds = (looks["ts"][-1] - looks["ts"][0]).total_seconds() if looks.height else 0.0
    return max((looks["value"][-1] - looks["value"][0]) / seconds, 0.0) if seconds else None


def kept(retained: Statistic, why: Words) -> Evidence:
    """How much is kept for a slot."""
    where = f"name = '{RETAINED}' and entity = '{retained.entity}'"
    return Evidence("statistic", where, phrase("{:bytes} kept", retained.last), phrase("{:bytes}", LEAST_BYTES), why,
                    "at_least")  # fmt: skip


def severity(room: Room, *, is_large: bool) -> Severity:
    """By how soon the room ends."""
    if room.is_at_once:
        return "critical"
    return "warning" if is_large or (room.seconds is not None and room.seconds <= SOON_S) else "note"


def _last(looks: pl.DataFrame) -> datetime | None:
    return looks["ts"][-1] if looks.height else None


def _looks(case: Case, retained: Statistic, name: str) -> pl.DataFrame:
    return _of_server(case, retained, name).filter(pl.col("entity") == retained.entity)


def _of_server(case: Case, retained: Statistic, name: str) -> pl.DataFrame:
    is_own = (pl.col("name") == name) & pl.col("db").eq_missing(pl.lit(retained.db))
    return case.dataset.frame("statistic").filter(is_own).drop_nulls("value").sort("ts", maintain_order=True)
