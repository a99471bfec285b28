"""Why checkpoints began before their time: the log's limit of size, or somebody's command.

The server counts both as requested. Its log tells them apart (`checkpoint starting: wal`, `immediate force wait`);
where that was not read, how much was written between two of them does: by size one begins after max_wal_size / (1 +
checkpoint_completion_target) bytes, and not before (CalculateCheckpointSegments in src/backend/access/transam/xlog.c).
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.common.wal.wal_room import MIB, SEGMENT_BYTES
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# `xlog` before version 10. What begins at a stop or after a recovery is of neither kind.
STARTED, BY_SIZE, BY_TIME, AT_EDGES = r"^started:", r"\b(wal|xlog)\b", r"\btime\b", "shutdown|end-of-recovery"
# The session that asked for one waits for these (src/backend/postmaster/checkpointer.c).
ASKING: Final = ("CheckpointStart", "CheckpointDone")
WRITTEN: Final = ("pg_stat_wal.wal_bytes", "pg_current_wal_flush_lsn.flushed_bytes")
# Of what has to be written for one by size: a mean of some that were written after more, and some after less.
FAR_FROM_LIMIT: Final = 0.5
MOST_NAMED: Final = 2
COMMANDED_FIRST: Final = (
    "Find who asks for them: a script or a job with CHECKPOINT, a base backup with a fast checkpoint (pg_basebackup "
    "--checkpoint=fast, pg_backup_start(..., true)) again and again, or databases that are made and dropped (CREATE "
    "DATABASE with STRATEGY file_copy, DROP DATABASE). Have it done as rarely as it has to be: a crash loses nothing "
    "without it. A larger max_wal_size changes nothing about these.",
)


class Reasons(NamedTuple):
    """Whether most were asked for by a command; null where nothing tells. `evidence` is what says so."""

    is_commanded: bool | None
    evidence: Sequence[Evidence]


def reasons(case: Case, db: str, requested_per_s: float) -> Reasons:
    """Why the requested checkpoints of a server began: by its log, else by how much was written between them."""
    asking = _asking(case, db)
    logged = _logged(case, db)
    if logged is not None:
        by_size, by_command = (logged.filter(pl.col("by_size") == each) for each in (True, False))
        is_commanded = by_command.height > by_size.height
        most = (by_command if is_commanded else by_size)["text"].mode().sort()
        figure = phrase("{} of {:count checkpoint/checkpoints} in the log: {}",
                        max(by_command.height, by_size.height), logged.height, str(most[0]))  # fmt: skip
        why = "nothing but a command has this reason" if is_commanded else "the log had reached its limit of size"
        told = Evidence("event", f"kind = 'checkpoint' and db = '{db}'", figure, "", why)
        return Reasons(is_commanded, [told, *(asking if is_commanded else ())])
    sign = _between(case, db, requested_per_s)
    for_, against = weigh([sign] if sign else [])
    return Reasons(bool(for_) if sign else None, [*for_, *against, *(asking if for_ else ())])


def _logged(case: Case, db: str) -> pl.DataFrame | None:
    """The reasons of those that were requested, as the log has them; null where it tells of none."""
    events = case.dataset.frame("event").filter(
        (pl.col("kind") == "checkpoint") & (pl.col("db") == db) & pl.col("text").str.contains(STARTED)
    )
    requested = events.filter(~pl.col("text").str.contains(f"{BY_TIME}|{AT_EDGES}"))
    return None if requested.is_empty() else requested.with_columns(by_size=pl.col("text").str.contains(BY_SIZE))


def _between(case: Case, db: str, requested_per_s: float) -> Sign | None:
    """How much was written from one to the next, beside what has to be for one by size; null where one is not known."""
    size_mb, target = case.setting("max_wal_size", db), case.setting("checkpoint_completion_target", db)
    per_s = next((each for name in WRITTEN if (each := case.total(name, db)) is not None), None)
    if per_s is None or size_mb is None or not size_mb.isdigit():
        return None
    limit = float(size_mb) * MIB / (1 + float(target or 0.9)) - SEGMENT_BYTES
    least = FAR_FROM_LIMIT * max(limit, SEGMENT_BYTES / 2)
    return Sign(
        "statistic", f"name = '{WRITTEN[0]}' and db = '{db}'", per_s / requested_per_s / MIB, least / MIB,
        "{:.1f MiB} of the log between two of them", "max_wal_size was far from being reached: they were asked for",
        "as much as begins one by size", below=True,
    )  # fmt: skip


def _asking(case: Case, db: str) -> list[Evidence]:
    """The sessions that were seen to wait for a checkpoint of their own, by user and program."""
    waiting = case.dataset.frame("session").filter((pl.col("db") == db) & pl.col("event").is_in(ASKING))
    counted = (
        waiting.group_by("user", "program", "statement_id", maintain_order=True)
        .len("count")
        .sort("count", descending=True, maintain_order=True)
    )
    return [
        Evidence("session", f"event in {ASKING} and db = '{db}'",
                 phrase("user {}, program {}: {:count sample/samples} waiting for a checkpoint", user or "?",
                        program or "?", count),
                 "", shortened(case.statement_text(statement) or "it asked for one"))
        for user, program, statement, count in counted.head(MOST_NAMED).iter_rows()
    ]  # fmt: skip
