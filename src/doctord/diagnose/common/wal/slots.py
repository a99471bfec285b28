"""Replication slots over the time that was looked at: whether they are still there, who reads them, how they grow."""

from datetime import datetime, timedelta
from typing import Final

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.readings import held_s, looks
from doctord.diagnose.common.wal.wal_room import Room
from doctord.diagnose.finding import Evidence, Severity
from doctord.diagnose.phrase import Words, phrase

RETAINED: Final = "pg_replication_slots.retained_bytes"
ACTIVE: Final = "pg_replication_slots.active"
CONFIRMED: Final = "pg_replication_slots.confirmed_flush_lsn_bytes"
# Told at each look at slots, also where there are none.
LOOKED: Final = "pg_is_in_recovery"
# What was long ago says nothing of what is to come within the hour.
LATELY: Final = timedelta(hours=1)
GONE: Final = timedelta(minutes=1)
# Four segments: a reader that lives lags so much now and then.
LEAST_BYTES: Final = 64 * 2**20
# A night and a weekend must be outlived without anybody who looks.
SOON_S: Final = 3 * 86_400.0


def is_gone(case: Case, retained: Statistic) -> bool:
    """Whether a slot is no longer there at the last look of a recording."""
    seen = _last(looks(case, retained.db, retained.entity, RETAINED))
    looked = _last(looks(case, retained.db, None, LOOKED))
    return seen is not None and looked is not None and looked - seen > GONE


def unread_s(case: Case, retained: Statistic) -> float | None:
    """For how long nobody read a slot, seconds: at all looks, or for the last hour at the least; null where one did."""
    readings = looks(case, retained.db, retained.entity, ACTIVE)
    since, until = _last(readings.filter(pl.col("value") > 0)), _last(readings)
    if until is None:
        return None
    if since is None:
        return float((until - readings["ts"][0]).total_seconds())
    return float((until - since).total_seconds()) if until - since >= LATELY else None


def still_s(case: Case, retained: Statistic, name: str) -> float | None:
    """For how long a reading of a slot has not changed up to the last look, seconds.

    Null where it did since the look before, and of a single look.
    """
    readings = looks(case, retained.db, retained.entity, name)
    return held_s(readings, readings["value"][-1]) or None if readings.height else None


def reading(case: Case, name: str, retained: Statistic) -> Statistic | None:
    """Another figure of the same slot; null where it was not measured."""
    figures = case.figures(f"pg_replication_slots.{name}")
    return next((one for one in figures if (one.db, one.entity) == (retained.db, retained.entity)), None)


def growth(case: Case, retained: Statistic, *, lately: bool = False) -> float | None:
    """Bytes a second more that are kept for a slot, from the first look to the last; null of a single look.

    With `lately` of the last hour alone.
    """
    readings = looks(case, retained.db, retained.entity, RETAINED)
    if lately and readings.height:
        readings = readings.filter(pl.col("ts") >= readings["ts"][-1] - LATELY)
    seconds = (readings["ts"][-1] - readings["ts"][0]).total_seconds() if readings.height else 0.0
    return max((readings["value"][-1] - readings["value"][0]) / seconds, 0.0) if seconds else None


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


def _last(readings: pl.DataFrame) -> datetime | None:
    return readings["ts"][-1] if readings.height else None
