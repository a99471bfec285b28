"""Network: segments sent twice."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.figures import mean
from doctord.analyse.spells import held
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.ways import OF_CLIENTS, ways
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, at_most
from doctord.diagnose.phrase import phrase

# A path that loses one segment in a hundred halves what one TCP connection can carry over it (Mathis, 1997).
LOST_SHARE = 0.01
# With fewer segments a single lost packet makes a per cent.
LEAST_SEGMENTS_PER_S = 50.0
LEAST_RETRANSMITS_PER_S = 1.0
REPLICA_EVENTS = ("SyncRep", "WalSenderWaitForWAL", "WalSenderWriteData")


@cause(explains=("clients_do_not_take_results",))
def network_retransmits(case: Case) -> Iterator[Claim]:
    """The network loses segments, and sessions wait for it.

    Looks like: TCP sends segments again; sessions wait to send results, or for a replica's confirmation.
    Hurts because: a lost segment is noticed after a round trip at best, after 200 ms and more at worst; meanwhile the
        connection stands still.
    Speaks for it: share of segments sent again, share of database time waiting for the network or a replica.
    Speaks against it: few segments; errors on no interface; a client that is slow to read, which also shows as waits to
        send.
    Remedy: Look at errors and drops per interface, at both ends and in between (duplex, cables, bonding, MTU, full
        buffers of a switch or a rate limit of the cloud); compare with a transfer to another host.
    Verify: Retransmits per segment under 0.1 % at the same traffic.
    Source: M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion avoidance
        algorithm", 1997; RFC 6298 (retransmission timer).
    """
    tcp = _worst(case.dataset.frame("network").filter(pl.col("interface").is_null()))
    sent, again = mean(tcp, "segments_out_per_s"), mean(tcp, "retransmits_per_s")
    if sent is None or again is None or sent < LEAST_SEGMENTS_PER_S or again < LEAST_RETRANSMITS_PER_S:
        return
    share = _network_share(case)
    if again / sent < LOST_SHARE or (case.dbs and not case.worth_saying(share)):
        return
    for_, against = weigh(
        [
            Sign("network", "interface is null", again / sent * 100, LOST_SHARE * 100, "{:.1f %} of segments again",
                 phrase("{:.0f} of {:.0f per s}", again, sent)),
            Sign("session", "wait_class = 'Network'", share * 100 if case.dbs else None, 5.0,
                 "{:.0f %} of database time waiting for the network or a replica", "sessions wait"),
            *_of_clients(case),
            *_errors(case),
            *past(case, "retransmits"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("{:share} of TCP segments are sent again", again / sent),
        impact=at_most(share) if case.dbs else NOT_MEASURED,
        confidence=0.6 if against or not case.dbs else 0.75,
        for_=for_,
        against=against,
    )


def _worst(tcp: pl.DataFrame) -> pl.DataFrame:
    """The rows of the time in which segments were lost, where that lasted; else all of them."""
    again, sent = pl.col("retransmits_per_s"), pl.col("segments_out_per_s")
    loses = (sent >= LEAST_SEGMENTS_PER_S) & (again >= LEAST_RETRANSMITS_PER_S) & (again >= LOST_SHARE * sent)
    lasting = tcp.filter(pl.col("interval_s") > 0)
    return tcp.filter(loses) if held(lasting, loses).filter("is_lasting").height else tcp


def _network_share(case: Case) -> float:
    """Share of the time waiting for clients' networks or for replicas."""
    return sum(part.share for part in case.time.shares if part.wait_class == "Network" or part.event in REPLICA_EVENTS)


def _of_clients(case: Case) -> list[Sign]:
    """Whether it is the connections of a server's clients that lose them: those that lose most."""
    worst = sorted(ways(case), key=lambda way: -(way.lost or 0.0))
    return [
        Sign("statistic", f"name = '{OF_CLIENTS}retransmits_per_s'", None if way.lost is None else way.lost * 100,
             LOST_SHARE * 100, "{:.1f %} of those to the server's clients", "they are lost on the way to these",
             "others lose them", subject=way.socket)
        for way in worst[:1]
    ]  # fmt: skip


def _errors(case: Case) -> list[Sign]:
    rows = case.dataset.frame("network")
    rows = rows.filter(rows["interface"].is_not_null())
    return [
        Sign("network", "errors_per_s is not null", mean(rows, "errors_per_s"), 0.1,
             "{:.1f errors and drops per s} on the interfaces", "this host loses some of them itself",
             "they are lost elsewhere, or late")
    ]  # fmt: skip
