"""Network: segments sent twice, and answers that never arrive."""

from collections.abc import Iterator

import polars as pl

from doctord.analyse.figures import mean
from doctord.analyse.spells import held
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.ways import OF_CLIENTS, ways
from doctord.diagnose.evidence import Sign, past, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, at_most
from doctord.diagnose.phrase import listed, phrase

# A path that loses one segment in a hundred halves what one TCP connection can carry over it (Mathis, 1997).
LOST_SHARE = 0.01
# With fewer segments a single lost packet makes a per cent.
LEAST_SEGMENTS_PER_S = 50.0
LEAST_RETRANSMITS_PER_S = 1.0
UNACKNOWLEDGED, ACKNOWLEDGED = "tcp.unacknowledged", "tcp.acknowledged"
# Of a short look the second is five seconds after the first; later one has passed each ten seconds.
FEWEST_LOOKS, A_MINUTE_OF_LOOKS = 2, 6
# One client may have gone without a word.
FEWEST_STUCK = 2
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


@cause(explains=("clients_do_not_take_results",))
def answers_not_delivered(case: Case) -> Iterator[Claim]:
    """What the server answers does not reach its clients: nothing of it is acknowledged.

    Looks like: clients wait for an answer, and their sessions are idle in the server's own view; ss -tn shows a Send-Q
        that stands, ss -tin retransmits with a growing backoff. Often small answers arrive and large ones do not.
    Hurts because: for the client the server hangs; its session keeps its locks and its connection until TCP gives up,
        after a quarter of an hour (tcp_retries2).
    Speaks for it: connections of which the oldest segment was sent again three times and more, how much lies in them,
        and the connections of the same clients that are well.
    Speaks against it: one connection alone, and no other from there: its client's host may be gone.
    Remedy: Where small answers arrive and large ones do not, the way drops packets of full size without a word: compare
        the MTU of both ends and of what is in between (ip link; ping -M do -s 1472 CLIENT, -s 8972 for jumbo frames);
        who filters ICMP "fragmentation needed" has to let it pass; net.ipv4.tcp_mtu_probing = 1 helps for the time
        being. Else look where the way ends: a firewall that forgot the connections, a route, an interface, a host that
        is gone.
    Verify: ss -tin state established shows no backoff on the server's port; the clients' answers arrive.
    Source: RFC 6298 (retransmission timer); RFC 2923, "TCP Problems with Path MTU Discovery"; Linux manual, tcp(7)
        (tcp_mtu_probing, tcp_retries2), proc_pid_net(5).
    """
    for db in case.dbs:
        looks = _looks(case, db)
        stuck = [
            one
            for one in case.figures(UNACKNOWLEDGED)
            if one.db == db and looks.get(one.entity, 0) >= (FEWEST_LOOKS if one.last else A_MINUTE_OF_LOOKS)
        ]
        if not stuck:
            continue
        waiting, well = (_of(case, db, name) for name in (f"{UNACKNOWLEDGED}_bytes", ACKNOWLEDGED))
        count = sum(one.largest for one in stuck)
        others = sum(well.get(one.entity, 0.0) for one in stuck)
        alone = count < FEWEST_STUCK and not others
        yield Claim(
            phrase(
                "{:count client connection acknowledges/client connections acknowledge} nothing of what {} sends: {}",
                round(count), db, listed(*(str(one.entity) for one in stuck[:3])),
            ),
            impact=NOT_MEASURED,
            confidence=0.6 if alone else 0.9,
            severity="note" if count < FEWEST_STUCK else "critical" if any(one.last for one in stuck) else "warning",
            for_=[
                Evidence("statistic", f"name = '{UNACKNOWLEDGED}' and db = '{db}' and entity = '{one.entity}'",
                         phrase("{:count connection/connections} from {}, {:bytes} in their queues", round(one.largest),
                                one.entity, waiting.get(one.entity, 0.0)),
                         "", "sent again three times and more, at every look a timer runs for it")
                for one in stuck
            ] + ([
                Evidence("statistic", f"name = '{ACKNOWLEDGED}' and db = '{db}'",
                         phrase("{:count other connection/other connections} from there", round(others)), "",
                         "these acknowledge what they get: the way is there, for small packets at least")
            ] if others else []),
            against=[
                Evidence("statistic", f"name = '{UNACKNOWLEDGED}' and db = '{db}'", "one connection", "",
                         "its client's host may be gone")
            ] if alone else [],
            database=db,
        )  # fmt: skip


def _looks(case: Case, db: str) -> dict[str | None, int]:
    """At how many looks connections of each client were stuck."""
    of_clients = (pl.col("name") == UNACKNOWLEDGED) & (pl.col("db") == db) & (pl.col("value") > 0)
    rows = case.dataset.frame("statistic").filter(of_clients)
    return dict(rows.group_by("entity", maintain_order=True).len().iter_rows())


def _of(case: Case, db: str, name: str) -> dict[str | None, float]:
    return {one.entity: one.largest for one in case.figures(name) if one.db == db}


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
