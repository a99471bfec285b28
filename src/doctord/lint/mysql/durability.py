"""Settings of MariaDB and MySQL that decide what a crash may lose or damage."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.phrase import phrase
from doctord.lint.mysql.measured import evidence, figure, is_mariadb, writes_binlog
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

_SAFE_COMMITS: Final = frozenset({1, 3})  # 3 is MariaDB's older way of group commit, as safe as 1
_NO_SYNC: Final = frozenset({"nosync", "littlesync"})


@rule("mysql")
def commits_not_flushed(subject: Subject) -> Iterator[Violation]:
    """Commits that were acknowledged are lost in a crash.

    Why: innodb_flush_log_at_trx_commit = 2 leaves the redo log of a commit to the operating system, 0 to the server's
        own memory, until it is flushed about once a second: a power failure (with 0 a crash of the server too) loses
        what was committed since, though clients were told that it is safe.
    Evidence: the setting, innodb_flush_log_at_timeout, and the measured rate of commits.
    Fix: Set innodb_flush_log_at_trx_commit = 1; where the flushes cost too much, give the redo log a faster disk, or
        keep the setting and accept the loss in a baseline.
    Verify: SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log%'; watch Innodb_os_log_fsyncs or Innodb_data_fsyncs.
    Source: MySQL Reference Manual, 17.14, innodb_flush_log_at_trx_commit; MariaDB documentation, InnoDB System
        Variables.
    """
    mode = subject.number("innodb_flush_log_at_trx_commit")
    if mode is None or mode in _SAFE_COMMITS:
        return
    seconds = subject.number("innodb_flush_log_at_timeout") or 1.0
    commits = figure(subject, "handler_commit")
    lost = phrase(", {:,.0f} commits at the measured {:rate}", commits * seconds, commits) if commits else ""
    whose = "of the server or the host" if mode == 0 else "of the host"
    yield subject.violation(
        phrase("innodb_flush_log_at_trx_commit = {:.0f}: a crash {} loses acknowledged commits", mode, whose),
        "innodb_flush_log_at_trx_commit",
        "innodb_flush_log_at_timeout",
        cost=phrase("data: the commits of the last {:g} s{}", seconds, lost),
        severity=Severity.WARNING,
        evidence=[
            evidence("handler_commit", phrase("{:rate commits}", commits), "none may be lost", "so many are at risk")
        ]
        if commits
        else (),
        changes=[subject.change("innodb_flush_log_at_trx_commit", "1")],
    )


@rule("mysql")
def binlog_not_synced(subject: Subject) -> Iterator[Violation]:
    """After a crash the binary log and the data differ: replicas and restored backups go astray.

    Why: with sync_binlog other than 1 the operating system decides when the binary log reaches the disk. After a power
        failure transactions that InnoDB kept are missing in it, and replicas that read further have what the source
        lost.
    Evidence: log_bin and sync_binlog.
    Fix: Set sync_binlog = 1; group commit lets many commits share one flush.
    Verify: SHOW GLOBAL VARIABLES LIKE 'sync_binlog'; compare a replica's checksums after the next crash.
    Source: MySQL Reference Manual, 19.1.6.4, sync_binlog; MariaDB documentation, Replication and Binary Log System
        Variables.
    """
    every = subject.number("sync_binlog")
    if every is None or every == 1 or not writes_binlog(subject):
        return
    how = "leaves to the kernel when" if every == 0 else phrase("waits for {:.0f} groups of commits before", every)
    yield subject.violation(
        phrase("sync_binlog = {:.0f}: the server {} the binary log is flushed", every, how),
        "sync_binlog",
        "log_bin",
        cost="data: at a power failure the binary log loses its end, and replicas differ from the source",
        severity=Severity.WARNING,
        changes=[subject.change("sync_binlog", "1")],
    )


@rule("mysql")
def doublewrite_off(subject: Subject) -> Iterator[Violation]:
    """A page that is half written at a crash cannot be repaired: the doublewrite buffer is off.

    Why: a page of 16 KiB reaches the disk in several parts. Without a second copy a power failure in between leaves a
        torn page, which the redo log cannot fix.
    Evidence: innodb_doublewrite. Whether disk and file system write pages whole (ZFS, atomic writes) is not seen.
    Fix: Set innodb_doublewrite = ON, unless the storage is known to write whole pages.
    Verify: SHOW GLOBAL STATUS LIKE 'Innodb_dblwr%' counts pages.
    Source: MySQL Reference Manual, 17.6.4 Doublewrite Buffer; MariaDB documentation, InnoDB Doublewrite Buffer.
    """
    value = (subject.text("innodb_doublewrite") or "").upper()
    if value not in {"OFF", "0", "FALSE", "DETECT_ONLY"}:
        return
    yield subject.violation(
        f"innodb_doublewrite = {value}: a power failure can leave pages that nothing repairs",
        "innodb_doublewrite",
        cost="data: every page that is being written at that moment, unless the storage writes pages of 16 KiB whole",
        severity=Severity.ERROR,
        changes=[subject.change("innodb_doublewrite", "ON", "restart")],
    )


@rule("mysql")
def checksums_off(subject: Subject) -> Iterator[Violation]:
    """Damaged pages are not noticed: page checksums are off.

    Why: what disk, controller or memory corrupted is read as data, goes to clients, replicas and backups.
    Evidence: innodb_checksum_algorithm, innodb_checksums.
    Fix: Set innodb_checksum_algorithm = crc32 (full_crc32 in MariaDB since 10.4); a CPU does gigabytes of it a second.
    Verify: innochecksum on a copy of the files; errors stand in the server's log.
    Source: MySQL Reference Manual, 17.14, innodb_checksum_algorithm; MariaDB documentation, InnoDB System Variables.
    """
    algorithm = (subject.text("innodb_checksum_algorithm") or "").lower()
    if algorithm.removeprefix("strict_") != "none" and subject.flag("innodb_checksums") is not False:
        return
    right = "full_crc32" if is_mariadb(subject) and (subject.version or (0,)) >= (10, 4) else "crc32"
    yield subject.violation(
        "pages have no checksums: corruption goes unnoticed",
        "innodb_checksum_algorithm",
        "innodb_checksums",
        cost="data: a damaged page is read as a good one, and gets into backups and replicas",
        severity=Severity.ERROR,
        changes=[subject.change("innodb_checksum_algorithm", right)],
    )


@rule("mysql")
def flush_method_never_syncs(subject: Subject) -> Iterator[Violation]:
    """Nothing is forced to disk: innodb_flush_method is one for tests.

    Why: with nosync or littlesync even a checkpoint is only in the page cache; a power failure destroys tables.
    Evidence: innodb_flush_method.
    Fix: Set innodb_flush_method = O_DIRECT.
    Verify: strace -f -e fsync,fdatasync on the server shows the calls again.
    Source: MySQL Reference Manual, 17.14, innodb_flush_method.
    """
    method = (subject.text("innodb_flush_method") or "").lower()
    if method in _NO_SYNC:
        yield subject.violation(
            f"innodb_flush_method = {method}: a power failure can destroy every table",
            "innodb_flush_method",
            cost="data: everything since the last backup",
            severity=Severity.ERROR,
            changes=[subject.change("innodb_flush_method", "O_DIRECT")],
        )


@rule("mysql")
def recovery_forced(subject: Subject) -> Iterator[Violation]:
    """The server runs in a mode that is for rescuing data from a damaged one.

    Why: innodb_force_recovery lets InnoDB start by leaving out parts of its recovery: 1 to 3 skip damaged pages, the
        rollback or background work, 4 and more can damage data for good and refuse changes.
    Evidence: innodb_force_recovery.
    Fix: Dump what can be read, build the server anew, restore, and take the line out.
    Verify: SHOW GLOBAL VARIABLES LIKE 'innodb_force_recovery' is 0.
    Source: MySQL Reference Manual, 17.20.3 Forcing InnoDB Recovery.
    """
    level = subject.number("innodb_force_recovery")
    if level:
        yield subject.violation(
            phrase("innodb_force_recovery = {:.0f}: recovery is incomplete", level),
            "innodb_force_recovery",
            cost="data: "
            + ("may be damaged for good, and nothing can be changed" if level >= 4 else "damage is skipped"),
            severity=Severity.ERROR,
            changes=[subject.change("innodb_force_recovery", "0")],
        )
