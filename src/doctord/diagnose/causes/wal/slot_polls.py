"""Logical slots that are read by calls of a function, which decode what earlier calls have decoded."""

import re
from collections.abc import Iterator
from typing import Final

from doctord.analyse.figures import Statistic
from doctord.analyse.sql.statements import Statement
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.slowed import FELT_MS, OFTEN_PER_S, severity
from doctord.diagnose.common.wal.open_writers import HALF, OLD_S, RESTART, RUNNING_S, Writer, open_writers
from doctord.diagnose.common.wal.slots import CONFIRMED, RETAINED, reading, still_s
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

POLLS: Final = regex(r"\bpg_logical_slot_(get|peek)_(binary_)?changes\s*\(", re.IGNORECASE)
# One segment: what is decoded in a few tens of milliseconds.
LEAST_BYTES: Final = 16 * 2**20
PEEK: Final = "peek"


@cause(explains=("statement_dominates", "slow_for_few_rows", "cpu_few_statements"))
def slot_decodes_again(case: Case) -> Iterator[Claim]:
    """Each poll of a logical slot decodes the same log again.

    Looks like: pg_logical_slot_get_changes or pg_logical_slot_peek_changes takes long at every call, though it returns
        few rows; the slot's reader has confirmed nearly all, and its restart_lsn stands far behind. Or all calls are of
        pg_logical_slot_peek_changes, and confirmed_flush_lsn stands still.
    Hurts because: each call begins to decode at restart_lsn, which cannot pass the beginning of the oldest transaction
        that is still open: what was written since then is read and decoded at each of them. A call that peeks confirms
        nothing: what it has decoded, all or up to its own limit (upto_nchanges), is decoded again by the next.
    Speaks for it: the log that is kept for the slot beside what its reader has not confirmed; for how long restart_lsn,
        or of a slot that is peeked at confirmed_flush_lsn, stands still; an open transaction that has written and is as
        old.
    Speaks against it: much that is not confirmed: then calls that confirm decode what is new. Which slot a call reads
        is a parameter, and not told where there are several.
    Remedy: Confirm what was read (pg_logical_slot_get_changes, pg_replication_slot_advance). End the transaction that
        keeps restart_lsn (commit, roll back, pg_terminate_backend; ROLLBACK PREPARED);
        idle_in_transaction_session_timeout for its role. Poll less often, or read by the streaming protocol
        (pg_recvlogical, a subscription), which decodes from restart_lsn once, when it connects.
    Verify: restart_lsn of pg_replication_slots moves within half a minute, and the time per call falls.
    Source: PostgreSQL documentation, "Logical Decoding Concepts", pg_replication_slots (restart_lsn,
        confirmed_flush_lsn), "Replication Management Functions".
    """
    for one in [one for one in case.statements if POLLS.search(one.text or "") and _is_felt(case, one)]:
        own = [slot for slot in case.figures(RETAINED) if slot.db == one.db]
        slots = [slot for slot in own if _is_read_again(case, slot)]
        if not slots:
            yield from _peeks(case, one, [slot for slot in own if _is_peeked(case, slot)])
            continue
        slot = max(slots, key=lambda each: each.mean)
        holder = next((each for each in open_writers(case, slot.db) if _may_hold(case, slot, each)), None)
        for_, against = weigh(_signs(case, slot))
        yield Claim(
            phrase("Each poll of slot {} decodes {:bytes} of WAL again, in {:.3g ms}{}", slot.entity, slot.mean,
                   one.elapsed_ms, phrase(": its restart_lsn is held by {}", holder.who) if holder else ""),
            impact=at_most(one.share),
            confidence=0.6 if len(slots) > 1 or holder is None else 0.9,
            severity=severity(case, one.share, slowed=True),
            for_=[_polls(one), *for_, *([holder.evidence()] if holder else [])],
            against=[*against, *([_several(slots)] if len(slots) > 1 else [])],
            first_steps=_end(holder),
            database=one.db,
        )  # fmt: skip


def _peeks(case: Case, one: Statement, slots: list[Statistic]) -> Iterator[Claim]:
    """Calls that confirm nothing, of a statement that does nothing else."""
    if not slots or {match[1].lower() for match in POLLS.finditer(one.text or "")} != {PEEK}:
        return
    slot = max(slots, key=lambda each: each.mean)
    still = Sign("statistic", f"name = '{CONFIRMED}' and entity = '{slot.entity}' and db = '{slot.db}'",
                 still_s(case, slot, CONFIRMED), RUNNING_S, "{:.0f s} without a move of confirmed_flush_lsn",
                 "what was peeked at is not confirmed")  # fmt: skip
    yield Claim(
        phrase("Each poll of slot {} decodes up to {:bytes} of WAL again, in {:.3g ms}: who peeks confirms nothing",
               slot.entity, slot.mean, one.elapsed_ms),
        impact=at_most(one.share),
        confidence=0.6 if len(slots) > 1 else 0.9,
        severity=severity(case, one.share, slowed=True),
        for_=[_polls(one), *weigh([still])[0]],
        against=[_several(slots)] if len(slots) > 1 else [],
        first_steps=[phrase("First: read by pg_logical_slot_get_changes, or confirm each batch that was peeked at "
                            "(pg_replication_slot_advance).")],
        database=one.db,
    )  # fmt: skip


def _is_felt(case: Case, one: Statement) -> bool:
    often = (one.calls_per_s or 0.0) >= OFTEN_PER_S or case.worth_saying(one.share)
    return often and (one.elapsed_ms or 0.0) >= FELT_MS


def _is_read_again(case: Case, slot: Statistic) -> bool:
    """Whether most of what is kept for a slot has been confirmed, and is still decoded."""
    unconfirmed = reading(case, "unconfirmed_bytes", slot)
    return unconfirmed is not None and slot.mean >= LEAST_BYTES and unconfirmed.mean < HALF * slot.mean


def _is_peeked(case: Case, slot: Statistic) -> bool:
    """Whether much is kept for a slot, and its reader has confirmed none of it since the last running transactions."""
    return slot.mean >= LEAST_BYTES and (still_s(case, slot, CONFIRMED) or 0.0) >= RUNNING_S


def _may_hold(case: Case, slot: Statistic, one: Writer) -> bool:
    return one.age_s >= max(RUNNING_S, (still_s(case, slot, RESTART) or 0.0) - OLD_S)


def _polls(one: Statement) -> Evidence:
    return Evidence("statement", f"statement_id = '{one.statement_id}'",
                    phrase("{:.3g ms} each, {:rate}", one.elapsed_ms, one.calls_per_s or 0.0),
                    phrase("{:.0f ms}", FELT_MS), shortened(one.text or ""), "at_least")  # fmt: skip


def _signs(case: Case, slot: Statistic) -> list[Sign]:
    unconfirmed = reading(case, "unconfirmed_bytes", slot)
    where = f"entity = '{slot.entity}' and db = '{slot.db}'"
    return [
        Sign("statistic", f"name = '{RETAINED}' and {where}", slot.mean, LEAST_BYTES, "{:bytes} of WAL are kept for it",
             "decoding begins at restart_lsn"),
        Sign("statistic", f"name = 'pg_replication_slots.unconfirmed_bytes' and {where}",
             unconfirmed.mean if unconfirmed else None, HALF * slot.mean, "{:bytes} of it are not confirmed",
             "the rest was decoded before", "that much is new", below=True),
        Sign("statistic", f"name = '{RESTART}' and {where}", still_s(case, slot, RESTART), RUNNING_S,
             "{:.0f s} without a move of restart_lsn", "it moves with each record of running transactions, every 15 s"),
    ]  # fmt: skip


def _several(slots: list[Statistic]) -> Evidence:
    return Evidence("statistic", f"name = '{RETAINED}'", phrase("{:count slot/slots} may be meant", len(slots)), "",
                    "which one is a parameter of the call")  # fmt: skip


def _end(holder: Writer | None) -> list[Words]:
    if holder is None:
        return []
    if holder.sid is None:
        return [phrase("First: have {} committed or rolled back by whoever coordinates it.", holder.who)]
    return [phrase("First: have {} commit or roll back; else select pg_terminate_backend({}).", holder.who,
                   holder.sid)]  # fmt: skip
