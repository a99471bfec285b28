"""Made-up diagnoses, as like real ones as can be: what the snapshots show."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from doctord.analyse.sql.top_time import Holder
from doctord.analyse.vitals import Vital
from doctord.diagnose.finding import NONE_YET, Diagnosis, Evidence, Finding, NotMeasured, TimeShare, measured

SINCE = datetime(2026, 11, 20, 22, 0, tzinfo=UTC)
UNTIL = SINCE + timedelta(seconds=20)

NO_WAIT_SAMPLING = NotMeasured(
    "pg_wait_sampling",
    "the extension is not installed, so short waits are sampled from outside",
    "CREATE EXTENSION pg_wait_sampling, after adding it to shared_preload_libraries.",
)
NO_DELAY_ACCOUNTING = NotMeasured(
    "process.io_wait_pct",
    "delay accounting is off (kernel.task_delayacct = 0)",
    "sysctl kernel.task_delayacct=1; it counts for processes started afterwards.",
)

LOCKS = Finding(
    cause="blocker_idle_in_transaction",
    title="Sessions wait for row locks behind session 4711 (app, psql), idle in transaction",
    severity="critical",
    impact=measured(0.864),
    confidence=0.95,
    for_=(
        Evidence(
            "session",
            "event = 'transactionid' and kind = 'client'",
            "14.2 sessions on Lock:transactionid",
            "1 on average",
            "more than two thirds of the active sessions wait for one row lock",
        ),
        Evidence(
            "session",
            "sid = 4711",
            "48.3 s in transaction, 19.6 s of it idle with others behind it",
            "1 s",
            "the blocker holds its locks while it waits for its own client, not for the server",
        ),
    ),
    against=(
        Evidence(
            "cpu", "cpu is null", "CPU used 12 %", "80 %", "the sessions would not run faster with more CPU: they sleep"
        ),
    ),
    not_measured=(),
    remedy=(
        "Now: SELECT pg_terminate_backend(4711); ask first who psql on db1 is.",
        "Then set idle_in_transaction_session_timeout = '30s' for the role app.",
    ),
    verify=("doctord checkup: Lock:transactionid falls below 5 % of database time.",),
    sources=("PostgreSQL documentation, 20.11.1 Statement Behavior",),
    interval=(SINCE, UNTIL),
)
COMMITS = Finding(
    cause="commits_slow",
    title="Commits are slow: the device takes long over each sync",
    severity="note",
    impact=measured(0.07),
    confidence=0.7,
    for_=(Evidence("wait", "event = 'WALSync'", "12.4 ms per WAL sync", "5 ms", "each commit waits for one"),),
    against=(Evidence("disk", "device = 'vda'", "device queue 0.3", "1", "the device is not busy"),),
    not_measured=(NO_DELAY_ACCOUNTING,),
    remedy=("Move pg_wal to a device with a protected write cache.",),
    verify=("doctord checkup: a sync takes less than 5 ms.",),
    sources=("PostgreSQL documentation, 30.5 WAL Configuration",),
    interval=(SINCE, UNTIL),
)
CONVOY = Finding(
    cause="row_lock_convoy",
    title="Row locks are waited for",
    severity="critical",
    impact=measured(0.81),
    confidence=0.8,
    for_=(Evidence("session", "event = 'tuple'", "3.1 sessions on Lock:tuple", "1", "several want the same row"),),
    against=(),
    not_measured=(),
    remedy=("Shorten the transactions that update the row.",),
    verify=("doctord checkup: no Lock:tuple.",),
    sources=("PostgreSQL documentation, 13.3 Explicit Locking",),
    interval=(SINCE, UNTIL),
    explained_by="blocker_idle_in_transaction",
)
CONNECTIONS = Finding(
    cause="connections_near_limit",
    title="Connections are near the limit: 96 of 100",
    severity="warning",
    impact=NONE_YET,
    confidence=0.9,
    for_=(Evidence("statistic", "name = 'connections'", "96 connections", "90 % of 100", "4 more and clients fail"),),
    against=(),
    not_measured=(),
    remedy=("Put a pooler (pgbouncer) before the server; raising max_connections costs memory.",),
    verify=("doctord checkup: fewer than 90 connections.",),
    sources=("PostgreSQL documentation, 20.3.1 Connection Settings",),
    interval=(SINCE, UNTIL),
)

HEALTHY = Diagnosis(
    host="db1",
    since=SINCE,
    until=UNTIL,
    time_of="database",
    time=(
        TimeShare("CPU", "CPU", 0.31, 0.775),
        TimeShare("Commit", "WALSync", 0.07, 0.175),
        TimeShare("User I/O", "DataFileRead", 0.02, 0.05),
    ),
    findings=(),
    looked_at=(
        "2 CPUs over 20 s",
        "143 processes",
        "2 disks",
        "postgresql:5432: 82 samples of sessions, 9 sessions at work",
        "412 other figures, 361 settings",
    ),
    not_measured=(),
    figures=(
        Vital("active sessions", 0.4, "on average"),
        Vital("transactions", 251, "per s"),
        Vital("CPU used", 23, "%"),
        Vital("CPU pressure", 0.8, "% of the time"),
        Vital("memory available", 71.3, "%"),
        Vital("vda latency", 0.42, "ms"),
    ),
    judged=("database time", "CPUs", "memory", "disks"),
)
TOP = (
    Holder("statement", "postgresql:5432", "8112", "update account set balance = balance + $1 where id = $2",
           share=0.83, cpu_share=0.12, gets_share=0.4, reads_share=0.004, calls_per_s=31.0, elapsed_ms=512.0),
    Holder("program", "postgresql:5432", "pgbench", share=0.97, cpu_share=0.9),
    Holder("segment", "postgresql:5432", "public.account", gets_share=0.62),
)  # fmt: skip
LOCKED_TIME = (
    TimeShare("Application", "Lock:transactionid", 14.2, 0.798),
    TimeShare("Commit", "WALSync", 1.246, 0.07),
    TimeShare("Application", "Lock:tuple", 1.17, 0.066),
    TimeShare("CPU", "CPU", 0.89, 0.05),
    TimeShare("Scheduler", "run queue", 0.213, 0.012),
    TimeShare("User I/O", "DataFileRead", 0.07, 0.004),
)
LOCKED_FIGURES = (
    Vital("active sessions", 17.8, "on average"),
    Vital("transactions", 31, "per s"),
    *HEALTHY.figures[2:],
)

ONE = replace(
    HEALTHY,
    time=LOCKED_TIME,
    figures=LOCKED_FIGURES,
    top=TOP,
    findings=(LOCKS,),
    not_measured=(NO_WAIT_SAMPLING, NO_DELAY_ACCOUNTING),
)
THREE = replace(ONE, findings=(LOCKS, CONVOY, COMMITS))

_LESSER = (
    ("cpu_saturated", "The CPUs are saturated: processes wait 18 % of their time for one"),
    ("checkpoints_frequent", "Checkpoints come every 21 s, asked for by the WAL's volume"),
    ("buffer_pool_small", "The buffer pool is too small for what is read"),
    ("spill", "Sorts and hashes spill 41 MB/s to temporary files"),
    ("involuntary_switches", "The WAL writer is pushed off its CPU 310 times per s"),
    ("connection_churn", "Connections come and go: 44 per s"),
    ("memory_short", "Memory is short: pages are reclaimed"),
    ("retransmits", "The network loses segments: 2.1 % are sent again"),
)
TWELVE = replace(
    ONE,
    findings=(
        *(LOCKS, CONVOY, COMMITS),
        *(
            replace(COMMITS, cause=cause, title=title, impact=measured(0.15 / i**2))
            for i, (cause, title) in enumerate(_LESSER, 2)
        ),
        CONNECTIONS,
    ),
    time=(*LOCKED_TIME, *(TimeShare("Other", f"Extension:wait_{i}", 0.01, 0.0006) for i in range(9))),
)
HOST_ONLY = replace(
    HEALTHY,
    time_of="processes",
    time=(TimeShare("CPU", "user", 1.2, 0.8), TimeShare("Scheduler", "run queue", 0.3, 0.2)),
    figures=HEALTHY.figures[2:],
    not_measured=(
        NotMeasured(
            "postgresql:5432", "no password is at hand for user postgres", "pg_monitor for a user in ~/.pgpass"
        ),
    ),
    judged=("CPUs", "memory", "disks"),
    not_judged=("database time",),
)
EMPTY = Diagnosis("unknown host", None, None, "processes", (), (), (), ())

HOSTILE = '<script>alert(1)</script>\x1b[31m\u202eevil & "quoted"\'s\n name'
EXAMPLES = {"healthy": HEALTHY, "one": ONE, "three": THREE, "twelve": TWELVE, "host_only": HOST_ONLY, "empty": EMPTY}
