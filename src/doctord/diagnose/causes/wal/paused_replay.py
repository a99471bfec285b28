"""A standby's replay that is paused: by whom, and what ends it, which is not the same for all."""

from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.readings import held_s, looks, stays
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

PAUSED: Final = "pg_is_wal_replay_paused"
# What the primary had of a setting that is lower here, by the standby's own log (entity).
PRIMARY_HAS: Final = "log.primary_setting"
# From this version on a standby pauses where a setting is lower than the primary's; before, it stopped.
PAUSES_SINCE: Final = 140_000
NAMES: Final = (
    "max_connections", "max_worker_processes", "max_wal_senders", "max_prepared_transactions",
    "max_locks_per_transaction",
)  # fmt: skip
TARGETS: Final = (
    "recovery_target", "recovery_target_time", "recovery_target_xid", "recovery_target_lsn", "recovery_target_name",
)  # fmt: skip
FIVE: Final = (
    "max_connections, max_worker_processes, max_wal_senders, max_prepared_transactions and max_locks_per_transaction"
)
VERIFY: Final[tuple[Words, ...]] = (
    "pg_get_wal_replay_pause_state() says 'not paused' (before version 14 pg_is_wal_replay_paused() is false), "
    "pg_last_wal_replay_lsn() moves on, and the lag in pg_stat_replication of the primary falls.",
)


def paused(case: Case, db: str, behind: Words) -> Claim | None:
    """That a standby's replay is paused, at every look or since a minute at the least; null where it is not.

    Args:
        case: The case.
        db: The standby.
        behind: What it has received and not replayed, in words.
    """
    readings = looks(case, db, None, PAUSED)
    if not stays(readings, 1.0):
        return None
    seconds = held_s(readings, 1.0)
    seen = phrase("so at every look, for {:duration}", seconds) if seconds else "so at every look"
    is_paused = Evidence("statistic", f"name = '{PAUSED}' and db = '{db}'", seen, "", behind)
    if (lower := _lower(case, db)) is not None:
        return _by_setting(db, is_paused, *lower)
    if (target := next((name for name in TARGETS if case.setting(name, db)), None)) is not None:
        return _at_target(case, db, is_paused, target)
    return _by_somebody(case, db, is_paused)


def _lower(case: Case, db: str) -> tuple[str, int, int] | None:
    """A setting, its value here and the primary's, which was higher; null where the log does not tell of one."""
    for one in case.figures(PRIMARY_HAS):
        own = case.setting(one.entity or "", db)
        if one.db == db and own is not None and int(own) < one.last:
            return one.entity or "", int(own), int(one.last)
    return None


def _by_setting(db: str, is_paused: Evidence, name: str, own: int, primary: int) -> Claim:
    why = "the primary has more than this standby could replay into: it paused by itself"
    return Claim(
        phrase("Replay is paused on standby {}: {} = {} is lower than the primary's {}", db, name, own, primary),
        impact=NONE_YET,
        confidence=0.95,
        severity="warning",
        for_=[
            is_paused,
            Evidence("statistic", f"name = '{PRIMARY_HAS}' and entity = '{name}' and db = '{db}'",
                     phrase("{:.0f} on the primary, by the DETAIL of this standby's log", float(primary)),
                     phrase("{:.0f}", float(own)), why, "at_least"),
        ],
        remedy=[
            phrase("Do not call pg_wal_replay_resume(): it would shut this standby down. Set {} here to {} or more "
                   "(ALTER SYSTEM works on a standby, too) and restart it.", name, primary),
            phrase("Before the restart compare the others with the primary's: {}. With one of them too low it does not "
                   "come up at all.", ", ".join(other for other in NAMES if other != name)),
            "So that it does not come again: raise these on the standbys first and on the primary last; lower them on "
            "the primary first.",
        ],
        verify=VERIFY,
        database=db,
    )  # fmt: skip


def _at_target(case: Case, db: str, is_paused: Evidence, target: str) -> Claim:
    action = case.setting("recovery_target_action", db)
    told = phrase("{} is set, recovery_target_action = {}", target, action) if action else phrase("{} is set", target)
    return Claim(
        phrase("Recovery of {} is paused, and has a target: {}", db, target),
        impact=NONE_YET,
        confidence=0.8,
        severity="warning",
        for_=[
            is_paused,
            Evidence("setting", f"name = '{target}' and db = '{db}'", told, "", "there, recovery pauses by itself"),
        ],
        against=[Evidence("statistic", is_paused.filter, "who paused it, is not told", "",
                          "somebody may have done so before the target was reached")],
        remedy=[
            "Look into it whether the data are as they should be: reads are allowed meanwhile.",
            "If so, select pg_wal_replay_resume() ends the recovery: the server becomes a primary of its own, and "
            "follows no other one any more.",
            "If not: stop it, set a later target, start it again; an earlier one takes the backup anew. One that is to "
            "follow as a standby must have no target: remove the setting, and restart.",
        ],
        verify=["pg_is_in_recovery() is false where the recovery was to end, else pg_last_wal_replay_lsn() moves on."],
        database=db,
    )  # fmt: skip


def _by_somebody(case: Case, db: str, is_paused: Evidence) -> Claim:
    version = int(case.setting("server_version_num", db) or PAUSES_SINCE)
    own = [phrase("{} = {}", name, value) for name in NAMES if (value := case.setting(name, db)) is not None]
    settings = [
        Evidence("setting", f"name in {NAMES} and db = '{db}'", phrase("{}" + ", {}" * (len(own) - 1), *own), "",
                 "where the primary has more of one of these, it paused by itself")
    ] if own and version >= PAUSES_SINCE else []  # fmt: skip
    look_first = [
        "First look into its log for \"hot standby is not possible because of insufficient parameter settings\", or "
        f"compare {FIVE} with the primary's (pg_controldata of the standby shows these). Is one lower here: raise it "
        "and restart; pg_wal_replay_resume() would shut the standby down.",
    ] if version >= PAUSES_SINCE else []  # fmt: skip
    return Claim(
        phrase("Replay is paused on standby {}", db),
        impact=NONE_YET,
        confidence=0.9,
        severity="warning",
        for_=[is_paused],
        against=settings,
        remedy=[*look_first, "Else somebody called pg_wal_replay_pause(), as for a look at one moment, or a backup: "
                "ask who did, then select pg_wal_replay_resume()."],
        verify=VERIFY,
        database=db,
    )  # fmt: skip
