"""Room on file systems: those that are full or nearly so, and those that will be within minutes."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final

import polars as pl

from doctord.analyse.storage import filesystems
from doctord.analyse.storage.device_paths import DevicePath, device_paths
from doctord.analyse.storage.filling import at_rest
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.storage.filling import soon_full, soon_without_inodes
from doctord.diagnose.causes.storage.room_writers import writers
from doctord.diagnose.common.inodes import FULL_SHARE, inode_steps, is_without_inodes
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, Severity
from doctord.diagnose.phrase import phrase

ROOM_BYTES: Final = 20 * 2**30
SMALLEST_BYTES: Final = 2**30
# A file of PostgreSQL's log, by default: a server that cannot make the next one stops.
WAL_FILE_BYTES: Final = 16 * 2**20
MOST_HELD: Final = 3
# What of a server lies in a folder, as its collector calls it.
ARCHIVE, LOG = "archive", "log"
FAILED: Final = "pg_stat_archiver.failed_count"
# How long ago its last try to archive a file failed, and the last one succeeded.
LAST_S: Final = ("pg_stat_archiver.last_failed_s", "pg_stat_archiver.last_archived_s")


@cause()
def filesystem_full(case: Case) -> Iterator[Claim]:
    """A file system is nearly full, or will be within minutes.

    Looks like: hardly any room left, or hardly any inodes (bytes are free, and no new file can be made); or less of
        either at each look, and at that rate none in minutes.
        One that holds a database's files counts however small it is, in memory (tmpfs) or a container's layers
        (overlay) too: a tablespace, the log, the archive.
    Hurts because: a database that cannot write its log stops; one that cannot extend a table fails the statement.
    Speaks for it: share used, bytes left, what of a server lies there; how fast it becomes fuller, how long what is
        left lasts, and which process writes what there.
    Speaks against it: many bytes left in a very large file system; a load or a backup that is about to end; the log of
        a server that grows to max_wal_size; one that does not become fuller and on which no server writes what grows:
        a note, as is an archive that is kept at its size and takes what is archived.
    Remedy: Find what grew (logs, temporary files, redo kept for a slot or an archiver that fails; lsof +L1 lists files
        that were deleted and are still written: their room is free once the process closes them); enlarge the file
        system. Never delete files of the redo log by hand. Inodes: remove or move the many small files; their number
        was fixed as the file system was made (mkfs.ext4 -N; XFS: xfs_growfs -m).
    Verify: Used share (df, df -i), and how fast it grows: doctord forecast.
    Source: PostgreSQL documentation, "Disk Full Failure"; mkfs.ext4(8), -i and -N; statvfs(3), f_ffree; unlink(2).
    """
    ways = device_paths(case.dataset)
    served = pl.col("mount").is_in({way.mount for way in ways if way.mount}).fill_null(value=False)
    usual = (pl.col("size_bytes") >= SMALLEST_BYTES) & ~pl.col("device").str.contains("loop").fill_null(value=False)
    known = filesystems.newest(case.dataset).filter(usual | served)
    full = (
        known.with_columns((pl.col("inodes_used_pct") / 100).alias("inodes"))
        .filter((pl.col("used_share") >= FULL_SHARE) | (pl.col("inodes") >= FULL_SHARE))
        .unique(["device", "size_bytes", "used_bytes"], keep="first", maintain_order=True)
        .sort("used_share", descending=True, maintain_order=True)
    )
    for row in full.iter_rows(named=True):
        where = f"mount = '{row['mount']}'" if row["mount"] else f"device = '{row['device']}'"
        for_, against = weigh(
            [
                Sign("filesystem", where, None if row["used_share"] is None else row["used_share"] * 100,
                     FULL_SHARE * 100, "{:.1f %} used", "room runs out"),
                Sign("filesystem", where, row["left_bytes"] / 2**30, ROOM_BYTES / 2**30, "{:.1f GiB} left",
                     "one large operation fills it", "not gone in a moment", below=True),
                Sign("filesystem", where, None if row["inodes"] is None else row["inodes"] * 100, FULL_SHARE * 100,
                     "{:.1f %} of the inodes used", "no new file can be made when they are gone"),
            ]
        )  # fmt: skip
        there = [way for way in ways if way.mount == row["mount"] and way.holds]
        is_shared = any(way.folder == filesystems.SHARED_MEMORY for way in there)
        is_full = _is_full(row, is_served=bool(there) and not is_shared)
        stays = _stays(case, row, ways)
        # What parallel workers share goes with their query.
        nearly: Severity = "note" if is_shared or stays else "warning"
        name, lacks_inodes = row["mount"] or row["device"], is_without_inodes(row)
        yield Claim(
            phrase("{} has {} inodes left: {:share} used, {:bytes} free", name, "no" if is_full else "hardly any",
                   row["inodes"], row["left_bytes"])
            if lacks_inodes
            else phrase("{} is {}: {:bytes} left", name, "full" if is_full else "nearly full", row["left_bytes"]),
            impact=NOT_MEASURED if is_full and not stays else NONE_YET,
            severity="critical" if is_full and not stays else nearly,
            confidence=0.95 if not against else 0.8,
            for_=[*for_, *(_lies_there(way) for way in there[:MOST_HELD]), *writers(case, name)],
            against=[*([] if lacks_inodes else against), *stays],
            first_steps=inode_steps(name) if lacks_inodes else [],
            objects=[name],
        )  # fmt: skip
    others = {*known.select("mount", "device").rows()} - {*full.select("mount", "device").rows()}
    yield from soon_full(case, others)
    yield from soon_without_inodes(case, others)


def _is_full(row: Mapping[str, Any], *, is_served: bool) -> bool:
    """Whether nothing more can be written: no room, no inode, or for a server not even a file of its log."""
    least = WAL_FILE_BYTES if is_served else 1
    return bool(row["left_bytes"] < least or row["inodes"] == 1.0)


def _stays(case: Case, row: Mapping[str, Any], ways: Sequence[DevicePath]) -> list[Evidence]:
    """That it does not become fuller, and no server writes there what grows; nothing where that is not known.

    What a server logs elsewhere than in a folder that it names may lie anywhere.
    """
    there = [way for way in ways if way.mount == row["mount"] and way.holds]
    is_kept = {way.holds for way in there} == {ARCHIVE} and all(_archives(case, way.db) for way in there)
    is_strange = not there and any(way.holds == LOG for way in ways)
    if not (is_kept or is_strange) or (row["mount"], row["device"]) not in at_rest(case.dataset):
        return []
    why = "an archive that is kept at its size: nothing failed to be archived" if is_kept else "no server writes there"
    return [Evidence("filesystem", f"mount = '{row['mount']}'", "as much left as at first", "", why)]


def _archives(case: Case, db: str | None) -> bool:
    """Whether a server counts its archived files, and its last try to archive one did not fail."""
    failed_s, archived_s = (next((one.last for one in case.figures(name) if one.db == db), inf) for name in LAST_S)
    return case.total(FAILED, db) == 0 and archived_s <= failed_s


def _lies_there(way: DevicePath) -> Evidence:
    where = f"name like 'path.{way.folder}.%'"
    return Evidence("setting", where, phrase("{} is in {}", way.holds, way.folder), "", way.filesystem or "")
