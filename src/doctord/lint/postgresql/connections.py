"""Settings of PostgreSQL about clients: how many, how they arrive, how long they may hold on."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from doctord.analyse.host.accept_delays import dropped
from doctord.analyse.time import RUN_QUEUE
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.postgresql.figures import (
    connections,
    counted,
    is_felt,
    kernel_number,
    largest,
    last,
    total,
    waited_in,
)
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

NEAR: Final = 0.9
_PORT: Final = 5432
OLD_S: Final = 300.0
LONG_PAUSE_S: Final = 5.0  # no program that is at work thinks for so long; a timeout below ends honest ones
SENDERS_COUNTED_UNTIL: Final = (12,)
# What Linux takes where the server leaves it alone: tcp(7).
KEEPALIVE_S, PROBE_S, PROBES = 7200.0, 75.0, 9.0


@rule("postgresql")
def max_connections_reached(subject: Subject) -> Iterator[Violation]:
    """Almost all connections that the server allows were in use.

    Why: the next client is refused.
    Evidence: the most connections that were seen against max_connections less the reserved ones.
    Fix: A pool where most of them are idle; else raise max_connections, with the memory that work_mem may take.
    Verify: Connections at the busiest hour.
    Source: PostgreSQL documentation, Connection Settings, max_connections.
    """
    allowed, seen = connections(subject), largest(subject, "pg_stat_activity.connections")
    if not allowed or seen is None or seen < NEAR * allowed:
        return
    idle = largest(subject, "pg_stat_activity.connections_idle")
    yield subject.violation(
        phrase("max_connections = {}: {:.0f} of {:.0f} were taken", subject.text("max_connections"), seen, allowed),
        "max_connections",
        "superuser_reserved_connections",
        "reserved_connections",
        cost=phrase("{:.0f} more clients can connect, then they are refused", max(allowed - seen, 0)),
        severity=Severity.ERROR if seen >= allowed else Severity.WARNING,
        evidence=[
            counted(
                "pg_stat_activity.connections", phrase("{:.0f}", seen), phrase("{:share} of {:.0f}", NEAR, allowed)
            ),
            *(
                [counted("pg_stat_activity.connections_idle", phrase("{:.0f} idle", idle), "", "a pool")]
                if idle
                else []
            ),
        ],
    )


@rule("postgresql")
def all_connections_reserved(subject: Subject) -> Iterator[Violation]:
    """Reserved connections leave none for others: the server does not start.

    Why: superuser_reserved_connections and reserved_connections (before version 12 max_wal_senders, too) are taken from
        max_connections.
    Evidence: the sum against max_connections.
    Fix: Raise max_connections, or reserve fewer.
    Verify: The server starts.
    Source: PostgreSQL documentation, Connection Settings, superuser_reserved_connections.
    """
    names = ["superuser_reserved_connections", "reserved_connections"]
    if subject.version and subject.version < SENDERS_COUNTED_UNTIL:
        names.append("max_wal_senders")
    allowed, reserved = subject.number("max_connections"), sum(subject.number(name) or 0.0 for name in names)
    if allowed is not None and reserved >= allowed:
        yield subject.violation(
            phrase("{:.0f} of max_connections = {:.0f} are reserved", reserved, allowed),
            "max_connections",
            *names,
            cost="the server does not start",
            severity=Severity.ERROR,
        )


@rule("postgresql")
def too_many_at_once(subject: Subject) -> Iterator[Violation]:
    """More sessions work at once than the CPUs can serve, and max_connections lets them.

    Why: they queue for the CPUs all the same, and hold locks and memory meanwhile.
    Evidence: sessions that were at work on average against the CPUs; time in the run queue.
    Fix: A pool (pgbouncer) with two to three connections for each CPU to begin with.
    Verify: Time in the run queue falls, transactions a second do not.
    Source: PostgreSQL documentation, Connection Settings; N. Gunther, Universal Scalability Law, 1993.
    """
    cpus, share = subject.machine.cpus, subject.case.time.share(*RUN_QUEUE) if subject.is_measured else None
    at_work = subject.case.time.seconds_per_second
    if cpus and share is not None and at_work > 2 * cpus and is_felt(subject, share):
        yield subject.violation(
            phrase(
                "max_connections = {} lets {:.0f} sessions work on {} CPUs",
                subject.text("max_connections"),
                at_work,
                cpus,
            ),
            "max_connections",
            cost=phrase("{:share of database} is the queue for a CPU", share),
            impact=share,
            evidence=[
                Evidence("session", "state = 'active'", phrase("{:.1f} at work", at_work), phrase("{} CPUs", cpus), "")
            ],
        )


@rule("postgresql")
def accept_queue_short(subject: Subject) -> Iterator[Violation]:
    """The kernel cuts the queue of clients that connect, below what the server asks for.

    Why: the server asks for twice max_connections; net.core.somaxconn cuts it. When all clients come back at once, the
        rest is dropped, and each comes again after 1, 3, 7 s.
    Evidence: both figures; connection requests that were dropped.
    Fix: net.core.somaxconn = twice max_connections (4096 is the default of Linux 5.4 and later); then restart.
    Verify: TcpExtListenOverflows in nstat stands still when clients come back.
    Source: listen(2); PostgreSQL, ListenServerPort in pqcomm.c.
    """
    clients, most = subject.number("max_connections"), kernel_number(subject, "net.core.somaxconn")
    lost = dropped(subject.case.dataset, int(subject.number("port") or _PORT))
    if not clients or most is None or most >= clients:
        return
    yield subject.violation(
        phrase("net.core.somaxconn = {:.0f} for max_connections = {:.0f}", most, clients),
        "max_connections",
        cost=phrase("{:.1f} connection requests were dropped each second", lost.per_s)
        if lost and lost.per_s
        else phrase(
            "when all clients come back at once, {:.0f} are queued; the other {:.0f} wait a second",
            most,
            clients - most,
        ),
        severity=Severity.WARNING if lost and lost.per_s else Severity.NOTE,
        evidence=[Evidence(lost.table, lost.filter, phrase("{:.1f per s}", lost.per_s), "0", "")]
        if lost and lost.per_s
        else [],
    )


@rule("postgresql", since=(9, 6))
def idle_in_transaction_unlimited(subject: Subject) -> Iterator[Violation]:
    """Transactions lie open for minutes, and nothing ends them.

    Why: they hold locks, and keep vacuum from removing what died since they began.
    Evidence: idle transactions that were seen, how old they were, and the time that others waited for them.
    Fix: idle_in_transaction_session_timeout (and transaction_timeout from 17 on) above the longest honest pause.
    Verify: No session is idle in transaction for longer.
    Source: PostgreSQL documentation, Statement Behavior, idle_in_transaction_session_timeout.
    """
    if subject.number("idle_in_transaction_session_timeout") or subject.number("transaction_timeout"):
        return
    seen = subject.case.dataset.frame("session").filter(pl.col("state").str.starts_with("idle in transaction"))
    oldest = seen["transaction_s"].max()
    if not isinstance(oldest, float | int) or subject.get("idle_in_transaction_session_timeout") is None:
        return
    spent = subject.case.database_time_s()
    behind = sum(one.idle_blocked_s for one in subject.case.blockers if one.longest_idle_s >= LONG_PAUSE_S)
    share = min(behind / spent, 1.0) if spent else None
    if oldest < OLD_S and not is_felt(subject, share):
        return
    yield subject.violation(
        phrase("idle_in_transaction_session_timeout = 0, and a transaction lay open for {:duration}", oldest),
        "idle_in_transaction_session_timeout",
        "transaction_timeout",
        cost=phrase("{:share of database} waited behind idle transactions", share)
        if share
        else phrase("nothing that died in {:duration} can be removed", oldest),
        impact=share,
        severity=max(Severity.WARNING, Severity.of(share)),
        changes=[subject.change("idle_in_transaction_session_timeout", "5min", "reload")],
    )


@rule("postgresql")
def dead_clients_kept(subject: Subject) -> Iterator[Violation]:
    """Connections of clients that vanished are kept for hours, while connections run short.

    Why: without keepalives of its own the server learns of a dead client when the kernel does.
    Evidence: tcp_keepalives_idle, _interval and _count; idle connections near the limit.
    Fix: tcp_keepalives_idle = 60, tcp_keepalives_interval = 10, tcp_keepalives_count = 6.
    Verify: Idle connections fall after clients are cut off.
    Source: PostgreSQL documentation, TCP Settings; tcp(7).
    """
    idle, allowed = largest(subject, "pg_stat_activity.connections_idle"), connections(subject)
    wait_s = subject.number("tcp_keepalives_idle")
    if not allowed or idle is None or wait_s is None or idle < NEAR * allowed / 2:
        return
    wait_s = wait_s or KEEPALIVE_S
    probes = (subject.number("tcp_keepalives_interval") or PROBE_S) * (subject.number("tcp_keepalives_count") or PROBES)
    if wait_s + probes >= KEEPALIVE_S:
        yield subject.violation(
            phrase("a client that vanishes keeps its connection for {:.1f h}", (wait_s + probes) / 3600),
            "tcp_keepalives_idle",
            "tcp_keepalives_interval",
            "tcp_keepalives_count",
            cost=phrase(
                "{:.0f} of {:.0f} connections are idle; the dead among them are kept for {:.0f} + {:.0f} s",
                idle,
                allowed,
                wait_s,
                probes,
            ),
            severity=Severity.NOTE,
            changes=[subject.change("tcp_keepalives_idle", "60", "reload")],
        )


@rule("postgresql")
def deadlock_timeout_long(subject: Subject) -> Iterator[Violation]:
    """Each deadlock holds its sessions for deadlock_timeout before anybody looks.

    Why: the check runs only after a session has waited that long.
    Evidence: deadlocks a second x deadlock_timeout, as a share of database time.
    Fix: The application has to take its locks in one order; until then a shorter deadlock_timeout.
    Verify: Time waited for locks, and deadlocks a second.
    Source: PostgreSQL documentation, Lock Management, deadlock_timeout.
    """
    timeout_s, deadlocks = subject.number("deadlock_timeout"), total(subject, "pg_stat_database.deadlocks")
    if not timeout_s or not deadlocks or not subject.is_measured:
        return
    share = min(2 * timeout_s * deadlocks / subject.case.time.seconds_per_second, 1.0)
    if is_felt(subject, share):
        yield subject.violation(
            phrase("deadlock_timeout = {:g} s with {:.2g} deadlocks a second", timeout_s, deadlocks),
            "deadlock_timeout",
            cost=phrase("2 sessions x {:g} s x {:.2g} a second = {:share of database}", timeout_s, deadlocks, share),
            impact=share,
            evidence=[counted("pg_stat_database.deadlocks", phrase("{:.2g per s}", deadlocks), "0")],
        )


@rule("postgresql", since=(9, 3))
def lock_timeout_off(subject: Subject) -> Iterator[Violation]:
    """Sessions wait for locks for minutes, and nothing ends their wait.

    Why: a statement that waits for a strong lock (ALTER TABLE) holds up all that come after it.
    Evidence: the longest wait for a lock that was seen; the share of time in waits for locks.
    Fix: lock_timeout for the roles that change tables (ALTER ROLE ... SET lock_timeout = '5s').
    Verify: No session waits for a lock for longer.
    Source: PostgreSQL documentation, Statement Behavior, lock_timeout.
    """
    share, off = waited_in(subject, "Application"), subject.number("lock_timeout") == 0
    waits = subject.case.dataset.frame("session").filter(pl.col("blocker_sid").is_not_null())
    longest = waits["in_state_s"].max()
    if off and isinstance(longest, float | int) and longest >= OLD_S and is_felt(subject, share):
        yield subject.violation(
            phrase("lock_timeout = 0, and a session waited {:duration} for a lock", longest),
            "lock_timeout",
            "statement_timeout",
            cost=phrase("{:share of database} waits for locks", share or 0.0),
            impact=share,
        )


@rule("postgresql")
def prepared_transactions_forgotten(subject: Subject) -> Iterator[Violation]:
    """Prepared transactions lie there that nobody ends.

    Why: they hold locks and keep vacuum back for ever, also over restarts; max_prepared_transactions allows them.
    Evidence: prepared transactions that were seen, and the age of the oldest.
    Fix: End them (ROLLBACK PREPARED); max_prepared_transactions = 0 where no transaction manager uses them.
    Verify: pg_prepared_xacts is empty.
    Source: PostgreSQL documentation, PREPARE TRANSACTION; max_prepared_transactions.
    """
    oldest, count = largest(subject, "pg_prepared_xacts.oldest_s"), last(subject, "pg_prepared_xacts.count")
    if subject.number("max_prepared_transactions") and count and oldest and oldest >= OLD_S:
        yield subject.violation(
            phrase(
                "max_prepared_transactions = {}: {:.0f} are forgotten", subject.text("max_prepared_transactions"), count
            ),
            "max_prepared_transactions",
            cost=phrase("locks, and all that died in {:duration}, are kept until somebody ends them", oldest),
            severity=Severity.WARNING,
            evidence=[counted("pg_prepared_xacts.oldest_s", phrase("{:,.0f s}", oldest), phrase("{:.0f s}", OLD_S))],
        )
