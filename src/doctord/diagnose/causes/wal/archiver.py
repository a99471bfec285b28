"""PostgreSQL's archiver: one whose command fails, and one that archives nothing although it does not fail."""

import math
from typing import NamedTuple

import polars as pl

from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.wal_room import MIB, SEGMENT_BYTES, last, room_on_disk, symptoms, until_end
from doctord.diagnose.finding import NONE_YET, Claim, Evidence
from doctord.diagnose.phrase import Words, phrase

FAILED_S, ARCHIVED_S = "pg_stat_archiver.last_failed_s", "pg_stat_archiver.last_archived_s"
FAILED = "pg_stat_archiver.failed_count"
READY, OLDEST_S = "pg_ls_archive_statusdir.ready", "pg_ls_archive_statusdir.oldest_ready_s"
COMMAND_S, PROCESS = "pg_stat_archiver.command_s", "archiver.process"
# What waits is tried again every minute: an older failure has nothing left to archive.
TRIED_AGAIN_S = 300.0
# Segments: one that is being archived just now, and one that failed once.
FEW_READY = 2.0
# The archiver looks for work every minute, also where nobody woke it (archive_timeout and PGARCH_AUTOWAKE_INTERVAL).
STILL_S = 60.0
# A segment takes a second or two to be copied. Where more come meanwhile, and none goes, less time is enough.
GROWING_S, GROWN_BY = 20.0, 3.0
# One or two that wait may be a slow copy of a server that writes little; for five minutes they are none.
FEW_STILL_S = 300.0
# Slower than any way to an archive that keeps up with a server: a large segment may take long.
SLOWEST_BYTES_PER_S = MIB
HANGS_FIRST = (
    "See what the command waits for: a host that does not answer, a mount (NFS) that is gone, a lock, a question that "
    "nobody answers (password, host key).",
    "Set that right, or end the command's process (not the archiver's, not the server's): the archiver is "
    "started again and tries the same segment.",
    "Give it a limit of its own, for PostgreSQL waits without one: timeout 300 before the command (it ends with 124, "
    "which counts as a failure), ssh -o BatchMode=yes -o ConnectTimeout=10, soft mounts.",
)
EMPTY_FIRST = (
    "Set archive_command or archive_library and reload: while both are empty, all WAL is kept for a command that is "
    "to come. To do without an archive: archive_mode = off, and a restart.",
)


def is_failing(case: Case, db: str | None) -> bool:
    """Whether its last try failed, not long ago, and more waits than one that may be on its way."""
    failed_s, archived_s, ready = (last(case, name, db) for name in (FAILED_S, ARCHIVED_S, READY))
    if failed_s is None or failed_s > TRIED_AGAIN_S or (archived_s is not None and archived_s <= failed_s):
        return False
    return ready is None or ready >= 1


def failing(case: Case, failed: Statistic) -> Claim:
    """The claim that the last try of a server's archiver failed."""
    archived_s, ready = last(case, ARCHIVED_S, failed.db), last(case, READY, failed.db)
    room = room_on_disk(case, failed.db, case.total("pg_stat_wal.wal_bytes", failed.db))
    is_lasting = ready is None or ready > FEW_READY or room.seconds is not None
    waiting = phrase("{:count segment waits/segments wait} to be archived", ready) if ready else "segments wait"
    since = (
        phrase("the last one that succeeded was {:time} ago", archived_s) if archived_s else "none has succeeded yet"
    )
    where = f"name = '{FAILED_S}' and db = '{failed.db}'"
    return Claim(
        phrase("The archiver of {} fails: {}", failed.db, waiting),
        impact=NONE_YET,
        confidence=0.95 if is_lasting else 0.75,
        severity="critical" if room.is_at_once else "warning",
        for_=[
            Evidence("statistic", where, phrase("it failed {:.0f s} ago", failed.last), "", since),
            *until_end(case, failed.db, room),
        ],
        not_measured=room.unknown,
        explains=symptoms(case, room.mount, _kept(case, failed.db, ready), room.per_s),
        objects=room.objects,
        database=failed.db,
    )


class Standstill(NamedTuple):
    """Nothing was archived for `seconds` although `ready` segments wait; `more` of them came while it was looked.

    `command` is the statistic of the process that the archiver runs, null where none was seen; without `is_sure` it
    was seen for so short a time that it may be a slow one.
    """

    db: str
    seconds: float
    ready: float
    more: float
    command: Statistic | None
    is_sure: bool


def standstill(case: Case, db: str) -> Standstill | None:
    """Whether the archiver of a server stands still without a failure; null where it works, or has nothing to do."""
    ready, oldest_s, archived_s = (last(case, name, db) for name in (READY, OLDEST_S, ARCHIVED_S))
    if not ready or oldest_s is None or is_failing(case, db):
        return None
    seconds = min(oldest_s, math.inf if archived_s is None else archived_s)
    of_one_s = _segment_bytes(case, db) / SLOWEST_BYTES_PER_S
    still_s = STILL_S if ready > FEW_READY else FEW_STILL_S
    more = _more(case, db)
    is_sure = seconds >= max(still_s, of_one_s)
    if not is_sure and (seconds < max(GROWING_S, of_one_s) or more < GROWN_BY):
        return None
    command = next((one for one in case.figures(COMMAND_S) if one.db == db), None)
    return Standstill(db, seconds, ready, more, command, is_sure)


def standing(case: Case, still: Standstill) -> Claim:
    """The claim about an archiver that stands still."""
    db, is_empty = still.db, _is_empty(case, still.db)
    room = room_on_disk(case, db, case.total("pg_stat_wal.wal_bytes", db) or _more_per_s(case, still))
    waiting = phrase("{:count segment waits/segments wait}, nothing archived for {:duration}", still.ready,
                     still.seconds)  # fmt: skip
    return Claim(
        phrase(_title(still, is_empty=is_empty), db, waiting),
        impact=NONE_YET,
        confidence=0.95 if still.is_sure else 0.75,
        severity="critical" if room.is_at_once else "warning",
        for_=[
            Evidence("statistic", f"name = '{OLDEST_S}' and db = '{db}'",
                     phrase("{:.0f s} without a segment archived", still.seconds), phrase("{:.0f s}", GROWING_S),
                     phrase("{:count segment waits/segments wait}, {:.0f} more than when the look began", still.ready,
                            still.more), "at_least"),
            *_no_failure(case, db),
            *_command(case, still),
            *_waits(case, db),
            *until_end(case, db, room),
        ],
        not_measured=room.unknown,
        first_steps=EMPTY_FIRST if is_empty else HANGS_FIRST,
        explains=symptoms(case, room.mount, _kept(case, db, still.ready), room.per_s),
        objects=room.objects,
        database=db,
    )  # fmt: skip


def _title(still: Standstill, *, is_empty: bool) -> str:
    if is_empty:
        return "Nothing archives the WAL of {}, no command is set: {}"
    if still.command is not None and still.command.last >= GROWING_S:
        return "The archive command of {} does not come back: {}"
    return "The archiver of {} stands still: {}"


def _is_empty(case: Case, db: str) -> bool:
    """Whether it is known that there is neither a command nor a library; a value that is hidden is one."""
    command, library = case.setting("archive_command", db), case.setting("archive_library", db)
    return command == "" and not library


def _more(case: Case, db: str) -> float:
    """How many more segments wait at the last look than at the first."""
    looks = _looks(case, db)["value"]
    return max(float(looks[-1]) - float(looks[0]), 0.0) if looks.len() else 0.0


def _more_per_s(case: Case, still: Standstill) -> float | None:
    """Bytes a second of the segments that came while it was looked; null of a single look, and where none came."""
    looks = _looks(case, still.db)["ts"]
    seconds = (looks[-1] - looks[0]).total_seconds() if looks.len() else 0.0
    return still.more * _segment_bytes(case, still.db) / seconds if still.more and seconds else None


def _looks(case: Case, db: str) -> pl.DataFrame:
    rows = case.dataset.frame("statistic").filter((pl.col("name") == READY) & (pl.col("db") == db))
    return rows.drop_nulls("value").sort("ts", maintain_order=True)


def _segment_bytes(case: Case, db: str | None) -> float:
    return float(case.setting("wal_segment_size", db) or SEGMENT_BYTES)


def _kept(case: Case, db: str | None, ready: float | None) -> float | None:
    """Bytes of the segments that wait; null where they were not counted."""
    return None if ready is None else ready * _segment_bytes(case, db)


def _no_failure(case: Case, db: str) -> list[Evidence]:
    """That no failure is counted, where it was looked: it is not one that fails."""
    if case.total(FAILED, db) != 0:
        return []
    why: Words = "it does not fail: pg_stat_archiver shows nothing wrong"
    return [Evidence("statistic", f"name = '{FAILED}' and db = '{db}'", phrase("{:.0f failures}", 0.0), "", why)]


def _command(case: Case, still: Standstill) -> list[Evidence]:
    """The process that the archiver waits for, its age, and in what state it is."""
    where = case.setting(PROCESS, still.db)
    if still.command is None:
        told = phrase("{}", where)
        return [] if not where else [Evidence("setting", f"name = '{PROCESS}'", told, "", "where the archiver stands")]
    name = still.command.entity
    return [
        Evidence("statistic", f"name = '{COMMAND_S}' and entity = '{name}'",
                 phrase("the archive command runs for {:.0f s}: {}", still.command.last, name), "", where or "")
    ]  # fmt: skip


def _waits(case: Case, db: str) -> list[Evidence]:
    """What the archiver itself waits for, as the server names it from version 15 on."""
    samples = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("kind") == "archiver"))
    waiting = samples.filter(pl.col("event") == "ArchiveCommand")
    if waiting.is_empty():
        return []
    return [
        Evidence("session", f"kind = 'archiver' and db = '{db}'",
                 phrase("{:share} of its samples in ArchiveCommand", waiting.height / samples.height), "",
                 "the archiver waits for its command to end")
    ]  # fmt: skip
