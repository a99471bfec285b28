"""Running out of connections."""

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from doctord.analyse.errors import failures, logged
from doctord.analyse.figures import Statistic
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
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
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, SEVERITIES, Claim, Evidence
from doctord.diagnose.phrase import phrase

# Where clients that were refused are counted: a server of MySQL does so in both.
REFUSED = {
    "log.connections_refused": "the server's log",
    "global_status.connection_errors_max_connections": "the server's status",
}
NONE_LEFT_STATE = "53300"  # too_many_connections
# What who is refused live is told, as an event, where a limit is reached.
REFUSED_NOW, NONE_LEFT = "refused", "too many clients|connection slots|all connections are taken"


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
    told = [(figure, _count(case, figure)) for name in REFUSED for figure in case.figures(name)]
    most = {figure.db: (figure, count) for figure, count in sorted(told, key=lambda one: one[1])}
    for refusals, count in most.values():
        if count < 1:
            continue
        within = refusals.seconds or case.seconds
        yield Claim(
            phrase("No connection to {} was left: {:count client was/clients were} refused", refusals.db, count),
            impact=NOT_MEASURED,
            confidence=0.95,
            for_=[
                Evidence("statistic", f"name = '{refusals.name}'",
                         phrase("{:,.0f} refused in {:time}", count, within), "",
                         phrase("as {} tells it", REFUSED[refusals.name])),
            ],
            severity="note" if count == 1 else None,
            database=refusals.db,
        )  # fmt: skip


def _count(case: Case, refusals: Statistic) -> int:
    """How many were refused, but for those who met a limit of their own."""
    return round(refusals.mean * (refusals.seconds or case.seconds) - _of_own_limits(case, refusals.db))


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
