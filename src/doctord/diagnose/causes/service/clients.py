"""Clients that keep the server waiting: they do not take what they asked for."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.locking.locks import Blocker
from doctord.diagnose.case import WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.ways import OF_CLIENTS, ways
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import Words, listed, phrase

# PostgreSQL's event of a backend whose socket takes no more.
WRITING = "ClientWrite"
# Of its active time: a session whose client reads steadily is seen at work between two writes.
STUCK_PART = 0.9
# Switches a second of a backend that is woken at all: each write that goes through is one.
MOVES_PER_S = 1.0
MOST_NAMED = 3
# What others wait for behind such a session, and what it looks like between two results.
HELD_BY_SUCH = ("row_locks", "table_locks", "idle_in_transaction_blocker")


@cause(waits=("network to client",))
def clients_do_not_take_results(case: Case) -> Iterator[Claim]:
    """Sessions have results to send, and their clients do not take them.

    Looks like: sessions that are active and wait on PostgreSQL's `ClientWrite` for seconds on end: the buffers of their
        sockets are full; their processes use no CPU.
    Hurts because: the statement goes on only as fast as its client reads: it keeps its snapshot, its locks and its
        connection as long, and whoever needs them waits too. Cancelling the statement does not reach it.
    Speaks for it: share of database time in it, by how many sessions, how long; processes that are never woken;
        connections with bytes to send and none under way.
    Speaks against it: processes that are woken again and again: results flow, they are large or the way is narrow;
        segments that TCP sends again: then the network; a single session, as a dump or a report may be.
    Remedy: Look at the client, by its address, program and pid (pg_stat_activity, ss -tnp): is it stopped, busy, out of
        memory, or does a user page through a result? ss -tni on the server tells rwnd_limited where the client does not
        read, and retrans and a small cwnd where it is the way. Let it fetch what it shows (LIMIT, a cursor with a fetch
        size), or read all at once and work afterwards; no locks in a transaction that sends much. Where results are
        large and flow: fewer columns and rows.
        PostgreSQL: pg_terminate_backend ends such a session, pg_cancel_backend does not; tcp_user_timeout ends those
        whose client's host is gone.
    Verify: The share of `ClientWrite` falls under a twentieth of the time.
    Source: PostgreSQL documentation, "Wait Events of Type Client", pg_terminate_backend, tcp_user_timeout.
    """
    writing = case.active.filter(pl.col("event") == WRITING)
    total = case.database_time_s()
    if writing.is_empty() or not total:
        return
    share = float(writing["interval_s"].sum()) / total
    if not case.worth_saying(share):
        return
    sids = writing["sid"].unique(maintain_order=True).to_list()
    roots = [root for root in case.blockers if root.sid in sids and root.event == WRITING]
    stuck_s, moves = _longest_s(case), _switches_per_s(case, writing)
    for_, against = weigh(
        [
            Sign("session", f"event = '{WRITING}'", float(len(sids)), 2.0, "{:.0f} sessions", "not one client alone",
                 "one client alone, as of a dump or a report"),
            Sign("process", "", moves, MOVES_PER_S, "their processes are woken {:.1f} times per s",
                 "nothing moves", "results flow: they are large, or the way to the client is narrow", below=True),
            *_refused(case),
            Sign("network", "interface is null", case.mean("network", "retransmits_per_s"), MOVES_PER_S,
                 "{:.1f segments sent again per s}", "", "the network loses some", below=True),
        ]
    )  # fmt: skip
    yield Claim(
        listed(_title(share, len(sids), stands=not moves or moves <= MOVES_PER_S), *map(_holding, roots[:1]), by="; "),
        impact=share,
        confidence=0.75 if len(sids) > 1 and against else 0.9,
        severity="note" if len(sids) == 1 and not roots else None,
        for_=[
            Evidence("session", f"event = '{WRITING}'", phrase("{:share of database}", share),
                     phrase("{:share}", WORTH_SAYING_SHARE), phrase("for up to {:time} on end", stuck_s), "at_least"),
            *for_,
            *_who(case, sids),
            *(Evidence("session", f"blocker_sid = {root.sid}",
                       phrase("session {} makes others wait for {:.0f s}", root.sid, root.blocked_s), "",
                       "it holds locks meanwhile") for root in roots[:MOST_NAMED]),
        ],
        against=against,
        explains=HELD_BY_SUCH if roots else (),
    )  # fmt: skip


def _refused(case: Case) -> list[Sign]:
    """How many connections from elsewhere have bytes to send and none under way, as the kernel's TCP tells."""
    return [
        Sign("statistic", f"name = '{OF_CLIENTS}refused' and entity = '{way.socket}'", way.refused, 1.0,
             "{:.1f} connections have bytes to send, and none under way", "their clients take nothing")
        for way in ways(case)[:1]
    ]  # fmt: skip


def _title(share: float, sessions: int, *, stands: bool) -> Words:
    how = "do not take their results" if stands else "take their results slowly"
    return phrase(
        "Clients {}: {:count session waits/sessions wait} for them, {:share of database}", how, sessions, share
    )


def _holding(root: Blocker) -> Words:
    """Whom the locks of such a session keep waiting."""
    who = root.program or root.user or "unknown"
    return phrase("session {} ({}) keeps {:count other/others} waiting for its locks", root.sid, who, root.waiters)


def _longest_s(case: Case) -> float | None:
    """How long a statement had been running at most when its session was seen to wait so."""
    longest = case.dataset.frame("session").filter(pl.col("event") == WRITING)["statement_s"].max()
    return float(str(longest)) if longest is not None else None


def _switches_per_s(case: Case, writing: pl.DataFrame) -> float | None:
    """How often a second the processes of sessions that hardly do anything else are woken; null if not measured."""
    mine = case.active.filter(pl.col("pid").is_in(writing["pid"].implode()))
    part = (pl.col("interval_s").filter(pl.col("event") == WRITING).sum() / pl.col("interval_s").sum()).alias("part")
    stuck = mine.group_by("pid", maintain_order=True).agg(part).filter(pl.col("part") >= STUCK_PART)["pid"]
    rows = case.dataset.frame("process").filter(pl.col("pid").is_in(stuck.implode()))
    moves = rows["vcsw_per_s"].drop_nulls().median()
    return float(str(moves)) if moves is not None else None


def _who(case: Case, sids: list[int]) -> list[Evidence]:
    """The clients, by program, user and address, those of most samples first."""
    rows = case.dataset.frame("session").filter((pl.col("event") == WRITING) & pl.col("sid").is_in(sids))
    who = (
        rows.group_by("program", "user", "client", maintain_order=True)
        .agg(pl.col("sid").n_unique().alias("sessions"), pl.len())
        .sort("len", descending=True, maintain_order=True)
    )
    return [
        Evidence("session", f"program = '{program}'",
                 phrase("{} of {} at {}: {:count session/sessions}", program or "a program without a name",
                        user or "an unknown user", client or "this host", sessions), "", "")
        for program, user, client, sessions, _ in who.head(MOST_NAMED).iter_rows()
    ]  # fmt: skip
