"""The way to the clients: too long for so many round trips, and too narrow for what is asked for."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.locking.locks import IDLE_IN_TRANSACTION
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.host.network import LOST_SHARE
from doctord.diagnose.common.ways import OF_CLIENTS, Way, server_of, ways
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim, Evidence, at_most
from doctord.diagnose.phrase import phrase

# Within a data centre a round trip takes half a millisecond, and a few in one region of a cloud.
FAR_MS = 4.0
# One client is always waiting for the way; with less nobody notices.
TRAVELLING = 1.0
# From this many times the least round trip on, most of it is waiting in a queue.
QUEUED = 3.0
# Less would be no queue of a way, but of the network card of one moment.
QUEUED_MS = 10.0
# A transaction that is idle for longer than so many round trips is idle for another reason.
IDLE_TRIPS = 5.0
# Of what is waited for: else the network is not what most of it comes from.
MOST = 0.5
WRITING = "ClientWrite"
# What waits behind sessions that are on the way between two statements.
HELD = ("row_locks", "table_locks", "idle_in_transaction_blocker")


@cause()
def network_latency(case: Case) -> Iterator[Claim]:
    """Clients far away hold locks over round trips, and others wait for them.

    Looks like: sessions are `idle in transaction` (ClientRead) for a round trip at a time, again and again; others wait
        for rows that they have changed; no CPU and no disk is busy. The server's TCP measures a long round trip.
    Hurts because: between two statements of a transaction its locks are held while an answer and the next statement
        travel, which the server cannot hurry; the client itself waits for each statement as long.
    Speaks for it: round trips, by TCP; how many clients are waiting for the way at any time; what others wait behind
        sessions that are idle in their transactions.
    Speaks against it: round trips that are long only while much is sent (a queue on a narrow way); a client whose
        transaction is idle for many round trips: that is work of its own.
    Remedy: Fewer round trips: several statements at once (pipeline mode, a batch, a function or a CTE in place of a
        loop), and begin and commit in one message with the first and the last. Change the row that others want as the
        last thing before the commit. Let the application run where the database does; a pool there does not help.
    Verify: ss -ti shows the same round trip, and the lock waits behind idle transactions fall.
    Source: PostgreSQL documentation, "Pipeline Mode" and "Wait Events of Type Client" (ClientRead); tcp(7), TCP_INFO;
        RFC 6298 (smoothed round-trip time).
    """
    for way in ways(case):
        db, least_ms, travelling = server_of(case, way), way.least_round_trip_ms, way.travel_s_per_s or 0.0
        if least_ms is None or least_ms < FAR_MS or travelling < TRAVELLING:
            continue
        usual_ms, behind = way.round_trip_ms or least_ms, case.roots.behind((IDLE_IN_TRANSACTION,), db)
        short = _behind_short(case, IDLE_TRIPS * usual_ms / 1e3, db)
        if short < MOST or not case.worth_saying(behind * short):
            continue
        for_, against = weigh(
            [
                Sign("statistic", _rows(way, "round_trip_ms"), usual_ms / least_ms, QUEUED,
                     "{:.1f} times that while it is used", "the distance, and no queue", "much of it is a queue",
                     below=True),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("Clients {:time} away hold locks over round trips", least_ms / 1e3),
            impact=at_most(behind * short),
            confidence=0.7 if against else 0.9,
            for_=[
                Evidence("statistic", _rows(way, "least_round_trip_ms"), phrase("{:.0f ms} there and back", least_ms),
                         phrase("{:.0f ms}", FAR_MS),
                         phrase("{:.0f} connections at {}", way.connections, way.socket), "at_least"),
                Evidence("statistic", _rows(way, "travel_s_per_s"), phrase("{:.1f} clients", travelling),
                         phrase("{:.0f}", TRAVELLING), "so many wait for the way at any time", "at_least"),
                Evidence("session", "blocker_sid is not null", phrase("{:share of database}", behind * short), "",
                         phrase("is waited for locks behind transactions idle for no more than {:.0f} round trips",
                                IDLE_TRIPS)),
                *for_,
            ],
            against=against,
            database=db,
            explains=HELD,
        )  # fmt: skip


def _behind_short(case: Case, longest_s: float, db: str | None) -> float:
    """Of what is waited behind idle transactions, the part (0 to 1) behind those idle for no longer than this."""
    idle_s = [(root.longest_idle_s, root.idle_blocked_s) for root in case.blockers if db in (None, root.db)]
    whole_s = sum(blocked_s for _, blocked_s in idle_s)
    return sum(blocked_s for once_s, blocked_s in idle_s if once_s <= longest_s) / whole_s if whole_s else 0.0


@cause(explains=("clients_do_not_take_results",), waits=("network to client",))
def network_narrow(case: Case) -> Iterator[Claim]:
    """Results do not fit through the way to the clients.

    Looks like: sessions wait on `ClientWrite` while their clients read all that comes; the server's TCP has data under
        way all the time, hardly anything is sent again, and a round trip takes many times the least one.
    Hurts because: a statement goes on only as fast as its result leaves; it keeps its snapshot and its connection
        meanwhile, and everything else on that way waits in the same queue.
    Speaks for it: share of database time waiting to send; the round trip against the least one; what is under way, and
        how much gets there each second.
    Speaks against it: connections with nothing under way: their clients do not read; segments sent again: a way that
        loses them.
    Remedy: Send less: the columns and rows that are shown, a LIMIT, sums in place of rows; compress dumps and copies
        before they are sent, and send them at night. Then look for what limits the way: a rate limit of the cloud's
        instance, a VPN, a link of 100 Mbit/s (ethtool), another transfer on it.
    Verify: The round trip under load comes near the least one; the share of `ClientWrite` falls under a twentieth.
    Source: tcp(7), TCP_INFO; RFC 8290 and J. Gettys, K. Nichols, "Bufferbloat: Dark Buffers in the Internet", 2011
        (queues before a bottleneck); PostgreSQL documentation, "Wait Events of Type Client" (ClientWrite).
    """
    for way in ways(case):
        db, usual_ms, least_ms = server_of(case, way), way.round_trip_ms, way.least_round_trip_ms
        share = _writing_share(case, db)
        if not case.worth_saying(share):
            continue
        if usual_ms is None or least_ms is None or usual_ms < max(QUEUED * least_ms, QUEUED_MS):
            continue
        if not way.in_flight_bytes or way.refused > way.connections / 2 or (way.lost or 0.0) >= LOST_SHARE:
            continue
        for_, against = weigh(
            [
                Sign("statistic", _rows(way, "retransmits_per_s"), None if way.lost is None else way.lost * 100,
                     LOST_SHARE * 100, "{:.1f %} of their segments are sent again", "hardly anything is lost", "",
                     below=True),
                Sign("statistic", _rows(way, "refused"), way.refused, 1.0, "{:.1f} clients take nothing",
                     "they read what comes", "some clients do not read", below=True),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("The way to the clients is full: {:bytes/s} get there", way.sent_bytes_per_s or 0.0),
            impact=at_most(share),
            confidence=0.75 if against else 0.85,
            for_=[
                Evidence("session", f"event = '{WRITING}'", phrase("{:share of database}", share), "",
                         "sessions wait to send"),
                Evidence("statistic", _rows(way, "round_trip_ms"), phrase("{:.0f ms} there and back", usual_ms),
                         phrase("{:.0f} times the least, {:.0f ms}", QUEUED, least_ms),
                         "the rest of it is waiting in a queue on the way", "at_least"),
                Evidence("statistic", _rows(way, "in_flight_bytes"), phrase("{:bytes} under way", way.in_flight_bytes),
                         "", phrase("and {:bytes} that wait to be sent", way.unsent_bytes)),
                *for_,
            ],
            against=against,
            database=db,
        )  # fmt: skip


def _writing_share(case: Case, db: str | None) -> float:
    """Share (0 to 1) of the time that sessions of a server wait to send; of all, where samples do not tell whose."""
    total_s = case.database_time_s()
    if db is None or case.active.is_empty() or not total_s:
        return sum(part.share for part in case.time.shares if part.event == WRITING)
    writing = case.active.filter((pl.col("event") == WRITING) & (pl.col("db") == db))
    return float(writing["interval_s"].sum()) / total_s


def _rows(way: Way, name: str) -> str:
    return f"name = '{OF_CLIENTS}{name}' and entity = '{way.socket}'"
