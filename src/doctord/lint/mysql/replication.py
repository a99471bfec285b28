"""Settings of MariaDB and MySQL that let a replica differ from its source, or not come back."""

from collections.abc import Iterator

from doctord.lint.mysql.measured import latest
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation


@rule("mysql")
def statements_replayed(subject: Subject) -> Iterator[Violation]:
    """The binary log holds statements, which need not do the same on a replica.

    Why: with binlog_format = STATEMENT what depends on the order of rows, on time, on a function or a trigger gives
        other rows there. With innodb_autoinc_lock_mode = 2 even plain INSERT ... SELECT gets other keys.
    Evidence: log_bin, binlog_format, innodb_autoinc_lock_mode.
    Fix: Set binlog_format = ROW (or MIXED).
    Verify: SHOW GLOBAL VARIABLES LIKE 'binlog_format'; compare checksums of the tables on both sides.
    Source: MySQL Reference Manual, 19.2.1.3 Determination of Safe and Unsafe Statements; 17.6.1.6 AUTO_INCREMENT
        Handling.
    """
    if subject.flag("log_bin") is False or subject.text("log_bin") is None:
        return
    if (subject.text("binlog_format") or "").upper() != "STATEMENT":
        return
    interleaved = subject.number("innodb_autoinc_lock_mode") == 2
    yield subject.violation(
        "binlog_format = STATEMENT: replicas can get other rows than the source"
        + (", and other keys with innodb_autoinc_lock_mode = 2" if interleaved else ""),
        "binlog_format",
        "innodb_autoinc_lock_mode",
        cost="data: differences between source and replicas, which nothing reports",
        severity=Severity.ERROR if interleaved else Severity.WARNING,
        changes=[subject.change("binlog_format", "ROW")],
    )


@rule("mysql")
def replica_not_crash_safe(subject: Subject) -> Iterator[Violation]:
    """After a crash a replica may apply changes twice or leave some out.

    Why: without relay_log_recovery a replica goes on with a relay log whose end may be missing or damaged; positions
        kept in a file (relay_log_info_repository = FILE) are older than the data.
    Evidence: relay_log_recovery and relay_log_info_repository of a server that replicates now.
    Fix: Set relay_log_recovery = ON, and relay_log_info_repository = TABLE where the version has it.
    Verify: SHOW GLOBAL VARIABLES LIKE 'relay_log%'; compare checksums after a crash.
    Source: MySQL Reference Manual, 19.4.2 Handling an Unexpected Halt of a Replica.
    """
    if not _replicates(subject):
        return
    in_a_file = (subject.text("relay_log_info_repository") or "").upper() == "FILE"
    if subject.flag("relay_log_recovery") is False or in_a_file:
        yield subject.violation(
            "the replica does not find its place again after a crash",
            "relay_log_recovery",
            "relay_log_info_repository",
            cost="data: changes applied twice or not at all after a crash of the replica, or it is to be built anew",
            severity=Severity.WARNING,
            changes=[subject.change("relay_log_recovery", "ON")],
        )


@rule("mysql")
def replica_writable(subject: Subject) -> Iterator[Violation]:
    """Anybody may change data on a replica.

    Why: what an application writes there by mistake is not on the source: rows differ, and replication stops at the
        next change of such a row.
    Evidence: read_only of a server that replicates now.
    Fix: Set read_only = ON (MySQL: super_read_only = ON).
    Verify: an INSERT as an ordinary user is refused.
    Source: MySQL Reference Manual, 7.1.8, read_only; MariaDB documentation, Read-Only Replicas.
    """
    if _replicates(subject) and subject.flag("read_only") is False:
        yield subject.violation(
            "read_only = OFF on a replica: it can be changed apart from its source",
            "read_only",
            cost="data: what is written here is nowhere else, and replication stops at a row that differs",
            severity=Severity.WARNING,
            changes=[subject.change("read_only", "ON")],
        )


@rule("mysql")
def replication_errors_skipped(subject: Subject) -> Iterator[Violation]:
    """A replica goes on where a change cannot be applied.

    Why: with slave_skip_errors (replica_skip_errors), or slave_exec_mode = IDEMPOTENT, a change that meets other rows
        than the source had is left out: the replica differs from then on, and more changes fail.
    Evidence: these settings.
    Fix: Take them out, and build the replica anew or repair its rows first.
    Verify: replication goes on without errors, and checksums agree.
    Source: MySQL Reference Manual, 19.1.6.3 Replica Server Options and Variables.
    """
    for name in ("slave_skip_errors", "replica_skip_errors"):
        skipped = subject.text(name)
        if skipped and subject.flag(name) is not False:
            yield _skipping(subject, name, f"{name} = {skipped}", "OFF")
    for name in ("slave_exec_mode", "replica_exec_mode"):
        if (subject.text(name) or "").upper() == "IDEMPOTENT":
            yield _skipping(subject, name, f"{name} = IDEMPOTENT", "STRICT")


def _skipping(subject: Subject, name: str, written: str, right: str) -> Violation:
    return subject.violation(
        f"{written}: changes that cannot be applied are left out",
        name,
        cost="data: each change that is left out makes the replica differ, silently",
        severity=Severity.ERROR,
        changes=[subject.change(name, right)],
    )


def _replicates(subject: Subject) -> bool:
    """Whether it is a replica now: MariaDB counts the replications that run; of MySQL the status does not tell."""
    return (latest(subject, "slaves_running") or 0) > 0
