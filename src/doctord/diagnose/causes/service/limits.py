"""Limits of the system that a server's processes meet: descriptors, the size of a file, and processes."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.failures import OVER_S, Failed, is_over, of_kind, severity_of
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, measured
from doctord.diagnose.phrase import phrase

FORKS: Final = "log.forks_failed"
FILE_SIZE: Final = "limits.file_size_bytes"
# A table's file, as PostgreSQL is built: it begins another one there (--with-segsize).
SEGMENT_BYTES: Final = 2**30
IN_SYSTEM: Final = "in system"
# Of a limit: the next connections of one application server take what is left.
NEAR_SHARE: Final = 0.9


@cause(explains=("rollbacks_many", "errors_logged"))
def descriptors_used_up(case: Case) -> Iterator[Claim]:
    """The server's processes may not open another file.

    Looks like: errors 53000, "could not open file ...: Too many open files", "insufficient file descriptors available
        to start server process"; in the log "out of file descriptors: Too many open files; release and retry". "Too
        many open files in system" is the whole host's limit.
    Hurts because: a statement that meets one more table, index or temporary file fails; at a start none is begun.
    Speaks for it: the errors; what one process may have open (RLIMIT_NOFILE) beside max_files_per_process, and what is
        open; of the host, fs.file-nr beside fs.file-max.
    Speaks against it: a server that merely has as many files open as it may: it closes those that it needs least
        before it opens others (max_files_per_process), and no statement fails.
    Remedy: Raise what a process may have open for the server's unit (systemd: LimitNOFILE; a container: its ulimits),
        or lower max_files_per_process below it, and restart. Of the host: sysctl fs.file-max, after a look at who holds
        so many (lsof, /proc/*/fd). Many partitions and indexes read at once, and extensions that open files of
        their own, are what takes them.
    Verify: No new error of that message; the limit in /proc/PID/limits of the postmaster is the new one.
    Source: PostgreSQL documentation, max_files_per_process, "Resource Limits"; open(2), EMFILE and ENFILE;
        getrlimit(2), RLIMIT_NOFILE; Kernel documentation, /proc/sys/fs, file-max and file-nr.
    """
    for one in of_kind(case, "descriptors"):
        of_host = any(IN_SYSTEM in each.message for each in one.messages)
        yield Claim(
            phrase("Statements of {} fail, for {} too many open files: {:count time/times}", one.db,
                   "the host has" if of_host else "its processes have", round(one.count)),
            impact=measured(one.share),
            confidence=0.95,
            severity=severity_of(one),
            for_=[*one.evidence(), *(_host_files(case, one.db) if of_host else _own_files(case, one))],
            against=is_over(one),
            time_of="transactions",
            database=one.db,
        )  # fmt: skip


@cause(explains=("rollbacks_many", "errors_logged"))
def file_size_limited(case: Case) -> Iterator[Claim]:
    """The server's processes may not write a file as large as they need.

    Looks like: "could not extend file ...: File too large"; what fits into the files that are there goes on, and so do
        small tables.
    Hurts because: every statement fails that needs a new page of a table or index beyond the limit, or sorts more than
        that into one temporary file.
    Speaks for it: the errors; the limit on a file's size of the postmaster (RLIMIT_FSIZE, ulimit -f), which those that
        it starts inherit, below the gigabyte at which PostgreSQL begins another file.
    Speaks against it: a limit of a gigabyte and more: then the file system's own.
    Remedy: Take the limit away where the server is started (ulimit -f unlimited; systemd: LimitFSIZE=infinity;
        limits.conf: fsize for its user; a container: its ulimits) and restart. Without a restart, for processes that
        start from then on: prlimit(1) on the postmaster's pid, then new connections.
    Verify: "Max file size" in /proc/PID/limits of a backend is unlimited, and no new error of that message.
    Source: getrlimit(2), RLIMIT_FSIZE; write(2), EFBIG; PostgreSQL documentation, "Database File Layout" (segments),
        "Resource Limits"; systemd.exec(5), LimitFSIZE.
    """
    for one in of_kind(case, "file size"):
        limit_bytes = _figure(case, FILE_SIZE, one.db)
        for_, against = weigh(
            [
                Sign("statistic", f"name = '{FILE_SIZE}' and db = '{one.db}'", limit_bytes, SEGMENT_BYTES,
                     "a file may have {:bytes} (RLIMIT_FSIZE)", "ulimit -f of the postmaster: its processes inherit it",
                     "a table's files are no larger: the file system's own limit", below=True)
            ]
        )  # fmt: skip
        limit = phrase("the limit is {:bytes}", limit_bytes) if for_ else "the server's processes meet a limit"
        yield Claim(
            phrase("Statements of {} fail, for a file may grow no larger ({}): {:count time/times}", one.db, limit,
                   round(one.count)),
            impact=measured(one.share),
            confidence=0.95 if for_ else 0.7,
            severity=severity_of(one),
            for_=[*one.evidence(), *for_],
            against=[*is_over(one), *against],
            time_of="transactions",
            database=one.db,
        )  # fmt: skip


@cause(explains=("errors_logged", "server_does_not_answer"))
def processes_used_up(case: Case) -> Iterator[Claim]:
    """The server may not start another process: no connection, no worker.

    Looks like: "could not fork new process for connection: Resource temporarily unavailable" in the log; the control
        group of its container or unit has as many tasks as it may (pids.max), or its user as many processes
        (RLIMIT_NPROC).
    Hurts because: new connections are refused, whatever max_connections allows, and autovacuum and parallel workers do
        not start; those that are connected notice nothing.
    Speaks for it: the messages, with what fork said; tasks of the group beside its limit. "Cannot allocate memory" is
        the host's memory or its overcommit.
    Speaks against it: tasks well below the limit of the group.
    Remedy: Raise the limit (systemd: TasksMax; a container: its pids limit; limits.conf: nproc for the server's user)
        above max_connections, the workers and a reserve; or fewer connections, by a pool. Who else runs under the
        same user or in the same group counts too.
    Verify: pids.current stays below 90 % of pids.max at the busiest hour, and no new message.
    Source: Kernel documentation, "Process Number Controller" (pids.max, pids.current); fork(2), EAGAIN; getrlimit(2),
        RLIMIT_NPROC; PostgreSQL documentation, "Resource Limits".
    """
    for db in case.dbs:
        failed = [figure for figure in case.figures(FORKS) if figure.db == db and figure.mean > 0]
        for_, against = weigh(_tasks(case, db))
        if not failed and not for_:
            continue
        over = _over(case, db)
        times = round(sum(one.mean * (one.seconds or case.seconds) for one in failed))
        yield Claim(
            phrase("{} could not start a process: {:count time/times}", db, times)
            if failed
            else phrase("{} may soon start no process: {:.0f} of {:.0f} tasks of its control group are there", db,
                        _largest(case, "limits.tasks_used", db), _figure(case, "limits.tasks", db)),
            impact=NOT_MEASURED if failed else NONE_YET,
            severity="critical" if failed and not over else "warning",
            confidence=0.7 if against else 0.95,
            for_=[
                *(Evidence("statistic", f"name = '{FORKS}' and db = '{db}'",
                           phrase("{:.3g per s}", one.mean), "", one.entity or "could not fork") for one in failed),
                *for_,
                *_user_limit(case, db),
            ],
            against=[*over, *against],
            database=db,
        )  # fmt: skip


def _over(case: Case, db: str) -> list[Evidence]:
    """That no fork has failed for long."""
    rows = case.dataset.frame("statistic").filter(
        (pl.col("name") == FORKS) & (pl.col("db") == db) & (pl.col("value") > 0)
    )
    last, until = rows["ts"].max(), case.dataset.until
    quiet_s = (until - last).total_seconds() if until and isinstance(last, datetime) else 0.0
    if quiet_s < OVER_S:
        return []
    return [Evidence("statistic", f"name = '{FORKS}' and db = '{db}'", phrase("none for {:duration}", quiet_s),
                     phrase("{:duration}", OVER_S), "it is over")]  # fmt: skip


def _figure(case: Case, name: str, db: str) -> float | None:
    return next((one.last for one in case.figures(name) if one.db == db), None)


def _largest(case: Case, name: str, db: str) -> float | None:
    return next((one.largest for one in case.figures(name) if one.db == db), None)


def _own_files(case: Case, one: Failed) -> list[Evidence]:
    limit, used = _figure(case, "limits.open_files", one.db), _largest(case, "limits.open_files_used", one.db)
    if limit is None:
        return []
    setting = case.setting("max_files_per_process", one.db)
    held = "" if used is None else phrase("one had {:.0f} as they were looked at; ", used)
    return [Evidence("statistic", "name = 'limits.open_files'", phrase("{:.0f} files for each process", limit), "",
                     phrase("{}max_files_per_process = {}", held, setting or "?"))]  # fmt: skip


def _host_files(case: Case, db: str) -> list[Evidence]:
    limit, used = _figure(case, "limits.host_files", db), _largest(case, "limits.host_files_used", db)
    if limit is None or used is None:
        return []
    return [Evidence("statistic", "name = 'limits.host_files_used'", phrase("{:.0f} files open on the host", used),
                     phrase("{:.0f}", limit), "fs.file-max")]  # fmt: skip


def _tasks(case: Case, db: str) -> list[Sign]:
    limit, used = _figure(case, "limits.tasks", db), _largest(case, "limits.tasks_used", db)
    if limit is None or used is None:
        return []
    return [Sign("statistic", f"name = 'limits.tasks_used' and db = '{db}'", used, NEAR_SHARE * limit,
                 "{:.0f} tasks in its control group", phrase("of {:.0f} that it may have", limit),
                 phrase("{:.0f} are allowed", limit))]  # fmt: skip


def _user_limit(case: Case, db: str) -> list[Evidence]:
    limit = _figure(case, "limits.processes", db)
    if limit is None:
        return []
    return [Evidence("statistic", "name = 'limits.processes'", phrase("{:.0f} processes for its user", limit), "",
                     "RLIMIT_NPROC of the postmaster; root is not held to it")]  # fmt: skip
