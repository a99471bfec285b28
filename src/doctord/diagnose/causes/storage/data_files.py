"""Data files: I/O that is not done as it was set, and files in pieces."""

from collections.abc import Iterator

from doctord.analyse.storage.device_paths import DevicePath, device_limits, device_paths
from doctord.analyse.storage.open_files import open_files, pieces, rings
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.storage.way_to_disk import shown
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

# Settings that ask for direct I/O: their name, a value that does, and of which files.
DIRECT = (
    ("innodb_flush_method", ("o_direct", "o_direct_no_fsync"), "data"),
    ("innodb_data_file_buffering", ("off", "0"), "data"),
    ("filesystemio_options", ("setall", "directio"), "data"),
    ("debug_io_direct", ("data",), "data"),
    ("debug_io_direct", ("wal",), "log"),
)
RING = "io_uring"
# One window of read-ahead, by default: a piece of that size is read in one request.
PIECE_BYTES = 128 * 1024
# Below this a file is read in a moment, however it lies.
LARGE_BYTES = 64 * 2**20


@cause()
def io_not_as_set(case: Case) -> Iterator[Claim]:
    """Direct or asynchronous I/O is set, and not in force.

    Looks like: a setting that asks for it, and data files that are open without O_DIRECT, or no ring for io_uring.
    Hurts because: each block goes through the page cache after all, which takes memory for what the buffer pool holds
        already; or reads are waited for one by one. The server says so in its log once, if at all.
    Speaks for it: how the server's processes have their files open, as the kernel tells it, against the setting.
    Speaks against it: some files that are open as set: the others may be of another kind.
    Remedy: Restart the server where the setting was changed since it began. Look into its log of the start: a file
        system may not know O_DIRECT (tmpfs, ZFS before 2.3, some network file systems), io_uring may be forbidden
        (kernel.io_uring_disabled, seccomp of a container).
    Verify: /proc/PID/fdinfo of a data file has flags with O_DIRECT (040000 on x86); /proc/PID/fd names [io_uring].
    Source: open(2), O_DIRECT; PostgreSQL documentation, io_method and debug_io_direct; MySQL Reference Manual,
        innodb_flush_method; Oracle Database Reference, FILESYSTEMIO_OPTIONS.
    """
    for db in case.dbs:
        for name, values, kind in DIRECT:
            told, opened = case.setting(name, db), open_files(case.dataset, db, kind)
            asked = {part.strip().lower() for part in (told or "").split(",")}
            if opened is None or not asked & set(values) or opened.direct > 0:
                continue
            where = f"name = 'open_files.direct' and entity = '{opened.folder} {kind}'"
            figure = phrase("{:.0f} of {:.0f} {} files are open with O_DIRECT", opened.direct, opened.files, kind)
            yield _claim(
                db, name, told, Evidence("statistic", where, figure, "all of them", "they go through the cache")
            )
        told, count = case.setting("io_method", db), rings(case.dataset, db)
        if told == RING and count == 0:
            where = "name = 'open_files.io_uring'"
            figure = phrase("{:.0f} rings are open", count)
            yield _claim(db, "io_method", told, Evidence("statistic", where, figure, "one and more", "none is in use"))


def _claim(db: str, name: str, value: str | None, seen: Evidence) -> Claim:
    return Claim(
        phrase("{} = {} is not in force", name, value),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[
            seen,
            Evidence("setting", f"name = '{name}' and db = '{db}'", phrase("{} = {}", name, value), "", "is set"),
        ],
        database=db,
    )


@cause()
def data_file_fragmented(case: Case) -> Iterator[Claim]:
    """A large data file lies on the disk in many small pieces.

    Looks like: a file of some GiB with tens of thousands of extents.
    Hurts because: an extent boundary splits a request: a full scan takes as many requests as there are pieces, and on a
        disk that turns a seek for each.
    Speaks for it: pieces, and their mean size against one window of read-ahead.
    Speaks against it: a disk that does not turn, on which only the number of requests counts.
    Remedy: Write the file anew in one go, where the file system has room in one piece (e2freefrag, xfs_db freesp):
        VACUUM FULL or pg_repack, OPTIMIZE TABLE, a moved tablespace; or e4defrag and xfs_fsr at a quiet time. Then let
        files grow in larger steps (xfs extsize, InnoDB's innodb_autoextend_increment, Oracle's autoextend next); file
        systems that copy on write (btrfs, ZFS) fragment what is updated in place: chattr +C, recordsize.
    Verify: filefrag names few extents; a full scan reads in larger requests (iostat -x, rareq-sz).
    Source: Kernel documentation, "Fiemap ioctl"; K. Manoharan, notes on Oracle on Solaris, 2008: what splits a request
        is an extent boundary.
    """
    bad = [file for file in pieces(case.dataset) if file.size_bytes >= LARGE_BYTES and file.mean_bytes < PIECE_BYTES]
    if not bad:
        return
    worst = bad[0]
    above = [way for way in device_paths(case.dataset) if worst.file.startswith(f"{way.folder}/")]
    way = max(above, key=lambda way: len(way.folder), default=None)
    against = _still(case, way) if way else []
    yield Claim(
        phrase("{:count data file lies/data files lie} in small pieces, {} in {:,.0f}",
               len(bad), worst.file, worst.pieces),
        # A seek for each piece is felt; in which of the reads, nobody tells.
        impact=NONE_YET if against else NOT_MEASURED,
        confidence=0.6 if against else 0.85,
        for_=[
            *(Evidence("statistic", f"name = 'extents.count' and entity = '{file.file}'",
                       phrase("{:bytes} a piece: {} of {:bytes} lies in {:,.0f}", file.mean_bytes, file.file,
                              file.size_bytes, file.pieces),
                       phrase("{:bytes}", PIECE_BYTES), "one window of read-ahead takes several requests", "at_most")
              for file in bad[:3]),
            *([shown(case, way)] if way else []),
        ],
        against=against,
    )  # fmt: skip


def _still(case: Case, way: DevicePath) -> list[Evidence]:
    """The disks at the end of a way, where none of them turns."""
    limits = device_limits(case.dataset)
    turning = {device: told for device in way.devices if (told := limits.get(device, {}).get("rotational"))}
    if set(turning.values()) != {"0"}:
        return []
    figure = phrase("{} does not turn", list(turning)[-1])
    return [Evidence("setting", "name like 'block.%.rotational'", figure, "", "only the number of requests counts")]
