"""Slots that somebody reads and for which much of the log is kept all the same: by the reader, or by a transaction.

`restart_lsn` of a logical slot stays where the oldest transaction began that is still open when its reader confirms:
decoding begins there after a restart. `confirmed_flush_lsn` is what the reader has confirmed, and moves meanwhile.
"""

from typing import Final

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.open_writers import HALF, OLD_S, RESTART, Writer, holding, keeps_up
from doctord.diagnose.common.wal.slots import CONFIRMED, kept, reading, severity, still_s
from doctord.diagnose.common.wal.wal_room import Room, symptoms, until_end
from doctord.diagnose.finding import NONE_YET, Claim, Evidence, NotMeasured, Severity
from doctord.diagnose.phrase import Words, listed, phrase

UNCONFIRMED: Final = "pg_replication_slots.unconfirmed_bytes"
# Readers confirm every ten seconds (wal_receiver_status_interval, pg_recvlogical --status-interval).
SILENT_S: Final = 12.0
# Longer than any statement that somebody waits for.
LONG_S: Final = 3600.0
MOST_TOLD: Final = 2
HELD: Final[tuple[Words, ...]] = (
    "Leave the slot and its reader alone: the reader keeps up, and a slot that is dropped costs it a new copy.",
    "So that it does not come again: idle_in_transaction_session_timeout for that role (transaction_timeout from "
    "version 17 on); max_slot_wal_keep_size bounds what the disk can lose, at the price of the slot.",
)
HELD_VERIFY: Final[tuple[Words, ...]] = (
    "restart_lsn of pg_replication_slots moves within half a minute; after the next checkpoint pg_wal shrinks.",
)
SILENT: Final[tuple[Words, ...]] = (
    "Look at the reader: it is connected and does not say what it has written. Programs that capture changes confirm "
    "with changes of their own tables alone, unless they have a heartbeat that writes; others hang, or wait for "
    "whom they write to.",
    "Restarting it loses nothing, as it begins where it confirmed. A slot that is not wanted: end its reader, then "
    "select pg_drop_replication_slot('...').",
)


def read_slot(case: Case, retained: Statistic, active: Statistic, room: Room) -> Claim:
    """Who keeps the log for a slot that is read: its reader, or an open transaction while the reader keeps up."""
    unconfirmed = reading(case, "unconfirmed_bytes", retained)
    if unconfirmed is None or not keeps_up(case, retained):
        return _behind(case, retained, active, room)
    return _held(case, retained, unconfirmed, room, holding(case, retained))


def _behind(case: Case, retained: Statistic, active: Statistic, room: Room) -> Claim:
    silent_s = (still_s(case, retained, CONFIRMED) or 0.0) if active.last else 0.0
    is_silent = silent_s >= SILENT_S
    often = phrase("active at {:share} of the looks", active.mean)
    return Claim(
        phrase("The reader of slot {} is connected and confirms nothing: {:bytes} of WAL are kept",
               retained.entity, retained.last) if is_silent else
        phrase("The reader of slot {} is {:bytes} of WAL behind, and falls back", retained.entity, retained.last),
        impact=NONE_YET,
        confidence=0.85 if is_silent else 0.75,
        severity=severity(room, is_large=False),
        for_=[kept(retained, "more than max_wal_size"), *([_still(retained, CONFIRMED, silent_s, "it has not said that "
              "it wrote anything, though more comes")] if is_silent else []), *until_end(case, retained.db, room)],
        against=[Evidence("statistic", f"name = 'pg_replication_slots.active' and entity = '{retained.entity}'", often,
                          "", "somebody reads it: it may catch up")],
        not_measured=room.unknown,
        remedy=SILENT if is_silent else (),
        explains=symptoms(case, room.mount, retained.last, room.per_s),
        objects=room.objects,
        database=retained.db,
    )  # fmt: skip


def _held(case: Case, retained: Statistic, unconfirmed: Statistic, room: Room, writers: list[Writer]) -> Claim:
    near = Evidence("statistic", f"name = '{UNCONFIRMED}' and entity = '{retained.entity}'",
                    phrase("{:bytes} not confirmed", unconfirmed.last), phrase("{:bytes}", HALF * retained.last),
                    "its reader keeps up: it is not what keeps the log", "at_most")  # fmt: skip
    still = still_s(case, retained, RESTART)
    stands = [_still(retained, RESTART, still, "decoding begins there after a restart")] if still is not None else []
    first = writers[0] if writers else None
    return Claim(
        _title(retained, first),
        impact=NONE_YET,
        confidence=0.6 if first is None else 0.75 if first.age_s < OLD_S else 0.9,
        severity=_severity(room, first),
        for_=[kept(retained, "since the oldest transaction began that is still open"), near, *stands,
              *([first.evidence()] if first else []), *until_end(case, retained.db, room)],
        against=_may_end(first, writers[1:]),
        not_measured=[*room.unknown, *([_UNKNOWN] if first is None else [])],
        remedy=(*_end(first), *HELD),
        verify=HELD_VERIFY,
        explains=symptoms(case, room.mount, retained.last, room.per_s),
        objects=room.objects,
        database=retained.db,
    )  # fmt: skip


def _title(retained: Statistic, first: Writer | None) -> Words:
    if first is None:
        return phrase("Slot {} keeps {:bytes} of WAL though its reader keeps up: a transaction that stays open?",
                      retained.entity, retained.last)  # fmt: skip
    return phrase("Slot {} keeps {:bytes} of WAL for a transaction that has been open for {:duration}: {}",
                  retained.entity, retained.last, first.age_s, first.who)  # fmt: skip


def _severity(room: Room, first: Writer | None) -> Severity:
    """By how soon the room ends; a transaction that is at work may end before, unless it is long at it."""
    graded = severity(room, is_large=False)
    is_brief = first is None or (first.is_at_work and first.age_s < LONG_S)
    return "note" if graded == "warning" and is_brief else graded


def _still(retained: Statistic, name: str, seconds: float, why: Words) -> Evidence:
    column = name.rpartition(".")[2].removesuffix("_bytes")
    return Evidence("statistic", f"name = '{name}' and entity = '{retained.entity}'",
                    phrase("{:.0f s} without a move of {}", seconds, column), "", why)  # fmt: skip


def _may_end(first: Writer | None, others: list[Writer]) -> list[Evidence]:
    at_work = [Evidence("session", f"sid = {first.sid}", "its session is at work", "", "it may end by itself")
               ] if first and first.is_at_work else []  # fmt: skip
    told = [phrase("{}, {:.0f s} old", one.who, one.age_s) for one in others[:MOST_TOLD]]
    next_ones = [Evidence(others[0].table, others[0].filter, listed(*told), "",
                          "open as well: the slot moves on as far as the next one only")] if told else []  # fmt: skip
    return [*at_work, *next_ones]


def _end(first: Writer | None) -> tuple[Words, ...]:
    """How to end the transaction that holds it."""
    if first is None:
        return ("Find the oldest transaction that has written: select pid, xact_start, state from pg_stat_activity "
                "where backend_xid is not null order by age(backend_xid) desc; and pg_prepared_xacts; on the primary, "
                "where this is a standby. Have it ended.",)  # fmt: skip
    if first.sid is None:
        return (phrase("Ask who coordinates prepared transaction {} whether it is to be committed: then COMMIT "
                       "PREPARED '{}', else ROLLBACK PREPARED '{}', in its database.", *[first.name] * 3),)  # fmt: skip
    return (phrase("Have {} commit or roll back; else select pg_terminate_backend({}): what it wrote is rolled back. "
                   "pg_cancel_backend ends a statement, and no idle transaction.", first.who, first.sid),)  # fmt: skip


_UNKNOWN: Final = NotMeasured(
    "which transaction holds the slot",
    "none that has written was seen open for long enough: it may have ended just now, or be hidden",
    "membership in pg_monitor, and a look of a minute",
)
