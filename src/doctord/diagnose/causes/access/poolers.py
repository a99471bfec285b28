"""Poolers: clients that wait before the server has seen them, for connections that others have."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from doctord.analyse.figures import Statistic
from doctord.analyse.pools import HELD, Doing, Holder, holders
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, Words, phrase
from doctord.diagnose.words import shortened

# One client in the queue at any time, and a fifth of what its clients see of a transaction: then the pool is too small.
CLIENTS_WAITING = 1.0
WAITING_SHARE = 0.2
# Between two transactions a server of a pool is idle for a moment, also where somebody waits for it.
MOST_IDLE = 0.1
# Half of the servers: with these given back the queue would be gone.
MOST_OF_THEM = 0.5
# Who asked for something within a second is on the way between two statements.
SILENT_S = 1.0
# A queue whose first client waits for so long does not move: nobody behind it is served.
STANDS_STILL_S = 5.0
MOST_NAMED = 3
CONNECTED = "pgbouncer.clients_connected"
TIMED_OUT = "pgbouncer.timed_out"
# Sessions at work below which a server has as good as nothing to do.
NOTHING_TO_DO = 0.1


class Pool(NamedTuple):
    """A pool whose servers are all taken while clients wait: its figures, and who has the servers.

    `is_kept` is whether clients keep a server until they disconnect (pool_mode = session); null: not told.
    """

    db: str | None
    name: str
    waiting: float
    active: float
    taken: float
    longest_s: float
    is_kept: bool | None
    holders: Sequence[Holder]

    @property
    def reason(self) -> Doing | None:
        """What most of its servers do; null where that is not told, or nothing holds for most of them.

        Idle counts only where clients keep their servers: elsewhere who has one is in a transaction, or gives it back.
        """
        known = Counter(one.doing for one in self.holders if one.doing and self._counts(one))
        doing, number = next(iter(known.most_common(1)), (None, 0))
        return doing if number >= MOST_OF_THEM * len(self.holders) else None

    def _counts(self, one: Holder) -> bool:
        return one.doing != "idle" or bool(self.is_kept and one.asked_s >= SILENT_S)


@cause()
def pooler_queue(case: Case) -> Iterator[Claim]:
    """Clients wait at the pooler for a connection to the server.

    Looks like: PgBouncer's statistics show time waited that is no small part of a transaction, or clients are turned
        away with query_wait_timeout; SHOW POOLS has clients that wait, and no server that is idle.
    Hurts because: a client that has logged in at the pooler waits before its first statement runs; the database does
        not see it, and looks idle.
    Speaks for it: time waited for a server each second against the time in transactions; who has the servers, and what
        these do: nothing, as idle clients keep them (pool_mode = session), nothing in an open transaction, or work.
    Speaks against it: less than one client in the queue: bursts.
    Remedy: Find first what keeps the servers of the pool: long transactions, sessions that idle in theirs, a server
        that is saturated (then more connections make it worse). pool_mode = transaction where clients use no session
        state; then raise default_pool_size (and max_db_connections) towards what the server's CPUs can serve.
    Verify: `wait` in PgBouncer's statistics falls towards 0, cl_waiting in SHOW POOLS is 0.
    Source: PgBouncer documentation, "Usage" (SHOW STATS: avg_wait_time, avg_xact_time; SHOW POOLS: cl_waiting; SHOW
        SERVERS: link, request_time) and "Config" (pool_mode, default_pool_size, client_idle_timeout,
        idle_transaction_timeout, query_wait_timeout).
    """
    waited_us, often, each_us = (case.total(f"pgbouncer.{name}") for name in ("wait_time", "xacts", "xact_time"))
    waiting = (waited_us or 0.0) / 1e6
    pools = [*_pools(case)]
    # Counted from a transaction's first statement on, its wait for a server included (measured with 1.18).
    working = max((often or 0.0) * (each_us or 0.0) / 1e6, waiting)
    stands_still = [pool for pool in pools if pool.reason == "idle" and pool.longest_s >= STANDS_STILL_S]
    if stands_still or waiting < CLIENTS_WAITING or waiting < WAITING_SHARE * working:
        yield from (_claim(case, pool) for pool in pools)
        return
    yield Claim(
        phrase("{:.1f} clients wait at PgBouncer for a connection, on average{}", waiting, _why(pools)),
        impact=NOT_MEASURED,
        confidence=0.85,
        for_=[
            Evidence("statistic", "name = 'pgbouncer.wait_time'", phrase("{:.1f} s waited per s", waiting),
                     phrase("{:.0f} s per s", CLIENTS_WAITING), "clients that are in the queue", "at_least"),
            Evidence("statistic", "name = 'pgbouncer.xact_time'", phrase("{:.1f} s in transactions per s", working), "",
                     phrase("{:share} of what clients see is the queue", waiting / working)),
            *_servers_held(case, often or 0.0),
            *(item for pool in pools for item in _evidence(case, pool)),
        ],
        first_steps=[*dict.fromkeys(step for pool in pools for step in _first_steps(pool))],
    )  # fmt: skip


@cause()
def pooler_not_asked(case: Case) -> Iterator[Claim]:
    """A pooler before the server did not let us look at its queue, and the server has as good as nothing to do.

    Looks like: clients are connected to PgBouncer on this host, which leads to the server; its console refuses us, and
        the server's sessions are idle.
    Hurts because: who waits in a pooler is seen by nobody else: an idle server behind it is as well the sign of a quiet
        hour as of a pool that is taken.
    Speaks for it: clients connected to the pooler; how little the server does; in its log clients that it turned away.
    Speaks against it: a server that is at work: its pools pass something on.
    Remedy: Let the user of the check-up look at the console (stats_users of pgbouncer.ini, and RELOAD), or check up as
        root or as the user that PgBouncer runs under; SHOW POOLS there tells who waits (cl_waiting, maxwait), and SHOW
        SERVERS with SHOW CLIENTS who has the servers (link).
    Verify: A check-up tells of its pools.
    Source: PgBouncer documentation, "Config" (stats_users, query_wait_timeout) and "Usage" (SHOW POOLS).
    """
    for clients in case.figures(CONNECTED):
        lost = case.amount(TIMED_OUT, clients.db)
        at_work = case.time.seconds_per_second if case.is_time_measured else None
        answers = any(one.db == clients.db for one in case.figures("pgbouncer.cl_active"))
        if clients.last < 1 or answers or (at_work or 0.0) > NOTHING_TO_DO:
            continue
        if lost:
            title = phrase("PgBouncer turned {:count client/clients} away that no server came free for", round(lost))
        else:
            title = phrase("{:.0f} clients are at PgBouncer before an idle server: whether they wait is not seen",
                           clients.last)  # fmt: skip
        yield Claim(
            title,
            impact=NOT_MEASURED if lost else NONE_YET,
            confidence=0.9 if lost else 0.5,
            severity="critical" if lost else "note",
            for_=[
                Evidence("statistic", f"name = '{CONNECTED}'", phrase("{:.0f} clients connected", clients.last), "",
                         "if something is lost, it is lost before the server"),
                *([Evidence("statistic", f"name = '{TIMED_OUT}'", phrase("{:.0f} times in its log", lost), "none",
                            "query_wait_timeout: they waited that long for a server of their pool")] if lost else []),
                *([] if at_work is None else [
                    Evidence("session", "", phrase("{:.2g} sessions at work on average", at_work),
                             phrase("{:.1f}", NOTHING_TO_DO), "the server is idle", "at_most")]),
            ],
            not_measured=_refused(case, clients),
        )  # fmt: skip


def _refused(case: Case, clients: Statistic) -> Sequence[NotMeasured]:
    return case.not_measured(clients.db) if clients.db else ()


def _pools(case: Case) -> Iterator[Pool]:
    """Pools whose servers are all taken at the moments of a look, and for one of which clients wait."""
    told = {
        name: {(figure.db, figure.entity): figure for figure in case.figures(f"pgbouncer.{name}")}
        for name in ("cl_waiting", "cl_active", "sv_active", "sv_idle", "maxwait", "session_mode")
    }
    for key, waiting in told["cl_waiting"].items():
        active, taken, idle, longest = (
            told[name][key].mean if key in told[name] else 0.0
            for name in ("cl_active", "sv_active", "sv_idle", "maxwait")
        )
        is_short = idle <= MOST_IDLE * taken and waiting.mean >= CLIENTS_WAITING
        if is_short and waiting.mean >= WAITING_SHARE * (waiting.mean + active):
            mode, name = told["session_mode"].get(key), waiting.entity or ""
            kept = None if mode is None else mode.last > 0
            having = holders(case.dataset, waiting.db, name)
            yield Pool(waiting.db, name, waiting.mean, active, taken, longest, kept, having)


def _claim(case: Case, pool: Pool) -> Claim:
    stands_still = pool.reason == "idle" and pool.longest_s >= STANDS_STILL_S
    return Claim(
        phrase("{:.0f} clients wait at PgBouncer for one of {:.0f} servers of {}{}", pool.waiting, pool.taken,
               pool.name, _why([pool])),
        impact=NOT_MEASURED,
        confidence=0.9 if pool.reason else 0.75,
        severity="critical" if stands_still else None,
        for_=_evidence(case, pool),
        first_steps=_first_steps(pool),
    )  # fmt: skip


def _evidence(case: Case, pool: Pool) -> list[Evidence]:
    where = f"entity = '{pool.name}'"
    return [
        Evidence("statistic", f"name = 'pgbouncer.cl_waiting' and {where}",
                 phrase("{}: {:.0f} clients waiting", pool.name, pool.waiting), phrase("{:.0f}", CLIENTS_WAITING),
                 phrase("{:.0f} have a server, none is idle", pool.active), "at_least"),
        Evidence("statistic", f"name = 'pgbouncer.maxwait' and {where}",
                 phrase("{:.3g s} waited by the first of them", pool.longest_s), "",
                 "at the moment of the look: a queue that moves waits briefly each"),
        *_by_owner(case, pool),
    ]  # fmt: skip


def _by_owner(case: Case, pool: Pool) -> Iterator[Evidence]:
    """Who has the servers, by program and address: how many, what they do, since when nothing was asked for."""
    by = dict[tuple[str, Doing | None], list[Holder]]()
    for one in pool.holders:
        by.setdefault((one.who, one.doing), []).append(one)
    for (who, doing), own in sorted(by.items(), key=lambda it: -len(it[1]))[:MOST_NAMED]:
        text = case.statement_text(own[0].statement_id) if doing != "idle" else None
        yield Evidence(
            "statistic",
            f"name = '{HELD}' and entity like '{pool.name} %'",
            phrase("{:count server has/servers have} {} as client, silent for up to {:time}", len(own), who,
                   max(one.asked_s for one in own)),
            "",
            phrase("{}{}", DOES.get(doing, ""), phrase(": {}", shortened(text)) if text else ""),
        )  # fmt: skip


DOES: dict[Doing | None, Words] = {
    "idle": "their sessions at the server are idle, outside a transaction",
    "idle in transaction": "their sessions at the server are idle in a transaction",
    "active": "their sessions at the server are at work",
}
WHY: dict[Doing | None, str] = {
    "idle": ", which idle clients keep (pool_mode = session)",
    "idle in transaction": ", whose transactions stay open",
    "active": ", which are at work",
}


def _why(pools: Sequence[Pool]) -> Words:
    return next((WHY[pool.reason] for pool in pools if pool.reason), "")


def _first_steps(pool: Pool) -> list[Phrase]:
    who = next(iter(Counter(one.who for one in pool.holders).most_common(1)), ("the clients that have them", 0))[0]
    match pool.reason:
        case "idle":
            return [
                phrase(
                    "Now: end {}, or what it is a part of, once you know that it does nothing; then clients are "
                    "served again.",
                    who,
                ),
                phrase(
                    "Then: pool_mode = transaction for {}, if its clients use no session state (SET, temporary "
                    "tables, LISTEN, session advisory locks); else a pool of its own for {} (another user, or a "
                    "second name for the database in [databases], with its own pool_size), so that its sleepers "
                    "take no server from others.",
                    pool.name,
                    who,
                ),
                phrase(
                    "As a safety net client_idle_timeout disconnects clients that ask for nothing; better let {} "
                    "disconnect when its work is done. server_idle_timeout does not help: it is for servers that no "
                    "client has.",
                    who,
                ),
            ]
        case "idle in transaction":
            return [
                phrase(
                    "{} opens transactions and does something else in them: end the transaction before that; "
                    "idle_transaction_timeout of PgBouncer is the safety net.",
                    who,
                )
            ]
        case "active":
            return [
                phrase(
                    "The servers are at work: what their statements wait for stands in the findings of the server; "
                    "a larger pool helps only where its CPUs and disks have room."
                )
            ]
        case _:
            return []  # fmt: skip


def _servers_held(case: Case, often: float) -> list[Evidence]:
    """For how long each transaction keeps a connection of a pool, where somebody looked at the pools."""
    held, sizes = case.total("pgbouncer.sv_active"), case.total("pgbouncer.pool_size")
    if not held or not often:
        return []
    of = phrase(" of {:.0f} that its pools may have", sizes) if sizes else ""
    return [
        Evidence("statistic", "name = 'pgbouncer.sv_active'",
                 phrase("{:.1f} servers at work on average{}", held, of), "",
                 phrase("{:,.0f} transactions/s, each of which keeps one for {:.3g ms}", often, held / often * 1000)),
    ]  # fmt: skip
