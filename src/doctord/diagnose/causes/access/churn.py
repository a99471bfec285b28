"""Opening connections again and again."""

from collections.abc import Iterator
from typing import NamedTuple

from doctord.analyse.time import processor_times
from doctord.dataset.mysql_names import SERVER_PID
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.access.openers import KEEP, opener
from doctord.diagnose.common.oracle import counted, time_model
from doctord.diagnose.common.system_calls import storm
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, Impact, at_most, measured
from doctord.diagnose.phrase import phrase

# A pool opens a connection now and then; ten a second is a client that opens one for each piece of work.
CONNECTS_PER_S = 10.0
# A thread, where a server starts no process for a connection, costs a tenth of that.
THREADS_PER_S = 100.0
OPENED = "connections opened"
STATEMENTS = "global_status.questions"
THREADS_MADE = "global_status.threads_created"
THREADS_ANEW = 0.1  # of the connections
# A connection for five transactions, or for five statements where these are what is counted.
LITTLE_WORK = 0.2
# A tenth of the CPUs, of clients that do much work with each connection: less is no reason for a pool.
FELT_CPUS = 0.1
LOGON = "connection management call elapsed time"
# One logon that the time model shows starts a process and reads the dictionary: a pool makes one in many seconds.
LOGONS_PER_S = 1.0
# Oracle counts logons of its own parallel servers and jobs too: a client that comes for work commits now and then.
OWN_LOGONS = 2.0  # for each commit
# As PgBouncer logs them; and what share of a pool's clients leave at once that tells of no pool on their side.
POOLER_LOGINS, POOLER_TRANSACTIONS = "pgbouncer.logins", "pgbouncer.xacts"
LEFT_AT_ONCE = "pgbouncer.closed_within_a_second"


@cause(
    explains=(
        "cpu_saturated",
        "cpu_other_processes",
        "accept_queue_overflow",
        "clients_wait_to_connect",
        "logins_slow",
        "log_writer_preempted",
    )
)
def connection_churn(case: Case) -> Iterator[Claim]:
    """Clients open a new connection for almost every transaction.

    Looks like: sessions established per second near the commits per second; the host forks all the time; CPU goes to
        processes that live too short to be sampled, in MySQL to a server that hardly any statement keeps busy. In
        Oracle connection management in the time model. In PgBouncer's log as many logins as transactions, and clients
        that close within a second.
    Hurts because: each connection costs the server a fork or a thread, authentication and empty caches, in Oracle reads
        of the dictionary too: more than a short transaction itself.
    Speaks for it: connections per second and per transaction or statement; CPU of the processes that came and went, or
        of a server of threads beside its statements, or the share of connection management; whose sessions are other
        ones at each look.
    Speaks against it: connections that live long, or little CPU beside the sampled processes; few logons that each take
        long: then the listener, the host, or authentication.
    Remedy: Put a connection pool of fixed size between, sized by CPUs and service time, not by clients; no login for
        each request.
        PostgreSQL: pgbouncer in transaction mode, or the application's own pool; of a foreign server keep_connections.
        Oracle: the application's own pool, or DRCP; a logon trigger that does little.
        MySQL: ProxySQL, or the application's own pool; thread_cache_size so that threads are kept.
    Verify: Connections and forks per second fall to a few; commits per second rise at the same CPU. Oracle: the share
        of connection management falls.
    Source: PostgreSQL documentation, pg_stat_database.sessions; Oracle Database Performance Tuning Guide 19c,
        "Connection management"; MySQL Reference Manual, "Connection Interfaces"; R. Milkowski, "Oracle's listener
        performance", 2008; PgBouncer documentation, "Usage" and "Config" (log_connections); PostgreSQL documentation,
        postgres_fdw, "Connection Management Options".
    """
    db = _server(case)
    connects, commits, managing = case.common(OPENED, db), case.common("commits", db), time_model(case, LOGON)
    if connects is None and (logins := case.total(POOLER_LOGINS)) is not None:
        yield from _at_pooler(case, logins)
    elif managing is None:
        yield from _by_number(case, db, connects, commits)
    elif case.worth_saying(managing):
        for_, against = weigh(
            [Sign("statistic", case.rows_of(OPENED), connects, LOGONS_PER_S, '{:.2f logons per s}',
                  "no pool keeps them", "few, so each takes long")]
        )  # fmt: skip
        yield Claim(
            phrase("Logging on takes {:share of database}", managing),
            impact=managing,
            confidence=0.7 if against else 0.9,
            for_=[*counted(case, f"v$sys_time_model.{LOGON}", "connection management {:.3g} s per s", "5 %"), *for_],
            against=against,
        )


def _server(case: Case) -> str | None:
    """The server to which most connections are opened: another one's transactions are not theirs; null: not told."""
    opened = {db: each for db in case.dbs if (each := case.common(OPENED, db)) is not None}
    return max(opened, key=lambda db: opened[db], default=None)


def _at_pooler(case: Case, logins: float) -> Iterator[Claim]:
    """By the logins that a pooler's log counts: they cost no process, as threads do not."""
    if logins < THREADS_PER_S:
        return
    transactions, at_once = case.total(POOLER_TRANSACTIONS), case.total(LEFT_AT_ONCE)
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{POOLER_LOGINS}'", logins, THREADS_PER_S, "{:.0f logins per s}",
                 "at the pooler's one thread"),
            Sign("statistic", f"name = '{LEFT_AT_ONCE}'", None if at_once is None else at_once / logins, 0.5,
                 "{:share} of the connections are closed within a second", "nothing keeps them",
                 "most of them stay"),
            Sign("statistic", f"name = '{POOLER_TRANSACTIONS}'", transactions and logins / transactions, 0.2,
                 "{:.2f} for each transaction", "each does little work", "each does much work"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Clients log in at the pooler {:.0f} times a second", logins),
        impact=NOT_MEASURED,
        confidence=0.6 if against else 0.9,
        for_=for_,
        against=against,
        first_steps=(
            phrase("Let the application keep its connections to PgBouncer, whose one thread does all logins."),
        ),
    )


def _by_number(case: Case, db: str | None, connects: float | None, commits: float | None) -> Iterator[Claim]:
    """Where the server does not say what logging on costs: by how many there are, and the CPU that nobody sampled."""
    is_threads = (db or "").startswith("mysql:")
    least = THREADS_PER_S if is_threads else CONNECTS_PER_S
    if connects is None or connects < least:
        return
    if case.components == {"oracle"} and commits and connects / commits > OWN_LOGONS:
        return
    statements = case.total(STATEMENTS, db) if is_threads else None
    work, of_work = (statements, "statement") if statements else (commits, "transaction")
    each = connects / work if work else None
    cost = _of_threads(case, db, each) if is_threads else _of_processes(case)
    first = opener(case, db)
    for_, against = weigh(
        [Sign("statistic", "", each, LITTLE_WORK, "{:.2f} " + f"for each {of_work}", "no connection is kept for long",
              "each does much work")]
    )  # fmt: skip
    counted_as = "no transactions were counted" if each is None else ""
    yield Claim(
        phrase(
            "Clients open {:.0f} connections a second{}",
            connects,
            phrase(", most of them {}", first.who) if first else "",
        ),
        impact=cost.impact,
        confidence=0.9 if for_ else 0.6,
        severity="note" if against and cost.cpus is not None and cost.cpus < FELT_CPUS * (case.cpus or 1) else None,
        for_=[
            Evidence("statistic", case.rows_of(OPENED), phrase("{:.0f new sessions/s}", connects),
                     phrase("{:.0f new sessions/s}", least), counted_as, "at_least"),
            *for_,
            *([first.evidence] if first else []),
            *([] if is_threads else _forks(case)),
            *_threads_made(case, connects),
            *cost.evidence,
        ],
        against=against,
        first_steps=(KEEP,) if first and first.is_foreign_server else (),
        explains=_of_own_calls(case, db) if for_ else (),
    )  # fmt: skip


def _threads_made(case: Case, connects: float) -> list[Evidence]:
    """How many threads a server starts anew, where its cache of them serves hardly anybody."""
    made = case.total(THREADS_MADE) or 0.0
    if made < THREADS_ANEW * connects:
        return []
    return counted(case, THREADS_MADE, "{:rate threads created}", "", "the thread cache is small")


class _Cost(NamedTuple):
    """What opening connections costs, and by which figures; `cpus` that it takes, where these are processes."""

    impact: Impact
    evidence: list[Evidence]
    cpus: float | None = None


def _of_processes(case: Case) -> _Cost:
    """Where each connection is a process of the server: the CPU of those that lived too short to be sampled."""
    short_lived_cpu, work = _cpu_of_short_lived(case), case.time.seconds_per_second
    if short_lived_cpu is None:
        return _Cost(NOT_MEASURED, [])
    where = "whole-host CPU less every sampled process, and others that ended between two samples"
    spent = Evidence("process", where, phrase("{:.2f CPUs}", short_lived_cpu),
                     phrase("{:.2f} average active sessions", work),
                     "spent by processes too short-lived to be sampled, opening connections among it")  # fmt: skip
    return _Cost(measured(short_lived_cpu / (short_lived_cpu + work)), [spent], short_lived_cpu)


def _of_threads(case: Case, db: str | None, each: float | None) -> _Cost:
    """Where each is a thread of the server's one process: what that takes of the CPUs beside the sampled statements.

    Receiving statements and sending rows is among it: where a connection serves more than LITTLE_WORK says, only the
    part of it counts that a connection for each so many statements would be.
    """
    pid, total_s = case.setting(SERVER_PID, db), case.database_time_s()
    spent = processor_times(case.dataset).get(db)
    if pid is None or spent is None or not total_s or not case.time.seconds:
        return _Cost(NOT_MEASURED, [])
    part = 1.0 if each is None else min(each / LITTLE_WORK, 1.0)
    beside = Evidence("process", f"pid = {pid}", phrase("{:.2f CPUs}", spent.unsampled_s / case.time.seconds),
                      phrase("{:.2f} average active sessions", case.time.seconds_per_second),
                      "used or waited for by the server at no statement: opening connections among it")  # fmt: skip
    return _Cost(at_most(spent.unsampled_s / total_s * part), [beside])


def _of_own_calls(case: Case, db: str | None) -> tuple[str, ...]:
    """That the server's system calls come of it, where its process is the one that makes most."""
    most = storm(case)
    return ("system_call_storm",) if most and str(most.pid) == case.setting(SERVER_PID, db) else ()


def _forks(case: Case) -> list[Evidence]:
    forks = case.mean("cpu", "forks_per_s")
    if forks is None:
        return []
    return [
        Evidence("cpu", "cpu is null", phrase("{:.0f forks/s} on the host", forks), "", "a backend process for each")
    ]


def _cpu_of_short_lived(case: Case) -> float | None:
    """CPU seconds per second of which neither sampled processes tell nor others that came and went; null if unmeasured.

    What the kernel tells of the own that came and went lacks the forks, and the end of each: so it is not used.
    """
    idle, wait_io = case.mean("cpu", "idle_pct"), case.mean("cpu", "wait_io_pct")
    told = float(case.processes["cpu_s"].sum()) + sum(one.cpu_s for one in case.short_lived if not one.database)
    if idle is None or not case.cpus or not case.processes.height or not case.process_seconds:
        return None
    busy = case.cpus * (100 - idle - (wait_io or 0.0)) / 100
    return max(busy - told / case.process_seconds, 0.0)
