"""Oracle's redo: buffer, checkpoints, log files, and what a commit promises."""

from collections.abc import Iterator

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.oracle.figures import waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

ENOUGH_LOG_BUFFER = 100e6  # D12; M08: 72 MB served 14 MB/s of redo
SWITCHES = "thread_activity.log switches (derived)"
LATCHED = 0.01
SECONDS_BETWEEN_SWITCHES = 900.0


@rule("oracle")
def log_buffer_small(subject: Subject) -> Iterator[Violation]:
    """The log buffer is set smaller than 100 MB.

    Why: sessions that make redo faster than LGWR writes it wait for room.
    Evidence: log_buffer; time waited for log buffer space.
    Fix: Set log_buffer to 100 MB or more, or take it out: since 10.2 Oracle fits it to the SGA.
    Verify: log buffer space and redo buffer allocation retries at the same redo rate.
    Source: J. Doelle and S. Langer, IBM 2012 (100 MB); K. Manoharan, 2008 (72 MB for up to 14 MB/s).
    """
    found, impact = subject.explicit("log_buffer"), waited(subject, "log buffer space")
    if found is None or found.number is None or found.number >= ENOUGH_LOG_BUFFER:
        return
    yield subject.violation(
        phrase("log_buffer = {:bytes}", found.number),
        "log_buffer",
        cost=f"{CANNOT_JUDGE} how fast redo is made: an AWR report, or v$sysstat's redo size"
        if impact is None
        else phrase("{:share of database} waited for log buffer space", impact),
        impact=impact,
        changes=[subject.change("log_buffer", "104857600", "restart")],
    )


@rule("oracle")
def log_checkpoint_timeout_set(subject: Subject) -> Iterator[Violation]:
    """log_checkpoint_timeout drives checkpoints by the clock, without fast_start_mttr_target.

    Why: dirty blocks are written after that time whether anybody needs it or not: the same block is written again and
        again.
    Evidence: both settings.
    Fix: Take log_checkpoint_timeout out; where recovery must be short, set fast_start_mttr_target.
    Verify: physical writes and DBWR checkpoint buffers written at the same load; v$instance_recovery.
    Source: J. Doelle and S. Langer, Analyzing BI Oracle workloads, IBM 2012.
    """
    found = subject.explicit("log_checkpoint_timeout")
    if found is None or not found.number or subject.number("fast_start_mttr_target"):
        return
    yield subject.violation(
        f"log_checkpoint_timeout = {found.value} without fast_start_mttr_target",
        "log_checkpoint_timeout",
        cost=f"every block that is changed all the time is written every {found.value} s",
        severity=Severity.WARNING,
        changes=[subject.change("log_checkpoint_timeout", None, "now")],
    )


@rule("oracle")
def mttr_target_contradicted(subject: Subject) -> Iterator[Violation]:
    """fast_start_mttr_target stands beside older settings that override it.

    Why: with fast_start_io_target, log_checkpoint_interval or log_checkpoint_timeout the mean time to recover is not
        what decides.
    Evidence: the settings.
    Fix: Keep fast_start_mttr_target, and take out the others.
    Verify: v$instance_recovery.target_mttr and estimated_mttr.
    Source: Oracle Database Performance Tuning Guide, Tuning Instance Recovery Performance.
    """
    older = ("fast_start_io_target", "log_checkpoint_interval", "log_checkpoint_timeout")
    held = [found for name in older if (found := subject.explicit(name)) and found.number]
    if subject.number("fast_start_mttr_target") and held:
        names = ", ".join(one.name for one in held)
        yield subject.violation(
            f"fast_start_mttr_target is overridden by {names}",
            "fast_start_mttr_target",
            *(one.name for one in held),
            cost="recovery takes another time than was asked for, and checkpoints come more often",
            severity=Severity.WARNING,
            changes=[subject.change(one.name, None, "now") for one in held],
        )


@rule("oracle")
def log_files_small(subject: Subject) -> Iterator[Violation]:
    """Log files are so small, or so few, that they switch minutes apart.

    Why: each switch is a checkpoint and an archive; when the next log is not free yet, all changes stop.
    Evidence: log switches measured; time waited for log file switches.
    Fix: At least four groups of 1 to 1.5 GB and more on disks of their own; size = redo rate x time between switches
        (doctord size redo).
    Verify: Log switches per hour, and log file switch waits, at the same redo rate.
    Source: J. Doelle and S. Langer, IBM 2012; K. Manoharan, 2008 (500 MB switched every minute at 9.45 MB/s).
    """
    rate = subject.case.total(SWITCHES, subject.db)
    if not rate or rate <= 1 / SECONDS_BETWEEN_SWITCHES:
        return
    events = ("log file switch completion", "log file switch (checkpoint incomplete)",
              "log file switch (archiving needed)", "log file switch (private strand flush incomplete)")  # fmt: skip
    impact = waited(subject, *events)
    why = "each a checkpoint and an archive"
    yield subject.violation(
        phrase("a log switch every {:.1f} minutes", 1 / rate / 60),
        cost=phrase(
            "{:.0f} switches an hour, {}",
            rate * 3600,
            why if impact is None else phrase("{:share} of the time waited for them", impact),
        ),
        impact=impact,
        evidence=[
            Evidence(
                "statistic", f"name = '{SWITCHES}'", phrase("{:.1f an hour}", rate * 3600), "4 an hour", "size, number"
            )
        ],
    )


@rule("oracle")
def commit_does_not_wait(subject: Subject) -> Iterator[Violation]:
    """Commits return before their redo is on disk.

    Why: what was committed in the last moments before a crash is lost, although the user was told that it is safe.
    Evidence: commit_wait, commit_logging, commit_write.
    Fix: Take these out; where single statements may be lost, use COMMIT WRITE NOWAIT there.
    Verify: show parameter commit; log file sync appears in the top events, as it should.
    Source: Oracle Database Reference, COMMIT_WAIT; Database Concepts, Transactions, durability.
    """
    for name in ("commit_wait", "commit_write"):
        found = subject.explicit(name)
        if found and "nowait" in found.value.lower():
            yield subject.violation(
                f"{name} = {found.value}: a commit may be lost",
                name,
                cost="data: commits of up to some seconds before a crash, with nobody told",
                severity=Severity.ERROR,
                changes=[subject.change(name, None, "now")],
            )


@rule("oracle")
def recovery_area_without_size(subject: Subject) -> Iterator[Violation]:
    """The fast recovery area has no size.

    Why: db_recovery_file_dest without db_recovery_file_dest_size does not start; a full area stops the archiver, and
        with it every change (ORA-00257).
    Evidence: both settings.
    Fix: Set db_recovery_file_dest_size to what the file system has for it, and watch v$recovery_file_dest.
    Verify: v$recovery_file_dest.space_used against space_limit.
    Source: Oracle Database Backup and Recovery User's Guide, Configuring the Fast Recovery Area.
    """
    if subject.explicit("db_recovery_file_dest") and not subject.number("db_recovery_file_dest_size"):
        yield subject.violation(
            "db_recovery_file_dest has no db_recovery_file_dest_size",
            "db_recovery_file_dest",
            cost="availability: ORA-19802 at the next change, or no start at all",
            severity=Severity.WARNING,
        )


@rule("oracle")
def log_checkpoint_timeout_off(subject: Subject) -> Iterator[Violation]:
    """log_checkpoint_timeout is 0, and nothing else bounds how long recovery takes.

    Why: without a target a dirty block waits for the next log switch: with large logs a crash is followed by a long
        recovery, and each switch by a burst of writes.
    Evidence: log_checkpoint_timeout, log_checkpoint_interval and fast_start_mttr_target.
    Fix: Keep log_checkpoint_timeout out, and set fast_start_mttr_target to what users can wait after a crash.
    Verify: v$instance_recovery.estimated_mttr; physical writes grow little.
    Source: Oracle Database Reference, LOG_CHECKPOINT_TIMEOUT (1800 by default) and FAST_START_MTTR_TARGET.
    """
    found = subject.explicit("log_checkpoint_timeout")
    others = ("fast_start_mttr_target", "log_checkpoint_interval", "fast_start_io_target")
    if found is None or found.number != 0 or any(subject.number(name) for name in others):
        return
    yield subject.violation(
        "log_checkpoint_timeout = 0 without fast_start_mttr_target",
        "log_checkpoint_timeout",
        cost=f"{CANNOT_JUDGE} how long recovery takes: v$instance_recovery.estimated_mttr",
        severity=Severity.NOTE,
        changes=[subject.change("log_checkpoint_timeout", None, "now")],
    )


@rule("oracle")
def log_parallelism_low(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for the latch on the one place where redo is made.

    Why: each change copies its redo under a latch; with one strand all CPUs share it.
    Evidence: waits for latch: redo allocation or redo writing; log_parallelism, _log_parallelism_max, CPUs.
    Fix: _log_parallelism_max nearer to the CPUs (12 in the casebook's case), with the word of Oracle's support; newer
        versions choose it by the CPUs: there take out what holds it low.
    Verify: Waits for the latch at the same redo rate.
    Source: K. Manoharan's redo case, 2008 (2 to 12 strands: a twentieth of the gain).
    """
    impact = waited(subject, "latch: redo allocation", "latch: redo writing")
    held = subject.number("_log_parallelism_max") or subject.number("log_parallelism")
    cpus = subject.machine.cpus
    if not impact or impact < LATCHED or (held is not None and cpus is not None and held >= cpus):
        return
    yield subject.violation(
        phrase("redo is made in {:.0f} strands", held or 1),
        "_log_parallelism_max",
        "log_parallelism",
        cost=phrase("{:share of database} waited for the latches of redo", impact),
        impact=impact,
    )
