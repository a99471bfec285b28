"""How Oracle does its I/O: direct, asynchronous, checked."""

from collections.abc import Iterator

from doctord.diagnose.phrase import listed, phrase
from doctord.lint.oracle.figures import is_on_asm, sga_bytes, waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

READS = ("db file sequential read", "db file scattered read", "db file parallel read", "direct path read")


@rule("oracle")
def filesystemio_options_not_setall(subject: Subject) -> Iterator[Violation]:
    """Data files on a file system are read and written through its cache, one request after the other.

    Why: each block is held twice, in the buffer cache and in the page cache, which pushes other memory out; writes
        wait for each other.
    Evidence: filesystemio_options, files that are not in ASM, the size of the SGA.
    Fix: Set filesystemio_options=setall, and give the memory that becomes free to the buffer cache.
    Verify: Page cache of the host falls; db file waits at the same load; strace of DBWR shows io_submit.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Oracle Database Reference,
        FILESYSTEMIO_OPTIONS.
    """
    option = subject.text("filesystemio_options")
    if option is None or option.strip("'\"").lower() == "setall" or is_on_asm(subject):
        return
    sga, impact = sga_bytes(subject), waited(subject, *READS)
    twice = phrase(", up to {:bytes} of memory", sga) if sga else ""
    too = "direct I/O is not asynchronous" if option.lower() == "directio" else "writes wait for the file system"
    yield subject.violation(
        f"filesystemio_options = {option}: I/O goes through the page cache",
        "filesystemio_options",
        cost=phrase("blocks are held twice{}, and {}", twice, too),
        severity=max(Severity.WARNING, Severity.of(impact)),
        impact=impact,
        changes=[subject.change("filesystemio_options", "'setall'", "restart")],
    )


@rule("oracle")
def disk_asynch_io_set(subject: Subject) -> Iterator[Violation]:
    """disk_asynch_io is set beside filesystemio_options.

    Why: it is on by default; off, it takes asynchronous I/O away again, whatever filesystemio_options says.
    Evidence: both settings.
    Fix: Take it out.
    Verify: strace of DBWR shows io_submit; db file parallel write is shorter.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012; Oracle Database Reference.
    """
    found = subject.explicit("disk_asynch_io")
    if found is None:
        return
    off = found.flag is False
    yield subject.violation(
        "disk_asynch_io is off: no I/O is asynchronous" if off else "disk_asynch_io is set, to what it is anyway",
        "disk_asynch_io",
        "filesystemio_options",
        cost="DBWR and LGWR write one request at a time"
        if off
        else "nothing now; it hides what filesystemio_options decides",
        severity=Severity.WARNING if off else Severity.NOTE,
        changes=[subject.change("disk_asynch_io", None, "restart")],
    )


@rule("oracle")
def dbwr_io_slaves_with_asynchronous_io(subject: Subject) -> Iterator[Violation]:
    """I/O slaves do what asynchronous I/O does, with more processes.

    Why: slaves are for platforms without asynchronous I/O; with them only one database writer runs.
    Evidence: dbwr_io_slaves above 0, disk_asynch_io not off.
    Fix: Set dbwr_io_slaves to 0; raise db_writer_processes if free buffer waits are seen.
    Verify: free buffer waits and write complete waits at the same load.
    Source: Oracle Database Performance Tuning Guide, Instance Tuning Using Performance Views, free buffer waits.
    """
    slaves = subject.number("dbwr_io_slaves")
    if slaves and subject.flag("disk_asynch_io") is not False:
        impact = waited(subject, "free buffer waits", "write complete waits")
        yield subject.violation(
            phrase("dbwr_io_slaves = {:.0f} beside asynchronous I/O", slaves),
            "dbwr_io_slaves",
            cost=phrase("{:.0f} processes more, and one database writer only", slaves),
            impact=impact,
            changes=[subject.change("dbwr_io_slaves", "0", "restart")],
        )


@rule("oracle", since=(10, 2))
def multiblock_read_count_set(subject: Subject) -> Iterator[Violation]:
    """db_file_multiblock_read_count is set, and full scans read in pieces smaller than they could.

    Why: left out, Oracle reads as much at once as the platform can (mostly 1 MiB), and costs plans with a measured
        value; set, the value decides both.
    Evidence: the value times the block size.
    Fix: Take it out, and gather system statistics.
    Verify: Blocks of a db file scattered read (10046, P3) or direct path read; plans that change to or
        from scans.
    Source: Oracle Database Reference, DB_FILE_MULTIBLOCK_READ_COUNT (since 10.2).
    """
    found, block = subject.explicit("db_file_multiblock_read_count"), subject.number("db_block_size")
    if found is None or found.number is None or block is None or found.number * block >= 1 << 20:
        return
    size = found.number * block
    impact = waited(subject, "db file scattered read", "direct path read")
    yield subject.violation(
        phrase("db_file_multiblock_read_count = {}: full scans read {:bytes} at once", found.value, size),
        "db_file_multiblock_read_count",
        cost=listed(
            phrase("{:.0f} requests for each 1 MiB", (1 << 20) / size),
            "" if impact is not None else f"{CANNOT_JUDGE} how much is scanned: an AWR report tells",
            by="; ",
        ),
        impact=impact,
        changes=[subject.change("db_file_multiblock_read_count", None, "now")],
    )


@rule("oracle")
def block_checksum_off(subject: Subject) -> Iterator[Violation]:
    """Blocks are written without a checksum.

    Why: what storage spoils is found when a row is wrong, perhaps after the last good backup is gone.
    Evidence: db_block_checksum.
    Fix: Set db_block_checksum=typical.
    Verify: show parameter; DBVERIFY and RMAN's validate find spoilt blocks from now on.
    Source: Oracle Database Reference, DB_BLOCK_CHECKSUM (typical costs 1 to 2 %).
    """
    value = subject.text("db_block_checksum")
    if value and value.strip("'\"").lower() in ("off", "false"):
        yield subject.violation(
            f"db_block_checksum = {value}: damage by storage is not found",
            "db_block_checksum",
            cost="data: a spoilt block is noticed by its rows only, and goes into every backup",
            severity=Severity.WARNING,
            changes=[subject.change("db_block_checksum", "typical", "now")],
        )


@rule("oracle")
def control_files_together(subject: Subject) -> Iterator[Violation]:
    """All copies of the control file lie in one directory.

    Why: what takes the directory, a file system or a mistaken rm, takes every copy, and the instance with it.
    Evidence: the directories in control_files.
    Fix: Move one copy to another disk group or file system.
    Verify: v$controlfile.
    Source: Oracle Database Administrator's Guide, Managing Control Files, Multiplex Control Files.
    """
    value = subject.text("control_files")
    copies = [one.strip(" '\"") for one in value.split(",")] if value else []
    places = {one.rpartition("/")[0] for one in copies}
    if copies and len(places) == 1 and not is_on_asm(subject):
        what = "there is one copy" if len(copies) == 1 else f"all {len(copies)} copies lie in {next(iter(places))}"
        yield subject.violation(
            f"control_files: {what}",
            "control_files",
            cost="availability: one lost directory stops the instance, and needs a restore",
            severity=Severity.WARNING,
        )


@rule("oracle")
def prefetch_in_storage_test(subject: Subject) -> Iterator[Violation]:
    """A test of storage by single blocks (SLOB) runs with Oracle's prefetching on.

    Why: an index range scan then reads several blocks at once (db file parallel read): what is measured is no
        single-block read any more, and neither its latency nor its rate can be compared.
    Evidence: slob.conf beside the parameters; _db_block_prefetch_limit, _db_block_prefetch_quota and
        _db_file_noncontig_mblock_read_count, which are not 0.
    Fix: Set _db_block_prefetch_limit=0, _db_block_prefetch_quota=0 and _db_file_noncontig_mblock_read_count=0 for the
        test alone, and take them out after it.
    Verify: db file sequential read is nearly all of User I/O, db file parallel read is gone.
    Source: K. Closson, SLOB 2, README (init.ora for the test); L. Canali, OraLatencyMap, 2013.
    """
    names = ("_db_block_prefetch_limit", "_db_block_prefetch_quota", "_db_file_noncontig_mblock_read_count")
    on = [name for name in names if (found := subject.explicit(name)) is None or found.number]
    if subject.other("slob") is not None and on:
        impact = waited(subject, "db file parallel read")
        yield subject.violation(
            f"a storage test with prefetching: {', '.join(on)} not 0",
            *on,
            cost=f"{CANNOT_JUDGE} how many reads are of several blocks: an AWR report of the test"
            if impact is None
            else phrase("{:share of database} is reads of several blocks", impact),
            severity=Severity.WARNING,
            changes=[subject.change(name, "0", "restart") for name in on],
        )
