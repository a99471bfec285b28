"""Statements that fail for want of room: on a file system, by its inodes or a quota, in shared memory, by a limit.

The error is one, "No space left on device"; where that is, and what is used up there, is told by its message and by the
file systems that were seen.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from doctord.analyse.storage import filesystems
from doctord.analyse.storage.device_paths import device_paths
from doctord.analyse.storage.filesystems import SHARED_MEMORY
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import Failed, failed, is_over, of_kind, severity_of
from doctord.diagnose.common.inodes import FULL_SHARE, inode_steps, is_without_inodes
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, NotMeasured, measured
from doctord.diagnose.phrase import Phrase, phrase

SYMPTOMS = ("rollbacks_many", "errors_logged")
TRANSACTIONS = "transactions"
# Folders of the data directory that may lie elsewhere, as messages name them, and what the server keeps there.
LIES_IN = {"pg_wal/": "WAL", "pg_tblspc/": "tablespace"}
QUOTA = "quota"
MIB, KIB = 2**20, 1024
MOST_TOLD = 3


@cause(explains=SYMPTOMS)
def disk_full(case: Case) -> Iterator[Claim]:
    """What is to be written finds no room: statements fail with "No space left on device" or "Disk quota exceeded".

    Looks like: errors 53100, "could not extend file ...: No space left on device"; of a tablespace's file system, that
        of the log, or of temporary files. A file system that has bytes and no inodes says the same of a new file.
    Hurts because: every statement that needs a new page or a new file fails; where it is the file system of WAL, the
        server stops.
    Speaks for it: how many statements fail so; the file system that the message's file is on, and what of it is used
        up: its bytes, its inodes, or what a quota leaves of it.
    Speaks against it: room on all file systems that were seen: then a quota, temporary files that are gone by now, or
        a file system that was not seen.
    Remedy: Make room on the file system that the message's file is on: enlarge it, or move a table or a tablespace away
        (ALTER ... SET TABLESPACE); what it is full of: temporary files (temp_file_limit bounds a session's), WAL kept
        for a slot or the archiver, logs. Never delete files of pg_wal or of the data by hand. A table's room is
        given back by DROP, TRUNCATE, VACUUM FULL or pg_repack alone. Inodes: remove or move the many small files;
        their number was fixed as the file system was made (mkfs.ext4 -N; XFS: xfs_growfs -m).
    Verify: df and df -i show room on each file system of the server, and no new error 53100.
    Source: PostgreSQL documentation, "Disk Full Failure", "Tablespaces", temp_file_limit, "PostgreSQL Error Codes"
        (53100); write(2), ENOSPC and EDQUOT; mkfs.ext4(8), -i and -N.
    """
    for one in of_kind(case, "disk full"):
        full = _full(case, one)
        where = full[:1] if len(full) == 1 else []
        yield Claim(
            phrase("Statements of {} fail for want of {}: {:count time/times}", one.db, _wanted(one, where),
                   round(one.count)),
            impact=measured(one.share),
            confidence=0.95,
            severity=severity_of(one),
            for_=[*one.evidence(), *(_told(row) for row in full[:MOST_TOLD])],
            against=is_over(one),
            not_measured=[] if full or _is_quota(one) else [
                NotMeasured("which file system is full", "none that was seen is",
                            "df and df -i of each tablespace (\\db in psql) and of the data directory; quotas")
            ],
            first_steps=[step for row in where for step in _first_steps(row)],
            time_of=TRANSACTIONS,
            database=one.db,
            explains=["filesystem_full"] if where else [],
            objects=[str(row["mount"]) for row in where],
        )  # fmt: skip


@cause(explains=(*SYMPTOMS, "filesystem_full"))
def shared_memory_full(case: Case) -> Iterator[Claim]:
    """Parallel queries find no room in shared memory.

    Looks like: errors 53100, "could not resize shared memory segment ...: No space left on device"; the disks have
        room.
    Hurts because: each statement that is run by parallel workers fails, and with it its transaction; those that are
        not go on, which is why nobody thinks of it.
    Speaks for it: the message, which is of no disk; /dev/shm of the server's own container or host, how large it is
        (64 MB in a container of which nothing else is said); what a parallel hash may take: work_mem times
        hash_mem_multiplier for each of its processes.
    Speaks against it: a /dev/shm that is large: then others fill it.
    Remedy: Enlarge /dev/shm where the server lives. Until then fewer or smaller parallel queries: SET
        enable_parallel_hash = off, max_parallel_workers_per_gather = 0 or a smaller work_mem for the role that runs
        them.
        PostgreSQL: a container: docker run --shm-size=1g, shm_size in its compose file; Kubernetes: a volume emptyDir
        with medium: Memory at /dev/shm; a host: mount -o remount,size=4G /dev/shm.
    Verify: No new error of that message, and df /dev/shm inside of the container shows the new size.
    Source: PostgreSQL documentation, dynamic_shared_memory_type, hash_mem_multiplier, "Parallel Plans" (Parallel Hash);
        shm_overview(7); Docker documentation, docker container run, --shm-size.
    """
    for one in of_kind(case, "shared memory"):
        kind = case.setting("dynamic_shared_memory_type", one.db) or "posix"
        place = PLACES.get(kind, SHARED_MEMORY)
        yield Claim(
            phrase("Parallel queries of {} find no room in {}: {:count time/times}", one.db, place, round(one.count)),
            impact=measured(one.share),
            confidence=0.95,
            severity=severity_of(one),
            for_=[*one.evidence(), *_shared_memory(case, one.db), *_parallel(case, one.db)],
            against=is_over(one),
            time_of=TRANSACTIONS,
            database=one.db,
            objects=[SHARED_MEMORY, f"{SHARED_MEMORY} of {one.db}"],
        )


# Where segments lie by dynamic_shared_memory_type; windows is none of ours.
PLACES = {
    "posix": f"shared memory ({SHARED_MEMORY})",
    "sysv": "System V shared memory (kernel.shmall, kernel.shmmni)",
    "mmap": "pg_dynshmem, on the file system of its data directory",
}


@cause(explains=SYMPTOMS)
def temp_file_limit_reached(case: Case) -> Iterator[Claim]:
    """Statements are ended by temp_file_limit.

    Looks like: errors 53400, "temporary file size exceeds temp_file_limit", for a notable part of the transactions.
    Hurts because: the statement's work is thrown away when it is nearly done, and its client has no answer.
    Speaks for it: the part of the transactions that end so; the limit; the statements that write temporary files.
    Speaks against it: fewer than one in twenty: the limit is there to end a statement that would fill the disk.
    Remedy: The statement first: an index for its order, fewer rows or columns to sort, more work_mem for its role.
        Raise temp_file_limit (for that role) where the file system of temporary files has the room.
    Verify: Fewer than one transaction in twenty ends so, and that file system keeps its room.
    Source: PostgreSQL documentation, temp_file_limit, temp_tablespaces, log_temp_files, "PostgreSQL Error Codes"
        (53400).
    """
    for one in (each for db in case.dbs for each in failed(case, db) if each.kind.name == "temp_file_limit"):
        if not one.is_told:
            continue
        yield Claim(
            phrase("{:share of transactions} of {} are ended by temp_file_limit", one.share, one.db),
            impact=measured(one.share),
            confidence=0.9,
            severity=one.severity,
            for_=[*one.evidence(), *_limit(case, one.db), *_writers(case, one.db)],
            time_of=TRANSACTIONS,
            database=one.db,
        )


def _limit(case: Case, db: str) -> list[Evidence]:
    limit = case.setting("temp_file_limit", db)
    if limit is None or limit == "-1":
        return []
    figure = phrase("{:bytes} for each process", float(limit) * KIB)
    return [Evidence("setting", "name = 'temp_file_limit'", figure, "", "temp_file_limit")]


def _full(case: Case, one: Failed) -> list[dict[str, Any]]:
    """The file systems that are full, of what is known to hold files of the server, those of the message's first.

    Where it is not known what lies where, of all but images: a package's (squashfs on a loop device) is full from the
    first.
    """
    newest = filesystems.newest(case.dataset)
    ways = [way for way in device_paths(case.dataset) if way.db == one.db and way.mount and way.folder != SHARED_MEMORY]
    meant = [way for way in ways if _is_meant(way.holds or "", one, {way.holds for way in ways})]
    mounts = [way.mount for way in meant or ways] + ([SHARED_MEMORY] if len(meant) == len(ways) else [])
    own = [name for mount in mounts for name in (mount, f"{mount} of {one.db}")]
    is_image = pl.col("device").str.contains("loop").fill_null(value=False)
    may_be_meant = pl.col("mount").is_in(own) if ways else ~is_image
    is_full = (pl.col("used_share") >= FULL_SHARE) | (pl.col("inodes_used_pct") >= 100 * FULL_SHARE)
    full = newest.filter(is_full & may_be_meant)
    return full.sort("used_share", descending=True, maintain_order=True).to_dicts()


def _is_meant(holds: str, one: Failed, known: set[str | None]) -> bool:
    """Whether the messages name a file of what lies there; those that name no folder may be of any."""
    said = " ".join(each.message for each in one.messages)
    folders = [kept for folder, kept in LIES_IN.items() if f'"{folder}' in said]
    elsewhere = [kept for kept in folders if any((part or "").startswith(kept) for part in known)]
    names_data = any(f'"{folder}' in said for folder in ("base/", "global/", "pg_xact/")) or elsewhere != folders
    wanted = [*elsewhere, *(["data"] if names_data else [])]
    return not wanted or any(holds.startswith(kept) for kept in wanted)


def _is_quota(one: Failed) -> bool:
    return any(QUOTA in each.message.lower() for each in one.messages)


def _wanted(one: Failed, where: Sequence[dict[str, Any]]) -> str:
    """What there is none of, and where."""
    if _is_quota(one):
        return "room within a disk quota"
    if not where:
        return "room on disk"
    what = "inodes" if is_without_inodes(where[0]) else "room"
    return f"{what} on {where[0]['mount']}"


def _told(row: dict[str, Any]) -> Evidence:
    rows = f"mount = '{row['mount']}'"
    left = "" if row["left_bytes"] is None else phrase("{:bytes} left", row["left_bytes"])
    if is_without_inodes(row):
        return Evidence("filesystem", rows, phrase("{}: {:.1f %} of the inodes used", row["mount"],
                                                   row["inodes_used_pct"]), "",
                        phrase("no new file can be made, although there is room: {}", left))  # fmt: skip
    return Evidence("filesystem", rows, phrase("{}: {:.1f %} used", row["mount"], 100 * row["used_share"]), "", left)


def _first_steps(row: dict[str, Any]) -> list[Phrase]:
    if is_without_inodes(row):
        return inode_steps(str(row["mount"]))
    return [phrase("What takes the room: du -x -d 2 {} | sort -n | tail", row["mount"])]


def _shared_memory(case: Case, db: str) -> list[Evidence]:
    """How large /dev/shm is as the server sees it, and what one parallel hash may take of it."""
    known = filesystems.newest(case.dataset).filter(pl.col("mount").is_in([f"{SHARED_MEMORY} of {db}", SHARED_MEMORY]))
    own = known.sort(pl.col("mount").str.len_chars(), descending=True, maintain_order=True).head(1)
    found = [
        Evidence("filesystem", f"mount = '{row['mount']}'",
                 phrase("{} is {:bytes} large", row["mount"], row["size_bytes"]), "",
                 phrase("{:bytes} of it used as it was looked at", row["used_bytes"]))
        for row in own.iter_rows(named=True) if row["size_bytes"] is not None and row["used_bytes"] is not None
    ]  # fmt: skip
    hash_bytes = _parallel_hash_bytes(case, db)
    if hash_bytes is None:
        return found
    words, why = "{:.0f MiB} for one parallel hash", "work_mem x hash_mem_multiplier x its processes"
    settings = "name in ('work_mem', 'hash_mem_multiplier', 'max_parallel_workers_per_gather')"
    size = next(iter(own["size_bytes"].drop_nulls()), None)
    if size is None:
        return [Evidence("setting", settings, phrase(words, hash_bytes / MIB), "", why)]
    return [*found, *weigh([Sign("setting", settings, hash_bytes / MIB, size / MIB, words, why)])[0]]


def _parallel_hash_bytes(case: Case, db: str) -> float | None:
    """What a parallel hash may take before it uses files; null where a setting is not known."""
    names = ("work_mem", "hash_mem_multiplier", "max_parallel_workers_per_gather")
    told = [case.setting(name, db) for name in names]
    work_kib, multiplier, workers = (float(value) if value else None for value in told)
    if work_kib is None or workers is None:
        return None
    return work_kib * KIB * (multiplier or 1.0) * (workers + 1)


def _parallel(case: Case, db: str) -> list[Evidence]:
    """The statements that parallel workers were seen at."""
    workers = case.dataset.frame("session").filter((pl.col("db") == db) & (pl.col("kind") == "parallel worker"))
    counts = workers["statement_id"].drop_nulls().value_counts(sort=True).sort(
        "count", "statement_id", descending=[True, False], maintain_order=True
    )  # fmt: skip
    return [
        Evidence("session", f"statement_id = '{statement}' and kind = 'parallel worker'",
                 phrase("parallel workers run statement {}", statement), "",
                 phrase("{:count sample/samples}: {}", count, case.statement_text(statement) or "?"))
        for statement, count in counts.head(MOST_TOLD).iter_rows()
    ]  # fmt: skip


def _writers(case: Case, db: str) -> list[Evidence]:
    """The statements that write most temporary files."""
    writing = [one for one in case.statements if one.db == db and one.temp_bytes_per_s]
    most = sorted(writing, key=lambda one: -(one.temp_bytes_per_s or 0.0))[:MOST_TOLD]
    return [
        Evidence("statement", f"statement_id = '{one.statement_id}'",
                 phrase("statement {}: {:bytes/s} of temporary files", one.statement_id, one.temp_bytes_per_s), "",
                 one.text or "")
        for one in most
    ]  # fmt: skip
