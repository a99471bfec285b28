"""Servers that did not stay up: a crash of one process that ended all sessions, or a start after a stop."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.service import mysql_life
from doctord.diagnose.causes.service.killed_processes import KILLED, killed
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, phrase
from doctord.diagnose.words import shortened

# Events: as a new connection finds the server's own processes younger, and as its log tells who crashed.
CRASH, CRASHED, RESTART = "crash", "process crashed", "restart"
MYSQL, POSTGRESQL = "mysql", "postgresql"
# The same in a log that is read later: events `restart` with the lines of PostgreSQL's log about its life, of which few
# are a start or a crash. What it says first as it starts, before version 12 too, and after a crash as well.
LOGGED_CRASH = r"\(PID \d+\) (was terminated by|exited with exit code ([2-9]|\d\d))"
LOGGED_LIFE = (
    r"^(database system|redo |received |aborting any|shutting down|terminating any|all server processes|abnormal |"
    r"entering standby|consistent recovery|selected new|archive recovery)|\(PID \d+\)"
)
LOGGED_START = r"^database system was (shut down|interrupted)"
# Sessions get five seconds to end after a crash (postmaster.c), then the server begins anew.
BEGINS_ANEW = timedelta(seconds=30)
# How a session hears of it; nothing else may be left where the server does not come back.
OF_A_CRASH = "another of its processes crashed"
# Two connections tell of one crash, each by its own look.
SAME = timedelta(seconds=2)
# What happened minutes ago is why somebody looks now. Background processes start within moments after the server.
RECENT_S, LATER_S = 600.0, 5.0
AN_HOUR_S = 3600.0
# Recovery replays what was written since the last checkpoint: minutes, seldom an hour.
LONGEST_RECOVERY_S = AN_HOUR_S
# From this version on the background processes are there before a start's recovery begins.
PROCESSES_FIRST = 150000
MOST_TOLD = 4
# What ended a process, by the number of its signal (signal(7)), and what follows.
SIGNALS = {
    "crash recovery": "MySQL: it recovers, and its log says of no end of it: it was killed (journalctl -k -g 'Killed "
    "process': the kernel, as memory ran out; or somebody's kill -9, systemd's TimeoutStopSec), or the host went down.",
    "got signal": "MySQL: the stack and the statement below the signal in the error log; the core file (coredumpctl "
    "gdb), the newest minor version. Signal 6 is the server's own stop: the assertion above it.",
    KILLED: "PostgreSQL: signal 9 comes from somebody (kill -9 of a script or by hand), from the kernel as memory runs "
    "out (journalctl -k), or at a limit of CPU time (ulimit -t). Who: auditctl -a always,exit -F arch=b64 -S kill -F "
    "a1=9 -k killed, later ausearch -k killed -i; or bpftrace -e 'tracepoint:signal:signal_generate /args->sig == 9/ "
    "{ printf(\"%s %d -> %s %d\\n\", comm, pid, args->comm, args->pid); }'; grep -r 'kill -9' in the crontabs and in "
    "what they run. Sessions that are idle for too long: idle_session_timeout, idle_in_transaction_session_timeout.",
    "signal 11:": "PostgreSQL: signal 11 is a fault of the server or of an extension: the core file's stack "
    "(coredumpctl gdb), the statement beside it in the log, the newest minor version, extensions that were added last.",
    "signal 6:": "PostgreSQL: signal 6 is the server's own stop: the PANIC or the assertion above it in the log.",
    "signal 7:": "PostgreSQL: signal 7 is memory that could not be had: huge pages, /dev/shm, or a full or failing "
    "disk under a mapped file.",
}
UNKNOWN = NotMeasured(
    "which process crashed, and of what",
    "its log was not read",
    "grep 'was terminated by signal' in the server's log; who runs as root, or in its group, has it read live.",
)


@cause(explains=("server_does_not_answer", "connection_churn", "logins_slow", "errors_logged"))
def server_restarted(case: Case) -> Iterator[Claim]:
    """A server did not stay up: one of its processes crashed and all sessions were ended, or it was started again.

    Looks like: sessions end with "terminating connection because of crash of another server process"; the background
        processes are younger than the server (the postmaster outlives a crash of its children); another time of start
        than before; the log: "was terminated by signal", "all server processes terminated; reinitializing"; MySQL's
        error log: "got signal 11", "Starting crash recovery".
    Hurts because: every session is ended, its transaction lost, and nobody is served while the server recovers; the
        caches and the statistics are empty afterwards.
    Speaks for it: how often, when, and by which signal; the kernel's log beside it (OOM killer). Of signal 9 what is
        left when memory (oom_kill of /proc/vmstat, memory that was free) and limits of CPU time are ruled out; whose
        sessions were ended, and since when they were idle.
    Speaks against it: a single start by hand, as for a new version or a setting: a note; processes that are younger
        than the server by no more than the recovery at its own start may have taken.
    Remedy: A crash: find the process, its signal and the statement in the server's log. A start: ask who did it, or
        what (systemctl status, the cluster's manager, the package's upgrade); the last lines of the log before it say
        why it stopped.
        PostgreSQL: never kill a backend with -9; pg_terminate_backend ends one.
    Verify: The background processes are as old as the server, and both grow older: no new event `crash` or `restart`.
    Source: PostgreSQL documentation, "Shutting Down the Server", pg_postmaster_start_time, "PostgreSQL Error Codes"
        (57P02), restart_after_crash; signal(7); getrlimit(2), RLIMIT_CPU; proc(5), vmstat (oom_kill).
    """
    events = case.dataset.frame("event").filter(pl.col("db").is_not_null()).sort("ts", maintain_order=True)
    for db in sorted({*case.dbs, *events["db"]}):
        own = events.filter(pl.col("db") == db)
        logged, starts = _life(db, own.filter(pl.col("kind") == RESTART))
        if crash := _crashes(case, db, own, _apart(logged)) or _crashed_before(case, db):
            yield crash
        yield from _starts(case, db, starts)


def _life(db: str, told: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Of what is told of a server's life the crashes, and the starts."""
    own = told.filter(pl.col("subject") == db)
    if db.startswith(MYSQL):
        return mysql_life.crashes(own), mysql_life.starts(own)
    crashes = told.filter(pl.col("text").str.contains(LOGGED_CRASH))
    return crashes, _of_starts(own, crashes["ts"]) if db.startswith(POSTGRESQL) else own


def _of_starts(told: pl.DataFrame, crashes: pl.Series) -> pl.DataFrame:
    """Of what is told of a server's life its starts, but for those that a crash made necessary."""
    is_first = pl.col("text").str.contains(LOGGED_START)
    for crash in crashes:
        is_first &= ~pl.col("ts").is_between(crash, crash + BEGINS_ANEW)
    return told.filter(is_first | ~pl.col("text").str.contains(LOGGED_LIFE).fill_null(value=False))


def _crashes(case: Case, db: str, events: pl.DataFrame, logged: pl.DataFrame) -> Claim | None:
    """Crashes while it was looked at, as often as the one of the ways that tells of them that saw most."""
    seen, live = _apart(events.filter(pl.col("kind") == CRASH)), events.filter(pl.col("kind") == CRASHED)
    processes = max(live, logged, key=lambda each: each.height)
    heard = events.filter((pl.col("kind") == "gap") & pl.col("text").str.contains(OF_A_CRASH))
    count = max(seen.height, processes.height, min(heard.height, 1))
    if not count:
        return None
    told = next(each for each in (processes, seen, heard) if each.height)
    by = killed(case, db, processes)
    return Claim(
        phrase("{}{}", _title(db, count), by.said),
        impact=NOT_MEASURED,
        confidence=0.95,
        severity="critical" if count * AN_HOUR_S >= case.seconds else "warning",
        for_=[*_told(told), *by.evidence],
        against=by.against,
        not_measured=() if processes.height else (UNKNOWN,),
        first_steps=_signals(processes),
        database=db,
    )


def _apart(events: pl.DataFrame) -> pl.DataFrame:
    return events.filter((pl.col("ts").diff() > SAME).fill_null(value=True))


def _title(db: str, count: int) -> Phrase:
    if db.startswith(MYSQL):
        return phrase("{} crashed{}: all sessions were ended", db, phrase(" {} times", count) if count > 1 else "")
    if count == 1:
        return phrase("A process of {} crashed: all sessions were ended", db)
    return phrase("Processes of {} crashed {} times: each time all sessions were ended", db, count)


def _told(events: pl.DataFrame) -> list[Evidence]:
    """The last events, each with its words."""
    return [
        Evidence("event", f"kind = '{kind}' and db = '{db}'", phrase("{:%Y-%m-%d %H:%M:%S}", ts), "",
                 shortened(text or "", 160))
        for kind, db, ts, text in events.select("kind", "db", "ts", "text").tail(MOST_TOLD).iter_rows()
    ]  # fmt: skip


def _signals(processes: pl.DataFrame) -> Sequence[Words]:
    texts = " ".join(processes["text"].drop_nulls())
    return [meaning for sign, meaning in SIGNALS.items() if sign in f"{texts}:"]


def _crashed_before(case: Case, db: str) -> Claim | None:
    """A crash minutes before somebody looked, by the age of the processes."""
    ages = {
        name: _age_s(case, name, db) for name in ("pg_postmaster_start_time.age_s", "pg_stat_activity.own_processes_s")
    }
    server_s, processes_s = ages.values()
    if server_s is None or processes_s is None or server_s - processes_s < LATER_S:
        return None
    if processes_s > RECENT_S + case.seconds:
        return None
    against = _own_recovery(case, db, server_s - processes_s)
    return Claim(
        phrase("{} recovered from a crash {:time} ago", db, processes_s),
        impact=NOT_MEASURED,
        confidence=0.6 if against else 0.85,
        severity="warning",
        for_=[
            Evidence("statistic", f"name = 'pg_stat_activity.own_processes_s' and db = '{db}'",
                     phrase("its background processes are {:time} old", processes_s), "",
                     phrase("the server itself {:time}: it outlives a crash of one of its processes", server_s)),
        ],
        against=against,
        not_measured=(UNKNOWN,),
        database=db,
    )  # fmt: skip


def _own_recovery(case: Case, db: str, seconds: float) -> list[Evidence]:
    """That the time between may be the recovery at a start: before version 15 these processes begin after it.

    Source: PostgreSQL 15, release notes: "Run the checkpointer and bgwriter processes during crash recovery".
    """
    version = case.setting("server_version_num", db)
    if seconds > LONGEST_RECOVERY_S or (version is not None and int(version) >= PROCESSES_FIRST):
        return []
    return [
        Evidence("setting", f"name = 'server_version_num' and db = '{db}'",
                 phrase("{:time} lie between the server's start and theirs", seconds),
                 phrase("{:time}", LONGEST_RECOVERY_S),
                 "before version 15 they begin when the recovery of a start is done", "at_least"),
    ]  # fmt: skip


def _age_s(case: Case, name: str, db: str) -> float | None:
    return next((figure.last for figure in case.figures(name) if figure.db == db), None)


def _starts(case: Case, db: str, starts: pl.DataFrame) -> Iterator[Claim]:
    """Starts of the server itself: one by hand is no trouble, one an hour is."""
    starts = _apart(starts)
    if starts.is_empty():
        return
    is_often = starts.height > 1 and starts.height * AN_HOUR_S >= case.seconds
    yield Claim(
        phrase("{} was started again {:count time/times}", db, starts.height),
        impact=NOT_MEASURED,
        confidence=0.95,
        severity="critical" if is_often else "note",
        for_=_told(starts),
        database=db,
    )
