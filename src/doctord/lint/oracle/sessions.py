"""Oracle's sessions, jobs, undo, CPUs, and what it lets in."""

from collections.abc import Iterator

from doctord.diagnose.phrase import phrase
from doctord.lint.oracle.figures import waited
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

RESMGR = ("resmgr:cpu quantum", "resmgr:become active", "resmgr:pq queued")


@rule("oracle")
def sessions_below_processes(subject: Subject) -> Iterator[Violation]:
    """There are fewer sessions than the processes need.

    Why: log-ons fail (ORA-00018) while processes are free: each process may need a session for recursive work too.
    Evidence: both settings; Oracle derives 1.5 x processes + 22 (1.1 x processes + 5 before 11.2).
    Fix: Take sessions out: it follows processes.
    Verify: v$resource_limit: max_utilization of sessions against limit_value.
    Source: Oracle Database Reference, SESSIONS.
    """
    sessions, processes = subject.explicit("sessions"), subject.number("processes")
    if sessions and sessions.number and processes and sessions.number < 1.1 * processes:
        yield subject.violation(
            phrase("sessions = {} for {:.0f} processes", sessions.value, processes),
            "sessions",
            "processes",
            cost=phrase("ORA-00018 at {} sessions, {:.0f} processes or not", sessions.value, processes),
            severity=Severity.WARNING,
            changes=[subject.change("sessions", None, "restart")],
        )


@rule("oracle")
def jobs_off(subject: Subject) -> Iterator[Violation]:
    """No job runs: job_queue_processes is 0.

    Why: jobs of dbms_job wait for ever; since 11.2 those of the Scheduler too: statistics are not gathered.
    Evidence: the setting, and the version.
    Fix: Take job_queue_processes out, or give it a few; disable single jobs instead.
    Verify: dba_scheduler_job_run_details; last_analyzed of large tables.
    Source: Oracle Database Reference, JOB_QUEUE_PROCESSES.
    """
    found = subject.explicit("job_queue_processes")
    if found and found.number == 0:
        recent = subject.version is not None and subject.version >= (11, 2)
        yield subject.violation(
            "job_queue_processes = 0: " + ("no job runs" if recent else "no job of dbms_job runs"),
            "job_queue_processes",
            cost="optimizer statistics grow old, advisors and purges do not run" if recent else "jobs of dbms_job wait",
            severity=Severity.WARNING if recent else Severity.NOTE,
            changes=[subject.change("job_queue_processes", None, "now")],
        )


@rule("oracle", since=(10, 1))
def queue_monitor_off(subject: Subject) -> Iterator[Violation]:
    """aq_tm_processes=0 turns the queue monitor off.

    Why: messages of Advanced Queuing do not expire, spilled ones are not cleaned up; Data Pump and Streams use it.
    Evidence: the setting.
    Fix: Take it out: since 10.1 the number of processes is found by itself.
    Verify: Growth of queue tables; v$persistent_queues.
    Source: Oracle Database Reference, AQ_TM_PROCESSES.
    """
    found = subject.explicit("aq_tm_processes")
    if found and found.number == 0:
        yield subject.violation(
            "aq_tm_processes = 0: the queue monitor is off",
            "aq_tm_processes",
            cost="queue tables grow where queues are used; nothing where none are",
            severity=Severity.NOTE,
            changes=[subject.change("aq_tm_processes", None, "now")],
        )


@rule("oracle", since=(9,))
def undo_by_hand(subject: Subject) -> Iterator[Violation]:
    """Undo is kept in rollback segments that somebody has to size.

    Why: buffer busy waits on segment headers, ORA-01555 and ORA-01562 whenever the load changes.
    Evidence: undo_management.
    Fix: An undo tablespace, undo_management=auto, undo_retention from the longest query.
    Verify: v$undostat: unxpstealcnt, ssolderrcnt.
    Source: Oracle Database Administrator's Guide, Managing Undo.
    """
    if (subject.text("undo_management") or "").strip("'\"").lower() == "manual":
        yield subject.violation(
            "undo_management = manual",
            "undo_management",
            cost="ORA-01555 and waits on segment headers once more sessions write than there are segments",
            severity=Severity.WARNING,
            impact=waited(subject, "undo segment extension", "undo segment tx slot"),
            changes=[subject.change("undo_management", "auto", "restart")],
        )


@rule("oracle")
def resource_plan_waits(subject: Subject) -> Iterator[Violation]:
    """A resource plan makes sessions wait.

    Why: sessions wait for their share although CPUs may be idle; the maintenance window's plan does so every night.
    Evidence: resource_manager_plan; time waited for resmgr events.
    Fix: Look at the plan's shares and limits; take the plan off the maintenance windows that nobody needs.
    Verify: resmgr waits at the same load; v$rsrc_consumer_group.
    Source: Oracle Database Administrator's Guide, Managing Resources with Oracle Database Resource Manager.
    """
    impact = waited(subject, *RESMGR)
    if impact and impact >= 0.05:
        plan = subject.text("resource_manager_plan") or "of a maintenance window"
        yield subject.violation(
            phrase("the resource plan {} takes {:share} of the time", plan, impact),
            "resource_manager_plan",
            cost=phrase("{:share of database} waited for a share of the CPUs", impact),
            impact=impact,
        )


@rule("oracle")
def cpu_count_below_cpus(subject: Subject) -> Iterator[Violation]:
    """cpu_count says fewer CPUs than there are.

    Why: with a resource plan it cages the instance; without one it only makes degrees, latches and caches small.
    Evidence: cpu_count, the CPUs, resource_manager_plan.
    Fix: Take cpu_count out, or set a plan with it when the instance is to be caged.
    Verify: CPU used by the instance at peak against cpu_count; resmgr:cpu quantum.
    Source: Oracle Database Reference, CPU_COUNT; Instance Caging, Oracle white paper.
    """
    found, cpus = subject.explicit("cpu_count"), subject.machine.cpus
    if found and found.number and cpus and found.number < cpus and not subject.text("resource_manager_plan"):
        yield subject.violation(
            f"cpu_count = {found.value} of {cpus} CPUs, without a resource plan",
            "cpu_count",
            "resource_manager_plan",
            cost="parallel degrees and latches for fewer CPUs; the instance is not caged by it",
            severity=Severity.WARNING,
            changes=[subject.change("cpu_count", None, "now")],
        )


@rule("oracle")
def open_cursors_unlimited(subject: Subject) -> Iterator[Violation]:
    """open_cursors is so high that a leak of cursors is found by the memory it takes.

    Why: a session that does not close cursors fills PGA and shared pool instead of getting ORA-01000.
    Evidence: open_cursors x processes.
    Fix: A few hundred more than the busiest session has open.
    Verify: v$sesstat, opened cursors current: the largest.
    Source: Oracle Database Reference, OPEN_CURSORS.
    """
    found, processes = subject.explicit("open_cursors"), subject.number("processes")
    if found and found.number and found.number >= 10_000:
        most = phrase(", {:,.0f} in {:.0f} processes", found.number * processes, processes) if processes else ""
        yield subject.violation(
            f"open_cursors = {found.value}",
            "open_cursors",
            cost=phrase("{}: up to {:,.0f} cursors in a session{}, some KiB each", CANNOT_JUDGE, found.number, most),
        )


@rule("oracle")
def any_directory_for_utl_file(subject: Subject) -> Iterator[Violation]:
    """utl_file_dir lets PL/SQL read and write files of the server.

    Why: with * whoever may run utl_file writes whatever the oracle user may, data files among it. Gone since 18c.
    Evidence: the setting.
    Fix: Use directory objects with grants, and take utl_file_dir out.
    Verify: dba_directories, and who is granted them.
    Source: Oracle Database Upgrade Guide, desupport of UTL_FILE_DIR (18c).
    """
    found = subject.explicit("utl_file_dir")
    if found and found.value.strip("'\" "):
        everywhere = "*" in found.value
        yield subject.violation(
            f"utl_file_dir = {found.value}",
            "utl_file_dir",
            cost="data: any file of the oracle user can be overwritten from PL/SQL"
            if everywhere
            else "an upgrade to 18c",
            severity=Severity.ERROR if everywhere else Severity.NOTE,
            changes=[subject.change("utl_file_dir", None, "restart")],
        )


@rule("oracle")
def remote_os_authent_on(subject: Subject) -> Iterator[Violation]:
    """Remote clients are believed to be who they say.

    Why: whoever names his user like an externally identified account on his own machine is let in without a password.
    Evidence: the setting.
    Fix: Set remote_os_authent=false; use a wallet.
    Verify: dba_users with authentication_type EXTERNAL.
    Source: Oracle Database Security Guide, deprecation of REMOTE_OS_AUTHENT (11.1).
    """
    if subject.flag("remote_os_authent"):
        yield subject.violation(
            "remote_os_authent = true",
            "remote_os_authent",
            cost="data: log-ons without a password",
            severity=Severity.ERROR,
            changes=[subject.change("remote_os_authent", None, "restart")],
        )


@rule("oracle")
def standby_files_by_hand(subject: Subject) -> Iterator[Violation]:
    """A database with a standby leaves its new data files to somebody's memory.

    Why: with standby_file_management=manual the standby's recovery stops at the first new data file.
    Evidence: fal_server or log_archive_config, and standby_file_management.
    Fix: Set standby_file_management=auto on both sides.
    Verify: v$archive_gap and v$dataguard_stats after a data file was added.
    Source: Oracle Data Guard Concepts and Administration, STANDBY_FILE_MANAGEMENT.
    """
    manual = (subject.text("standby_file_management") or "").strip("'\"").lower() == "manual"
    if manual and (subject.explicit("fal_server") or subject.explicit("log_archive_config")):
        yield subject.violation(
            "standby_file_management = manual beside a standby",
            "standby_file_management",
            "fal_server",
            cost="availability: the standby stops at the next new data file",
            severity=Severity.WARNING,
            changes=[subject.change("standby_file_management", "auto", "now")],
        )
