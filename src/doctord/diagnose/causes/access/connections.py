"""Connections: opening them, and running out of them."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from doctord.analyse.errors import failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.access.openers import KEEP, opener
from doctord.diagnose.common import logins_held
from doctord.diagnose.common.connections_held import (
    IN_USE,
    NEAR_LIMIT,
    connections_allowed,
    evidence,
    fewer,
    held_by,
    mostly,
)
from doctord.diagnose.common.login_refusals import DATABASE_FULL, ROLE_FULL, refusal_of
from doctord.diagnose.common.oracle import counted, time_model
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, SEVERITIES, Claim, Evidence
from doctord.diagnose.phrase import phrase

# A pool opens a connection now and then; ten a second is a client that opens one for each piece of work.
CONNECTS_PER_S = 10.0
# A thread, where a server starts no process for a connection, costs a tenth of that.
THREADS_PER_S = 100.0
OPENED = "connections opened"
LOGON = "connection management call elapsed time"
# One logon that the time model shows starts a process and reads the dictionary: a pool makes one in many seconds.
LOGONS_PER_S = 1.0
# Oracle counts logons of its own parallel servers and jobs too: a client that comes for work commits now and then.
OWN_LOGONS = 2.0  # for each commit
# As PgBouncer logs them; and what share of a pool's clients leave at once that tells of no pool on their side.
POOLER_LOGINS, POOLER_TRANSACTIONS = "pgbouncer.logins", "pgbouncer.xacts"
LEFT_AT_ONCE = "pgbouncer.closed_within_a_second"
# Where clients that were refused are counted.
REFUSED = {
    "log.connections_refused": "the server's log",
    "global_status.connection_errors_max_connections": "the server's status",
}
NONE_LEFT_STATE = "53300"  # too_many_connections
# What who is refused live is told, as an event, where a limit is reached.
REFUSED_NOW, NONE_LEFT = "refused", "too many clients|connection slots|all connections are taken"


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
        processes that live too short to be sampled. In Oracle connection management in the time model. In PgBouncer's
        log as many logins as transactions, and clients that close within a second.
    Hurts because: each connection costs the server a fork or a thread, authentication and empty caches, in Oracle reads
        of the dictionary too: more than a short transaction itself.
    Speaks for it: connections per second and per transaction; CPU of the processes that came and went, or the share of
        connection management; whose sessions are other ones at each look.
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
    least = THREADS_PER_S if case.components == {"mysql"} else CONNECTS_PER_S
    if connects is None or connects < least:
        return
    if case.components == {"oracle"} and commits and connects / commits > OWN_LOGONS:
        return
    short_lived_cpu = _cpu_of_short_lived(case)
    work = case.time.seconds_per_second
    impact = NOT_MEASURED if short_lived_cpu is None else short_lived_cpu / (short_lived_cpu + work)
    first = opener(case, db)
    yield Claim(
        phrase(
            "Clients open {:.0f} connections a second{}",
            connects,
            phrase(", most of them {}", first.who) if first else "",
        ),
        impact=impact,
        confidence=0.9 if commits and connects / commits > 0.2 else 0.6,
        for_=[
            Evidence(
                "statistic",
                case.rows_of(OPENED),
                phrase("{:.0f new sessions/s}", connects),
                phrase("{:.0f new sessions/s}", least),
                phrase("{:.2f} for each transaction", connects / commits)
                if commits
                else "no transactions were counted",
                "at_least",
            ),
            *([first.evidence] if first else []),
            *_forks(case),
            *counted(case, "global_status.threads_created", "{:rate threads created}", "", "the thread cache is small"),
            *(
                [
                    Evidence(
                        "process",
                        "whole-host CPU less every sampled process, and others that ended between two samples",
                        phrase("{:.2f CPUs}", short_lived_cpu),
                        phrase("{:.2f} average active sessions", work),
                        "spent by processes too short-lived to be sampled, opening connections among it",
                    )
                ]
                if short_lived_cpu is not None
                else []
            ),
        ],
        against=[
            Evidence(
                "statistic",
                "",
                phrase("{:.2f} per transaction", connects / commits),
                phrase("{:.1f}", 0.2),
                "each does much work",
                "at_least",
            )
        ]
        if commits and connects / commits <= 0.2
        else [],
        first_steps=(KEEP,) if first and first.is_foreign_server else (),
    )


@cause()
def connections_near_limit(case: Case) -> Iterator[Claim]:
    """Almost all connections that the server allows are in use.

    Looks like: client connections close to max_connections less the reserved ones; clients that were refused because
        none was left ("too many clients already", "remaining connection slots are reserved"). Or as many are held by
        clients that connect and never finish logging in, which no view shows.
    Hurts because: the next client is refused, and a restart of the application makes it worse.
    Speaks for it: connections against the limit; how many clients were refused, and when; who holds them, since when
        these are idle, and whether their clients are there; logins that are not finished, from which address and since
        when, beside the places that the server has.
    Speaks against it: most of them idle: then a pool, not a higher limit, is the answer.
    Remedy: Find the clients that keep idle connections and pool them; raise max_connections only with memory for it.
    Verify: Connections stay under 80 % of the limit at the busiest hour.
    Source: PostgreSQL documentation, max_connections, superuser_reserved_connections and authentication_timeout; MySQL
        Reference Manual, "Too many connections".
    """
    yield from (_with_unfinished_logins(case, claim) for claim in _near_limit(case))


def _with_unfinished_logins(case: Case, claim: Claim) -> Claim:
    """The claim with those who hold places without ever being in, where these are many: a pool helps against none."""
    found = logins_held.unfinished(case, claim.database)
    if not found:
        return claim
    return replace(
        claim,
        title=phrase("{}: {}", claim.title, logins_held.named(found)),
        for_=[*claim.for_, *logins_held.evidence(case, claim.database, found)],
        remedy=logins_held.first_steps(found),
        first_steps=(),
        verify=("No login is under way for seconds (statistic logins.held_s), and nobody is refused.",),
        explains=[*claim.explains, "logins_slow"],
    )


def _near_limit(case: Case) -> Iterator[Claim]:
    """One claim for each server, of all ways in which it shows."""
    seen, told = [*_taken(case), *_refused_us(case)], [*_refused(case), *_held_by_logins(case)]
    first = {claim.database: claim for claim in reversed(seen)}
    told = [replace(claim, explains=_symptoms(case, claim.database)) for claim in told]
    for claim in first.values():
        same = [one for one in (*seen, *told) if one.database == claim.database and one is not claim]
        worst = min((claim, *same), key=lambda one: SEVERITIES.index(one.graded)).graded
        yield replace(
            claim,
            for_=[*claim.for_, *(item for one in same for item in one.for_)],
            severity=worst,
            explains=_symptoms(case, claim.database),
        )
    yield from (claim for claim in told if claim.database not in first)


def _symptoms(case: Case, db: str | None) -> list[str]:
    """That the log has errors, where it has none but refused connections."""
    errors = [one for one in failures(logged(case.dataset)) if one.db == db]
    return ["errors_logged"] if errors and all(one.state == NONE_LEFT_STATE for one in errors) else []


def _taken(case: Case) -> Iterator[Claim]:
    """Servers almost all of whose connections were in use at some look."""
    for used in (figure for name in IN_USE for figure in case.figures(name)):
        limit = connections_allowed(case, used.db)
        if limit is None or used.largest < NEAR_LIMIT * limit:
            continue
        idle = sum(f.last for f in case.figures("pg_stat_activity.connections_idle") if f.db == used.db)
        mostly_idle = idle > used.largest / 2
        found = held_by(case, used.db)
        yield Claim(
            phrase("{:.0f} of {} connections to {} are taken{}", used.largest, limit, used.db,
                   mostly(found, used.largest)),
            impact=NONE_YET if used.largest < limit else NOT_MEASURED,
            severity="warning" if used.largest < limit else "critical",
            confidence=0.95,
            for_=[
                Evidence(
                    "statistic",
                    f"name = '{used.name}'",
                    phrase("{:.0f} connections of {}", used.largest, limit),
                    phrase("{:.0f}", NEAR_LIMIT * limit),
                    "the next clients are refused",
                    "at_least",
                ),
                *evidence(case, used.db, found, limit),
            ],
            against=[Evidence("statistic", "", phrase("{:.0f} of them idle", idle), "half", "the work needs fewer")]
            if mostly_idle
            else [],
            first_steps=fewer(found, used.largest),
            database=used.db,
        )  # fmt: skip


def _held_by_logins(case: Case) -> Iterator[Claim]:
    """Servers almost all of whose places are held by logins that are never finished, before anybody was refused."""
    refused = {claim.database for claim in (*_taken(case), *_refused_us(case), *_refused(case))}
    for db in case.dbs:
        found = logins_held.unfinished(case, db)
        used = next((figure.largest for figure in case.figures(IN_USE[0]) if figure.db == db), 0.0)
        if db not in refused and logins_held.are_near_limit(case, db, used, found):
            yield Claim(
                phrase("Almost no connection to {} is left", db),
                impact=NONE_YET,
                severity="warning",
                confidence=0.9,
                for_=[
                    Evidence("statistic", f"name = '{IN_USE[0]}' and db = '{db}'",
                             phrase("{:.0f} connections in use", used), "", "beside those that are not in"),
                ],
                database=db,
            )  # fmt: skip


def _refused(case: Case) -> Iterator[Claim]:
    """Clients that found no connection left, as the server counts or logs them: each is service that was lost."""
    for name, table in REFUSED.items():
        for refusals in case.figures(name):
            count = round(refusals.mean * (refusals.seconds or case.seconds) - _of_own_limits(case, refusals.db))
            if count < 1:
                continue
            within = refusals.seconds or case.seconds
            yield Claim(
                phrase("No connection to {} was left: {:count client was/clients were} refused", refusals.db, count),
                impact=NOT_MEASURED,
                confidence=0.95,
                for_=[
                    Evidence("statistic", f"name = '{name}'", phrase("{:,.0f} refused in {:time}", count, within), "",
                             phrase("as {} tells it", table)),
                ],
                severity="note" if count == 1 else None,
                database=refusals.db,
            )  # fmt: skip


def _of_own_limits(case: Case, db: str | None) -> float:
    """How many met the CONNECTION LIMIT of their role or database (`logins_refused`): the log counts them too."""
    messages = [one for one in failures(logged(case.dataset)) if one.db == db]
    return sum(one.count for one in messages if refusal_of(one) in (ROLE_FULL, DATABASE_FULL))


def _refused_us(case: Case) -> Iterator[Claim]:
    """Connections of our own that were refused as none was left: whoever came then was refused too."""
    events = case.dataset.frame("event").filter(pl.col("kind") == REFUSED_NOW)
    for (db,), told in events.filter(pl.col("text").str.contains(NONE_LEFT)).partition_by("db", as_dict=True).items():
        yield Claim(
            phrase("No connection to {} was left at {:count attempt/attempts} to log in", db, told.height),
            impact=NOT_MEASURED,
            confidence=0.95,
            severity="critical",
            for_=[
                Evidence("event", f"kind = '{REFUSED_NOW}' and db = '{db}'",
                         phrase("{:count login/logins} refused", told.height), "none", told["text"][-1]),
            ],
            database=str(db),
        )  # fmt: skip


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
