"""Sessions that were left behind: their clients no longer exist, and the server does not know."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from doctord.analyse.held import LOST, Fate, Left
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.connections_held import IN_USE, MOST_NAMED, NEAR_LIMIT, clients_lost, connections_allowed
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, NotMeasured, Severity
from doctord.diagnose.phrase import Phrase, Words, listed, phrase

# Of the limit: with these given back the next hour is safe.
WORTH_SHARE: Final = 0.1
# Of the limit, where it is not near yet: the next such failure of a client takes the rest.
MUCH_SHARE: Final = 0.4
REFUSED: Final = "connection slots|too many clients"
# More numbers in one line are no help; the others are met again.
MOST_PIDS: Final = 100
# Times that are as near to each other as that are said as one.
ALIKE: Final = 1.1
KEEPALIVES: Final = "tcp_keepalives_idle"
ELSEWHERE: Final = NotMeasured(
    "whether these clients still exist",
    "they are on another host, or behind another network namespace, whose sockets are not seen here",
    "on the client's host: ss -tn dst SERVER:PORT lists the connections that it knows; those of pg_stat_activity "
    "(client_addr, client_port) that it does not know are dead.",
)


@cause(explains=("connections_near_limit",))
def clients_gone(case: Case) -> Iterator[Claim]:
    """Sessions keep connections for clients that no longer exist.

    Looks like: many idle sessions of one client, all since before one moment (its host lost its power, was killed or
        cut off), while the client, begun anew, finds no connection left; on the server ss -tn shows them ESTABLISHED.
    Hurts because: a client that goes without a word (no FIN, no RST) leaves its sessions to TCP: they stay, with their
        locks and transactions, until a keepalive is not answered, by default after more than two hours. Each failure of
        the client's host takes as many connections again.
    Speaks for it: where the client was on this host, its end of the connection is missing; of one elsewhere TCP sends
        again or asks without an answer. With less weight: all its sessions stopped before its younger ones began.
    Speaks against it: clients whose end of the connection is there, or that answered a keepalive since: then a pool is
        too large, or does not give back what it took. Of clients elsewhere, or behind a translation of addresses (NAT,
        containers), a missing end proves nothing.
    Remedy: End exactly these sessions with pg_terminate_backend; their transactions are rolled back, which nobody waits
        for any more. So that the server finds out by itself: tcp_keepalives_idle = 60, tcp_keepalives_interval = 10,
        tcp_keepalives_count = 6, and tcp_user_timeout = 120s for what is sent and not acknowledged; by reload, for new
        connections. client_connection_check_interval (14 on) looks only while a statement runs; idle_session_timeout
        (14 on) ends idle sessions whoever has them, so not where a pool keeps them ready;
        idle_in_transaction_session_timeout ends those that hold locks. In the pool a small minimum of idle connections
        and a limit on their age leave fewer behind.
    Verify: A check-up finds no session whose client is gone; connections stay under 80 % of the limit; after the next
        failure of a client's host its sessions are gone within tcp_keepalives_idle + count * interval.
    Source: PostgreSQL documentation, "Connections and Authentication" ("TCP Settings": tcp_keepalives_idle,
        tcp_user_timeout, client_connection_check_interval), idle_session_timeout, pg_terminate_backend; Linux manual,
        tcp(7), sock_diag(7).
    """
    for db in case.dbs:
        limit = connections_allowed(case, db)
        if limit is None:
            continue
        is_near = _is_near(case, db, limit)
        gone, silent = clients_lost(case, db, "gone"), clients_lost(case, db, "silent")
        if len(gone) >= (WORTH_SHARE if is_near else MUCH_SHARE) * limit:
            yield _claim(case, db, limit, gone, "gone", is_near=is_near)
        elif is_near and len(silent) >= WORTH_SHARE * limit:
            yield _claim(case, db, limit, silent, "silent", is_near=is_near)


def _is_near(case: Case, db: str, limit: int) -> bool:
    """Whether the limit is near, or somebody was told that no connection is left."""
    taken = (one for name in IN_USE for one in case.figures(name) if one.db == db)
    return any(one.largest >= NEAR_LIMIT * limit for one in taken) or _is_full(case, db, limit)


def _is_full(case: Case, db: str, limit: int) -> bool:
    events = case.dataset.frame("event").filter((pl.col("db") == db) & (pl.col("kind") == "refused"))
    taken = (one for name in IN_USE for one in case.figures(name) if one.db == db)
    return any(one.largest >= limit for one in taken) or bool(events["text"].str.contains(REFUSED).any())


def _claim(case: Case, db: str, limit: int, lost: Sequence[Left], fate: Fate, *, is_near: bool) -> Claim:
    is_full = _is_full(case, db, limit)
    severity: Severity = "critical" if is_full and fate == "gone" else "warning" if is_near else "note"
    by = Counter(one.who for one in lost).most_common()
    are = "are" if fate == "gone" else "may be"
    return Claim(
        phrase("{:.0f} of {} connections to {} {} kept for clients that no longer exist: {}", len(lost), limit, db, are,
               listed(*(who for who, _ in by[:MOST_NAMED]))),
        impact=NOT_MEASURED if is_full else NONE_YET,
        severity=severity,
        confidence=0.95 if fate == "gone" else 0.5,
        for_=[*_sessions(lost, by, fate), *_keepalives(case, db)],
        not_measured=[ELSEWHERE] if fate == "silent" else (),
        first_steps=_first(db, lost, by, fate),
        database=db,
        explains_waits=fate == "gone",
    )  # fmt: skip


def _sessions(lost: Sequence[Left], by: Sequence[tuple[str, int]], fate: Fate) -> Iterator[Evidence]:
    why = (
        "the server's end of the connection is established, and the client's, which was on this host, is missing"
        if fate == "gone"
        else "TCP gets no answer from there, or all of them stopped before younger sessions of the same client began: "
        "it may have started again"
    )
    for who, number in by[:MOST_NAMED]:
        own = [one.idle_s for one in lost if one.who == who]
        to = phrase(" to {:time}", max(own)) if max(own) > ALIKE * min(own) else ""
        yield Evidence("statistic", f"name = '{LOST[fate]}' and entity like '% {who}'",
                       phrase("{:count session/sessions} of {}, idle for {:time}{}", number, who, min(own), to), "",
                       why)  # fmt: skip


def _keepalives(case: Case, db: str) -> Iterator[Evidence]:
    """When TCP asks whether a client is there: over a Unix socket the server tells 0, which is also the default."""
    idle_s = case.setting(KEEPALIVES, db)
    if idle_s is None or not idle_s.isdigit():
        return
    told: Words = phrase("{} = {}", KEEPALIVES, idle_s)
    why = "as the system has it: two hours (net.ipv4.tcp_keepalive_time), unless somebody changed that"
    yield Evidence("setting", f"name = '{KEEPALIVES}'", told, "", why if idle_s == "0" else
                   "seconds until TCP asks a silent client for the first time")  # fmt: skip


def _first(db: str, lost: Sequence[Left], by: Sequence[tuple[str, int]], fate: Fate) -> list[Phrase]:
    port = db.partition(":")[2]
    at = phrase(" -p {}", port) if port.isdigit() else ""
    pids = ", ".join(str(one.pid) for one in lost[:MOST_PIDS])
    ask = [
        phrase("First ask at {} whether it still knows them: a pool that rests looks the same.", by[0][0]),
    ] if fate == "silent" else []  # fmt: skip
    return [
        *ask,
        phrase('{}psql{} -c "select pg_terminate_backend(pid) from pg_stat_activity where state like \'idle%\' and '
               'pid in ({})" ends exactly these{}.', "Then: " if ask else "Now: ", at, pids,
               phrase(" ({} of {})", MOST_PIDS, len(lost)) if len(lost) > MOST_PIDS else ""),
    ]  # fmt: skip
