"""A standby that waits for its restore_command: while that runs, it neither replays nor streams."""

from typing import Final

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.wal_room import MIB, SEGMENT_BYTES
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

RUNNING_S: Final = "restore_command.running_s"
PROCESS: Final = "startup.process"
REPLAYED: Final = "pg_last_wal_replay_lsn.replayed_bytes"
STARTUP, EVENT = "startup", "RestoreCommand"
# Slower than any way from an archive that keeps up with a server: a segment comes in a second or two.
SLOWEST_BYTES_PER_S: Final = MIB
LEAST_S: Final = 10.0
# A minute for one segment is no slow archive.
SURELY_S: Final = 60.0
# Of the samples of the process that recovers, where nobody sees its command.
ALL_ALONG: Final = 0.9
FIRST: Final = (
    "See what the command waits for: a host that does not answer, a mount (NFS) that is gone, a lock, a question that "
    "nobody answers (password, host key). Set that right, and it goes on by itself.",
    "A signal to the command ends the standby with it (recovery aborts): where nothing else helps, do that, and start "
    "the standby again with a command that works, or without one where its primary still has the WAL.",
    "Give it a limit of its own, for PostgreSQL waits without one: timeout 60 before what copies (it ends with 124: "
    "the file is taken for one that is not there, and a standby streams; a recovery to a point in time would end "
    "there), ssh -o BatchMode=yes -o ConnectTimeout=10, soft mounts.",
)
VERIFY: Final = (
    "pg_last_wal_replay_lsn() moves on, pg_stat_wal_receiver has a row, and no process stays below `startup`.",
)


def restoring(case: Case, db: str, behind: Words) -> Claim | None:
    """That recovery waits for its restore_command longer than a segment takes; null where it does not.

    Args:
        case: The case.
        db: The standby.
        behind: What it has received and not replayed, in words.
    """
    command = next((one for one in case.figures(RUNNING_S) if one.db == db), None)
    segment = float(case.setting("wal_segment_size", db) or SEGMENT_BYTES)
    is_long = command is not None and command.last >= max(LEAST_S, segment / SLOWEST_BYTES_PER_S)
    waiting = _waiting(case, db) if _stands(case, db) else []
    if not is_long and not waiting:
        return None
    return Claim(
        phrase("Standby {} waits for its restore_command{}", db,
               phrase(", which runs for {:duration}: {}", command.last, command.entity) if command and is_long else ""),
        impact=NONE_YET,
        confidence=0.95 if command and command.last >= SURELY_S else 0.75,
        severity="warning",
        for_=[*(_command(case, command) if command else []), *waiting, *_streams(case, db, behind)],
        first_steps=FIRST,
        verify=VERIFY,
        database=db,
    )  # fmt: skip


def _command(case: Case, command: Statistic) -> list[Evidence]:
    """How long it runs, and in what state its process is."""
    return [
        Evidence("statistic", f"name = '{RUNNING_S}' and db = '{command.db}'",
                 phrase("{} runs for {:.0f s}", command.entity, command.last), phrase("{:.0f s}", LEAST_S),
                 case.setting(PROCESS, command.db) or "", "at_least")
    ]  # fmt: skip


def _waiting(case: Case, db: str) -> list[Evidence]:
    """What recovery itself waits for, as the server names it from version 15 on; nothing where not all along."""
    samples = case.dataset.frame("session")
    waiting = samples.filter((samples["db"] == db) & (samples["kind"] == STARTUP) & (samples["event"] == EVENT))
    seconds = float(waiting["interval_s"].sum())
    if seconds < max(ALL_ALONG * case.seconds, LEAST_S):
        return []
    return [
        Evidence("session", f"kind = '{STARTUP}' and event = '{EVENT}' and db = '{db}'",
                 phrase("{:.0f s} in {}", seconds, EVENT), phrase("{:.0f s}", LEAST_S),
                 "recovery waits for the command to end", "at_least")
    ]  # fmt: skip


def _stands(case: Case, db: str) -> bool:
    """Whether nothing is replayed: a standby that fetches one segment after the other waits all along as well."""
    return any(one.db == db and not one.mean for one in case.figures(REPLAYED))


def _streams(case: Case, db: str, behind: Words) -> list[Evidence]:
    """That nothing is received meanwhile."""
    receivers = next((one for one in case.figures("pg_stat_wal_receiver.count") if one.db == db), None)
    if receivers is None or receivers.last:
        return []
    return [Evidence("statistic", f"name = '{receivers.name}' and db = '{db}'", "it does not stream from its primary",
                     "", behind or "it will once the command has ended")]  # fmt: skip
