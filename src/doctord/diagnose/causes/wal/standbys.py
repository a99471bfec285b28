"""PostgreSQL's synchronous standbys: how many must confirm a commit, and how many that count are there."""

import re

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.common.by_server import waited_by_server
from doctord.diagnose.common.waited import of_kind
from doctord.diagnose.common.wal.removed_wal import REBUILD, Removed, removed
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.regex import regex

STANDBY = "standby"
NAMES = "synchronous_standby_names"
CONNECTED, SYNCHRONOUS = "pg_stat_replication.connected", "pg_stat_replication.synchronous"
LEVEL, REPLAYED = "synchronous_commit", "remote_apply"
FLUSH_LAG, REPLAY_LAG = "pg_stat_replication.flush_lag_bytes", "pg_stat_replication.replay_lag_bytes"
# "FIRST 2 (a, b)", "ANY 2 (a, b)" and, as before 10, "2 (a, b)": how many must confirm; a mere list means one.
HOW_MANY = regex(r"^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(", re.IGNORECASE)
VERIFY = (
    "pg_stat_replication has as many rows with sync_state sync or quorum as synchronous_standby_names asks for, and no "
    "session waits in SyncRep."
)


def needed(names: str) -> int:
    """How many standbys must confirm a commit.

    >>> needed("ANY 2 (a, b, c)"), needed("FIRST 1 (a)"), needed("2 (a, b)"), needed("a, b"), needed("*"), needed(" ")
    (2, 1, 2, 1, 1, 0)
    """
    found = HOW_MANY.match(names)
    return int(found[1]) if found else int(bool(names.strip()))


def missing_standby(case: Case, db: str | None, share: float) -> Claim | None:
    """The claim that fewer standbys are there than must confirm; null where enough are, or it was not looked.

    Args:
        case: The case, in which commits wait for a standby.
        db: The server whose commits do; null where that is not told.
        share: Share (0 to 1) of the time that they do.
    """
    if db is None:
        return None
    names = case.setting(NAMES, db) or ""
    connected, confirming = _last(case, CONNECTED, db), _last(case, SYNCHRONOUS, db)
    there = connected if not connected or confirming is None else confirming
    if connected is None or there is None or there >= needed(names):
        return None
    gone = _asking(case, db)
    return Claim(
        phrase(f"Commits wait for a synchronous standby that {'cannot come back' if gone else 'is not there'}: "
               "{:.0f} of {} that must confirm", there, needed(names)),
        impact=share,
        confidence=0.95,
        for_=[
            *of_kind(case, STANDBY),
            Evidence("statistic", f"name = '{SYNCHRONOUS if there == confirming else CONNECTED}' and db = '{db}'",
                     phrase("{:count standby/standbys} that count stream", there),
                     phrase("{:.0f}", needed(names) - 1),
                     phrase("{:.0f} others are connected, whose names are not among those that are waited for, or "
                            "that are still catching up", connected - there) if connected > there
                     else "no commit is confirmed until one connects", "at_most"),
            Evidence("setting", f"name = '{NAMES}' and db = '{db}'", phrase("{} = {}", NAMES, names), "",
                     "whom commits wait for"),
            *([gone.evidence] if gone else []),
            *_longest(case, db),
        ],
        remedy=(
            *_back(names, gone),
            "If it will not be back soon, decide to do without its protection: ALTER SYSTEM SET "
            "synchronous_standby_names = '' (or to standbys that are there), then SELECT pg_reload_conf(): what "
            "waits is let go at once. Cancelling a waiting commit does not undo it: it is on this server alone.",
            "Then: name one standby more than must confirm (ANY 1 (a, b)), so that one may be away; "
            "synchronous_commit = local for what may be lost.",
        ),
        verify=(VERIFY,),
        database=db,
    )  # fmt: skip


def standby_without_replay(case: Case, db: str | None, share: float) -> Claim | None:
    """The claim that commits wait until a standby has replayed them that replays nothing; null where it is not so.

    pg_receivewal, and whatever else only writes the log, tells where it has flushed it and never a place of replay.

    Args:
        case: The case, in which commits wait for a standby.
        db: The server whose commits do; null where that is not told.
        share: Share (0 to 1) of the time that they do.
    """
    if db is None or case.setting(LEVEL, db) != REPLAYED:
        return None
    flushing, replaying = (
        {one.entity for one in case.figures(name) if one.db == db} for name in (FLUSH_LAG, REPLAY_LAG)
    )
    names = sorted(name for name in flushing - replaying if name)
    if not names or replaying:
        return None
    return Claim(
        phrase("Commits wait until {} has replayed them, which replays nothing", names[0]),
        impact=share,
        confidence=0.95,
        for_=[
            *of_kind(case, STANDBY),
            Evidence("setting", f"name = '{LEVEL}' and db = '{db}'", phrase("{} = {}", LEVEL, REPLAYED), "",
                     "a commit returns when a synchronous standby has replayed it"),
            Evidence("statistic", f"name = '{FLUSH_LAG}' and entity = '{names[0]}' and db = '{db}'",
                     phrase("{} flushes, and has no place of replay", names[0]), "",
                     "pg_receivewal, or another receiver that only writes the log: it never will have one"),
            Evidence("setting", f"name = '{NAMES}' and db = '{db}'",
                     phrase("{} = {}", NAMES, case.setting(NAMES, db) or ""), "", "whom commits wait for"),
            *_longest(case, db),
        ],
        remedy=(
            "ALTER SYSTEM SET synchronous_commit = on, then SELECT pg_reload_conf(): a commit is confirmed when it is "
            "flushed there, which is what such a receiver can promise. Look for roles and databases that set it, too.",
            "What waits already, waits for a replay all the same: it is let go by a reload with "
            "synchronous_standby_names = '', or when a standby that replays confirms.",
            "For remote_apply: name standbys that replay in synchronous_standby_names.",
        ),
        verify=("No session waits in SyncRep; replay_lsn of pg_stat_replication is not null for those waited for.",),
        database=db,
    )  # fmt: skip


def waits_for_missing(case: Case, db: str) -> bool:
    """Whether commits of a server wait for a standby that is not there, so that this is said there."""
    share = waited_by_server(case, STANDBY).get(db, 0.0)
    return case.worth_with_locks(share, STANDBY) and missing_standby(case, db, share) is not None


def _asking(case: Case, db: str) -> Removed | None:
    """That a standby asks for WAL which was removed, and still does."""
    gone = removed(case, db)
    return None if gone is None or gone.is_over else gone


def _back(names: str, gone: Removed | None) -> tuple[Words, ...]:
    """What brings the standby back."""
    if gone is not None:
        return REBUILD
    return (
        phrase("Start the standby ({}) again, or mend its way here (primary_conninfo, pg_hba.conf, its own "
               "application_name): what waits goes on by itself once it has caught up.", names),
    )  # fmt: skip


def _last(case: Case, name: str, db: str) -> float | None:
    return next((figure.last for figure in case.figures(name) if figure.db == db), None)


def _longest(case: Case, db: str) -> list[Evidence]:
    """How long a commit has been seen to wait."""
    waiting = case.active.filter((pl.col("db") == db) & (pl.col("wait_kind") == STANDBY))
    longest = waiting["in_state_s"].max()
    if not isinstance(longest, float):
        return []
    return [
        Evidence("session", f"wait_kind = '{STANDBY}' and db = '{db}'", phrase("a commit waits for {:time}", longest),
                 "", "a network and a standby's disk take milliseconds")
    ]  # fmt: skip
