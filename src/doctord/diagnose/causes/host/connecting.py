"""Connecting: clients that wait until a server accepts them, whose requests are dropped, or whose logins take long."""

from collections.abc import Iterator, Sequence

import polars as pl

from doctord.analyse.figures import Statistic, mean
from doctord.analyse.host.accept_delays import SLOW_S, AcceptDelay, accept_delays
from doctord.analyse.host.login_times import SLOW_S as SLOW_LOGIN_S
from doctord.analyse.host.login_times import SlowLogins, slow_logins
from doctord.analyse.host.logins_under_way import LoginsUnderWay, logins_under_way
from doctord.analyse.host.parents import parents
from doctord.analyse.spells import covered_s
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.causes.host import logins_under_way as under_way
from doctord.diagnose.causes.host.logins_under_way import Reason
from doctord.diagnose.common.logins_held import unfinished
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Phrase, phrase

# Clients give up after seconds: those who set libpq's connect_timeout set it to 2 to 10.
CRITICAL_S = 1.0
BUSY_PCT = 80.0  # of one CPU: a single process that serves all can do no more
HELD_UP_PCT = 10.0
# One slow login is a bad moment: two, and a tenth of them, or five minutes' worth.
LEAST_LOGINS, LEAST_SHARE, MANY_LOGINS = 2, 0.1, 30
# What lies behind a part of a login that takes long.
BEHIND = {
    "TCP connect": "a request that is lost is sent again after a second: the network, or a full queue",
    "first answer": "the server accepts it, starts a session, and answers",
    "authentication": "a password, a certificate, LDAP, PAM or RADIUS is asked, or a name is looked up",
    "first query": "it is slow for those who are in, too",
}
# A server that trusts its client answers once, when the session has started: it may sleep in either.
OF_LOGIN = ("first answer", "authentication")
HALF = 0.5  # of what takes long: a shorter sleep is not why
UNKNOWN = NotMeasured("which process accepts there", "its descriptors cannot be read", "run as its user or as root")
# What a process spends its time on, and what follows where that is much.
_SPENT = {
    "usr_pct": "",
    "sys_pct": "",
    "run_wait_pct": "it waits for a CPU",
    "io_wait_pct": "it waits for a disk",
    "memory_wait_pct": "it waits for memory",
}


@cause(explains=("server_does_not_answer", "logins_slow"))
def clients_wait_to_connect(case: Case) -> Iterator[Claim]:
    """Clients wait until the server accepts their connections.

    Looks like: connecting takes long, and nothing is dropped; the host may be idle. Those who wait stand in the accept
        queue of a listening socket, where no statistic of the database sees them.
    Hurts because: each new connection waits for all before it. One process accepts them one after the other, and
        whatever it does in between, it does for each: a fork, a look-up of a name, a line in a log.
    Speaks for it: how long those in the queue have waited; what the accepting process spends its time on.
    Speaks against it: dropped requests: then the queue is full, and some wait for their next attempt instead.
    Remedy: Connect less often (a pool of connections). See what the accepting process does between two accepts: CPU,
        forks of a large process, name resolution, a slow log or audit, a child that it waits for.
        PostgreSQL: the postmaster forks each backend; huge_pages shortens a fork, log_hostname = off saves a look-up.
        Oracle: a second listener with load balancing, shared servers or DRCP, a restart of a listener that has grown:
        sessions that are there stay.
        MySQL: skip_name_resolve, thread_cache_size.
    Verify: The delay falls below a tenth of a second at as many connections per second.
    Source: R. Milkowski, "Oracle's listener performance", 2008; J. D. C. Little, "A proof for the queuing formula L =
        lambda W", 1961; sock_diag(7), listen(2).
    """
    tcp = case.dataset.frame("network")
    overflows = mean(tcp.filter(tcp["interface"].is_null()), "listen_overflows_per_s")
    is_told = (case.dataset.frame("event")["kind"] == "no answer").any()  # of a server that hangs, better than here
    asked = [delay for delay in accept_delays(case.dataset) if _is_asked_about(case, delay.socket)]
    for delay in (delay for delay in asked if not (delay.is_stuck and is_told)):
        for_, against = weigh(
            [
                Sign("statistic", f"name = 'listen.accept_delay' and entity = '{delay.socket}'", delay.delay_s, SLOW_S,
                     "a wait of {:.2f s} to be accepted",
                     phrase("at most {:time}; in {} of {:count sample/samples}", delay.longest_s, delay.slow,
                            delay.samples)),
                Sign("network", "interface is null", overflows, 0.0, "{:.2f requests dropped per s} by a full queue",
                     "the queue is long enough, and served too slowly", "some wait to try again", below=True),
            ]
        )  # fmt: skip
        yield Claim(
            phrase("Nobody is accepted at {}: clients have waited for {:time}", delay.socket, delay.longest_s)
            if delay.is_stuck
            else phrase("Clients wait {:time} to be connected at {}", delay.delay_s, delay.socket),
            impact=NOT_MEASURED,
            severity="critical" if delay.delay_s >= CRITICAL_S else "warning",
            confidence=0.7 if against else 0.85,
            for_=[*for_, *_queue(delay), *_pace(case, delay), *_process(case, delay)],
            against=against,
            not_measured=() if delay.pid else (UNKNOWN,),
            first_steps=_first_steps(delay),
            objects=[str(delay.pid)] if delay.pid else [],
        )


def _is_asked_about(case: Case, socket: str) -> bool:
    """Whether a socket may be of a server that the user named, by its port; all are where none was named.

    A server that is named without a port (Oracle's service) may have any, and so may a socket with a name of its own.
    """
    named = {*case.dbs, *case.dataset.frame("event")["db"].drop_nulls()}
    ports = {db.rpartition(":")[2] for db in named}
    port = socket.rpartition(":")[2].rpartition(".")[2]  # 127.0.0.1:5432, /run/postgresql/.s.PGSQL.5432
    is_told = bool(ports) and port.isdigit() and all(one.isdigit() for one in ports)
    return not case.servers or not is_told or port in ports


@cause()
def logins_slow(case: Case) -> Iterator[Claim]:
    """Logging in takes long.

    Looks like: a probe that connects as a client does takes half a second and more; or backends are seconds old and in
        no view of the server yet, whatever way our own login takes. Those who are logged in notice nothing.
    Hurts because: a request that opens a connection takes that much longer, and so does a pool that grows, just when
        there is more to do.
    Speaks for it: how long each part of the probe's logins takes; most of it in one part. How many backends of
        PostgreSQL are not in after a second, how old they get, in what they are (by the titles of their processes) and
        what they wait for: a name server, an LDAP server, their client; settings and lines of pg_hba.conf that have the
        server ask another at each login; messages in its log.
    Speaks against it: the other parts are quick; our own login by the Unix socket is, which has no address to look up.
        Backends that wait for their clients: those connect and say nothing, and that is a note.
    Remedy: A pool of connections hides it, if the cause cannot be mended. TCP connect: look for lost segments and full
        queues. First answer: look what keeps the accepting process, and what starting a session takes: CPU, memory.
        Authentication: time the service that is asked (LDAP, RADIUS, DNS) by itself. First query: look at the server.
        PostgreSQL: pg_hba.conf with addresses instead of names, log_hostname = off; where names are needed, a resolver
        that answers (options timeout:1 attempts:1 in resolv.conf, a cache on the host); session_preload_libraries and
        login triggers are run at each login; pre_auth_delay and post_auth_delay are for whoever attaches a debugger;
        a lower authentication_timeout against clients that say nothing.
        MySQL: skip_name_resolve.
    Verify: `doctord map` of the part that took long shows it short again at as many connections per second; no login is
        under way for a second (statistic logins.oldest_s).
    Source: PostgreSQL documentation, "Client Authentication", log_hostname, authentication_timeout and "Message Flow:
        Start-up"; J. D. C. Little, "A proof for the queuing formula L = lambda W", 1961; MySQL Reference Manual, "DNS
        Lookups and the Host Cache"; RFC 6298 (retransmission after a second).
    """
    told = [logins for logins in logins_under_way(case.dataset) if under_way.is_worth_saying(logins)]
    reasons = {logins.db: under_way.reason_of(case, logins) for logins in told}
    ours = [login for login in slow_logins(case.dataset) if _is_often(login)]
    for logins in told:
        of_same = [] if reasons[logins.db].is_client else [login for login in ours if login.db == logins.db]
        yield _by_kernel(case, logins, reasons[logins.db], of_same)
    for login in ours:
        if login.db not in reasons or reasons[login.db].is_client:
            yield _by_probe(case, login)


def _is_often(login: SlowLogins) -> bool:
    return login.slow >= max(LEAST_LOGINS, min(LEAST_SHARE * login.logins, MANY_LOGINS))


def _by_kernel(case: Case, logins: LoginsUnderWay, reason: Reason, ours: Sequence[SlowLogins]) -> Claim:
    """Logins of clients, as the backends show them that are not in yet; and of `ours` the parts that take long."""
    slowest = [(login, max(login.parts, key=lambda part: login.parts[part])) for login in ours]
    return Claim(
        phrase("{:count login takes/logins take} up to {:time}: {}", round(logins.slow), logins.oldest_s, reason.words),
        impact=NOT_MEASURED,
        severity="note" if reason.is_client else "warning",
        confidence=0.9 if reason.is_known else 0.75,
        for_=[*under_way.evidence(case, logins), *(_part_of(login, part, BEHIND[part]) for login, part in slowest)],
        against=under_way.against(case, logins),
        not_measured=under_way.unseen(case, logins),
        first_steps=(reason.first_step,),
        database=logins.db,
        # However busy the CPUs are; but those who hold all places are told where none is left.
        stands_alone=reason.is_known and logins.is_asleep and not unfinished(case, logins.db),
    )


def _by_probe(case: Case, login: SlowLogins) -> Claim:
    """Logins of our own, part by part."""
    slowest = max(login.parts, key=lambda part: login.parts[part])
    is_before_queries = slowest in OF_LOGIN
    asleep = under_way.delay(case, login.db, least_s=HALF * login.parts[slowest]) if is_before_queries else None
    why = asleep.words if asleep else phrase("most of it is {}", _part(slowest))
    return Claim(
        phrase("A {} login takes {:time}: {}", login.way, login.seconds, why),
        impact=NOT_MEASURED,
        confidence=0.95 if asleep else 0.85,
        for_=[
            _part_of(login, slowest, BEHIND[slowest]),
            *(under_way.settings(case, login.db) if is_before_queries else ()),
        ],
        against=[_part_of(login, part, "this part is quick") for part in login.parts if part != slowest],
        first_steps=(asleep.first_step,) if asleep else (),
        database=login.db,
    )


def _part(name: str) -> str:
    return {"first answer": "the server's first answer", "first query": "the first query"}.get(name, name)


def _part_of(login: SlowLogins, part: str, why: str) -> Evidence:
    return Evidence("latency", f"subject = 'login {login.way}: {part}' and db = '{login.db}'",
                    phrase("{:time} for {}", login.parts[part], _part(part)), phrase("{:time}", SLOW_LOGIN_S),
                    phrase("{}, in {} of {:count login/logins}", why, login.slow, login.logins))  # fmt: skip


def _first_steps(delay: AcceptDelay) -> tuple[Phrase, ...]:
    if delay.pid is None:
        return ()
    if delay.is_stuck:
        return (phrase("ps -o pid,stat,wchan -p {}: stopped (T: kill -CONT), or in the kernel (D).", delay.pid),)
    return (phrase("doctord trace --pid {} --for 10s: what it does between two accepts.", delay.pid),)


def _queue(delay: AcceptDelay) -> list[Evidence]:
    if delay.waiting is None:
        return []
    limit = "" if delay.backlog is None else phrase("backlog {:.0f}", delay.backlog)
    is_full = delay.backlog is not None and delay.waiting >= delay.backlog
    return [
        Evidence("statistic", f"name = 'listen.accept_queue' and entity = '{delay.socket}'",
                 phrase("{:.1f connections} in its queue", delay.waiting), limit,
                 "it is full: who comes now waits outside, uncounted" if is_full else "each waits for those before it")
    ]  # fmt: skip


def _pace(case: Case, delay: AcceptDelay) -> list[Evidence]:
    """How many connections are accepted a second, and so how long a pass of the loop takes that accepts them."""
    if delay.accepts_per_s is None:
        return []
    own = _cpu_of_pass(case, delay)
    of_it = "" if own is None else phrase(", {:time} of it on a CPU", own)
    return [
        Evidence("statistic", f"name = 'listen.accept_queue' and entity = '{delay.socket}'",
                 phrase("about {:.2g} connections accepted per s", delay.accepts_per_s), "",
                 phrase("a process that accepts alone spends {:time} on each{}", 1 / delay.accepts_per_s, of_it))
    ]  # fmt: skip


def _cpu_of_pass(case: Case, delay: AcceptDelay) -> float | None:
    """CPU seconds of the accepting process for each connection: by the children that it started, else estimated."""
    own = next((parent for parent in parents(case.dataset) if parent.pid == delay.pid), None)
    if own is not None and own.cpu_s is not None:
        return own.cpu_s / own.children
    rows = case.processes.filter(pl.col("pid") == delay.pid) if delay.pid else case.processes.clear()
    if rows.is_empty() or rows["cpu_s"][0] is None or not delay.accepts_per_s:
        return None
    return float(rows["cpu_s"][0] / rows["seconds"][0] / delay.accepts_per_s)


def _process(case: Case, delay: AcceptDelay) -> list[Evidence]:
    """What the accepting process spends its time on."""
    rows = case.dataset.frame("process")
    rows = rows.filter(rows["pid"] == delay.pid) if delay.pid else rows.clear()
    shares = {column: mean(rows, column) for column in _SPENT}
    cpu = None if shares["usr_pct"] is None else shares["usr_pct"] + (shares["sys_pct"] or 0.0)
    if cpu is None:
        return []
    held_up = [words for column, words in _SPENT.items() if words and (shares[column] or 0.0) >= HELD_UP_PCT]
    why = "it is busy with each" if cpu >= BUSY_PCT else held_up[0] if held_up else "it waits for something in between"
    who = rows["command"].drop_nulls()
    figure = phrase("{} (pid {}) uses {:.0f % of a CPU}", who[-1] if len(who) else "", delay.pid, cpu)
    return [Evidence("process", f"pid = {delay.pid}", figure, phrase("{:.0f %}", BUSY_PCT), why)]


@cause(explains=("clients_wait_to_connect", "logins_slow"))
def accept_queue_overflow(case: Case) -> Iterator[Claim]:
    """Connections are dropped because a server does not accept them in time.

    Looks like: clients take seconds to connect, or fail, while the host looks idle; listen overflows are counted.
    Hurts because: a full accept queue drops the client's request; the client tries again after 1, 3, 7 seconds.
    Speaks for it: listen overflows; a socket that counts drops, or whose accept queue is as long as its backlog.
    Speaks against it: drops without overflows: those have other reasons (memory, a flood of half-open connections).
    Remedy: Connect less often (a pool). Find what keeps the accepting process: fork time of a large postmaster, name
        resolution, CPU. A longer backlog (listen_backlog or max_connections, net.core.somaxconn) only covers bursts.
    Verify: Overflows stay at zero while clients connect.
    Source: R. Milkowski, "Oracle's listener performance", 2008; tcp(7) and listen(2); TcpExt ListenOverflows.
    """
    tcp = case.dataset.frame("network")
    tcp = tcp.filter(tcp["interface"].is_null())
    overflows, drops = mean(tcp, "listen_overflows_per_s"), mean(tcp, "listen_drops_per_s")
    lost = (overflows or 0.0) * covered_s(tcp)
    if overflows is None or lost < 1:
        return
    full = [*_dropping(case), *_full_queues(case)]
    yield Claim(
        phrase("{:.0f} connection requests dropped: an accept queue is full", lost),
        impact=NOT_MEASURED,
        confidence=0.95 if full else 0.85,
        for_=[
            Evidence("network", "interface is null", phrase("{:.2f listen overflows per s}", overflows), "none at all",
                     "each is a client that waits a second or more" if drops is None else
                     phrase("{:.2f requests dropped per s} for any reason", drops)),
            *full,
        ],
    )  # fmt: skip


def _dropping(case: Case) -> list[Evidence]:
    """Listening sockets that dropped requests, by their own counts."""
    return [
        Evidence("statistic", f"name = 'listen.drops_per_s' and entity = '{figure.entity}'",
                 phrase("{:.0f} dropped at {}", figure.mean * figure.seconds, figure.entity), "none at all",
                 "as this socket counts them")
        for figure in case.figures("listen.drops_per_s")
    ]  # fmt: skip


def _full_queues(case: Case) -> list[Evidence]:
    """Listening sockets whose accept queue reached its backlog."""
    backlogs = {_key(figure): figure.last for figure in case.figures("listen.backlog")}
    return [
        Evidence("statistic", f"name = 'listen.accept_queue' and entity = '{queue.entity}'",
                 phrase("up to {:.0f} connections waiting on {}", queue.largest, queue.entity),
                 phrase("backlog {:.0f}", backlogs[_key(queue)]), "this socket's queue is full")
        for queue in case.figures("listen.accept_queue")
        if 0 < backlogs.get(_key(queue), 0.0) <= queue.largest
    ]  # fmt: skip


def _key(figure: Statistic) -> tuple[str | None, str | None]:
    return figure.db, figure.entity
