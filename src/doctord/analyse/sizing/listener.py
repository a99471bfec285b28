"""A listener or postmaster: how many connections a second a server accepts that serves one after another."""

import math
from typing import Final

from doctord.analyse.sizing.amounts import amount
from doctord.analyse.sizing.question import Input, Question, Setting, Sizing, given_lines, known
from doctord.analyse.sizing.working import Number, Quantity, Step, ln, round_up

L08: Final = 'R. Milkowski, "Oracle\'s listener performance", 2008'
UTILISATION: Final = (
    'Utilisation law: P. J. Denning and J. P. Buzen, "The operational analysis of queueing network models", 1978'
)
MD1: Final = 'M/D/1: F. Pollaczek, 1930, and A. Y. Khinchin, 1932; L. Kleinrock, "Queueing Systems", volume 1, 1975'
MM1: Final = 'M/M/1: L. Kleinrock, "Queueing Systems", volume 1, 1975'
LITTLE: Final = 'J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961'
# A connection that finds the backlog full is to be one in a thousand.
REFUSED: Final = Number(0.001, "share")

INPUTS: Final = (
    Input("pass-time", "time of a pass", "s", "From accept to the next, 300ms; of a postmaster its fork."),
    Input("rate", "connections", "per_s", "New connections at the busiest: 2/s.", needed=False),
    Input(
        "limit",
        "utilisation limit",
        "share",
        "How busy the server may be: 50%.",
        below=1.0,
        assumed=0.5,
        because="a connection then waits half a pass on average (M/D/1); above, it grows fast",
    ),
    Input(
        "burst",
        "burst",
        "count",
        "Connections at once, after a failover or restart of the application: 200.",
        needed=False,
    ),
    Input(
        "backlog",
        "backlog",
        "count",
        "Connections that may wait to be accepted now (somaxconn, QUEUESIZE).",
        needed=False,
    ),
)


def listener(
    *,
    pass_time: Quantity,
    limit: Quantity,
    rate: Quantity | None = None,
    burst: Quantity | None = None,
    backlog: Quantity | None = None,
) -> Sizing:
    """Most connections a second = 1 / pass; the wait before it grows with utilisation / (1 - utilisation)."""
    most = (1 / pass_time).step("connections at most", "per_s", L08)
    good = (limit * most).step("connections at the limit", "per_s")
    drain = (burst * pass_time).step("the last of a burst waits", "s", L08) if burst else None
    if rate is None:
        queue, busy, servers = [], None, None
    else:
        busy = (rate * pass_time).step("how busy it is", "share", UTILISATION)
        servers = round_up(busy / limit).step("servers wanted", "count")
        queue = [busy, servers, *(_queue(rate, pass_time, busy) if busy.value < 1 else ())]
    waiting = max([one.value for one in queue if one.name == "backlog wanted"] + [burst.value if burst else 0])
    enough = [busy.value <= limit.value] if busy else []
    enough += [backlog.value >= waiting] if backlog and waiting else []
    return Sizing(
        _answer(most, busy, servers),
        known(most, good, *queue, drain),
        (Setting("backlog", f"{math.ceil(waiting)}", "net.core.somaxconn; QUEUESIZE of Oracle's listener"),)
        if waiting
        else (),
        _cautions(busy),
        all(enough) if enough else None,
    )


def _queue(rate: Quantity, pass_time: Quantity, busy: Step) -> tuple[Step, ...]:
    """What waits before a server that is not always busy: passes of equal length, and of random length."""
    even = (busy * pass_time / (2 * (1 - busy))).step("wait, passes all alike", "s", MD1)
    random = (busy * pass_time / (1 - busy)).step("wait, passes at random", "s", MM1)
    waiting = (rate * random).step("waiting on average", "count", LITTLE)
    return even, random, waiting, round_up(ln(REFUSED) / ln(busy)).step("backlog wanted", "count", MM1)


def _answer(most: Step, busy: Step | None, servers: Step | None) -> str:
    text = f"One server accepts {amount(most.value, 'per_s')} at most"
    if busy is None or servers is None:
        return f"{text}."
    need = "one keeps" if servers.value == 1 else f"{servers.value:.0f} keep"
    return f"{text}; it would be {amount(busy.value, 'share')} busy: {need} below the limit."


def _cautions(busy: Step | None) -> tuple[str, ...]:
    return given_lines(
        busy is not None
        and busy.value >= 1
        and "More arrive than can be accepted: the backlog fills whatever its size, and clients are refused or give "
        "up.",
        "A backlog only holds them while they wait. What helps: a shorter pass (doctord trace says where it goes), "
        "several listeners, and above all a pool of connections.",
        "A pass grows with the memory of the process that forks: measure it on the server in question.",
    )


QUESTION: Final = Question(
    "listener",
    "How many connections a second can a listener or postmaster accept, and how many wait?",
    INPUTS,
    listener,
)
