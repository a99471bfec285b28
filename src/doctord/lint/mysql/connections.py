"""Settings of MariaDB and MySQL that decide who gets in, and with what files and threads."""

from collections.abc import Iterator
from typing import Final

from doctord.analyse.host.accept_delays import dropped
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import listed, phrase
from doctord.lint.mysql.measured import evidence, figure, latest
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import CANNOT_JUDGE, Severity, Violation

_NEAR: Final = 0.9
_PORT: Final = 3306
_OWN_FILES: Final = 10  # logs and the like, as the server reckons them
_MANY_A_SECOND: Final = 10.0


@rule("mysql")
def connections_run_out(subject: Subject) -> Iterator[Violation]:
    """Connections were refused, or nearly were: max_connections is reached.

    Why: at max_connections the next client gets error 1040, Too many connections.
    Evidence: Max_used_connections since the start, and Connection_errors_max_connections.
    Fix: Find out why so many are open (a pool without limit, sessions that wait for one lock) before raising
        max_connections: more sessions at work than CPUs only wait.
    Verify: Connection_errors_max_connections no longer grows.
    Source: MySQL Reference Manual, B.3.2.5 Too many connections, 7.1.12.1 Connection Interfaces.
    """
    allowed, most = subject.number("max_connections"), latest(subject, "max_used_connections")
    if not allowed or most is None or most < _NEAR * allowed:
        return
    refused = figure(subject, "connection_errors_max_connections") or 0.0
    is_full = most >= allowed or refused > 0
    told = (
        "clients are refused: error 1040" if is_full else phrase("{:.0f} more and clients are refused", allowed - most)
    )
    yield subject.violation(
        phrase("max_connections = {:.0f}: {:.0f} were in use at once", allowed, most),
        "max_connections",
        cost=listed(told, phrase("{:rate} are refused now", refused) if refused else "", by="; "),
        severity=Severity.ERROR if is_full else Severity.WARNING,
        evidence=[
            evidence(
                "max_used_connections",
                phrase("{:.0f}", most),
                phrase("{:.0f} allowed", allowed),
                "the most since the start",
            )
        ],
    )


@rule("mysql")
def open_files_limit_small(subject: Subject) -> Iterator[Violation]:
    """The server may open fewer files than its connections and table caches need.

    Why: connections and open tables take file descriptors. Where the operating system grants fewer than max_connections
        + 2 x table_open_cache + 10, the server silently lowers table_open_cache, or fails to open a table: error 24.
    Evidence: open_files_limit as it runs, against that sum.
    Fix: Raise LimitNOFILE of the systemd unit (or nofile in limits.conf), and open_files_limit.
    Verify: SHOW GLOBAL VARIABLES LIKE 'open_files_limit' after a restart.
    Source: MySQL Reference Manual, 7.1.8, open_files_limit; B.3.2.16 File Not Found and Similar Errors.
    """
    limit, allowed = subject.number("open_files_limit"), subject.number("max_connections")
    tables = subject.number("table_open_cache")
    if not limit or allowed is None or tables is None:
        return
    needed = _OWN_FILES + allowed + 2 * tables
    if limit >= needed:
        return
    yield subject.violation(
        phrase("open_files_limit = {:.0f} is less than connections and tables need", limit),
        "open_files_limit",
        "max_connections",
        "table_open_cache",
        cost=phrase(
            "{:.0f} = {:.0f} + 2 x {:.0f} + {} are needed: with all in use no table can be opened",
            needed,
            allowed,
            tables,
            _OWN_FILES,
        ),
        severity=Severity.WARNING,
        changes=[subject.change("open_files_limit", f"{needed:.0f}", "restart")],
    )


@rule("mysql")
def accept_queue_short(subject: Subject) -> Iterator[Violation]:
    """Connection requests are dropped, or back_log is cut by the kernel.

    Why: the kernel keeps the lesser of back_log and net.core.somaxconn requests that wait to be accepted, and drops
        more; a client tries again after 1 s, 3 s, 7 s.
    Evidence: back_log, net.core.somaxconn, and what the sockets of its port dropped, or the host where nobody tells.
    Fix: Raise the lesser of the two.
    Verify: nstat TcpExtListenOverflows no longer grows; ss -ltn shows the queue.
    Source: listen(2); MySQL Reference Manual, 7.1.8, back_log.
    """
    queue, kernel = subject.number("back_log"), subject.other("kernel")
    most = kernel.number("net.core.somaxconn") if kernel else None
    if queue is None:
        return
    told = dropped(subject.case.dataset, int(subject.number("port") or _PORT))
    per_s = told.per_s if told else 0.0
    cut = most is not None and queue > most
    held = subject.get("back_log")
    if not per_s and not (cut and held and held.is_set):
        return
    effective = min(queue, most) if most is not None else queue
    seen = (
        [Evidence(told.table, told.filter, phrase("{:rate}", told.per_s), "none", "each waits a second or more")]
        if told and per_s
        else []
    )
    yield subject.violation(
        phrase(
            "back_log = {:.0f} is {}", queue, phrase("cut to net.core.somaxconn = {:.0f}", most) if cut else "too short"
        ),
        "back_log",
        cost=phrase(
            "a queue of {:.0f}: {:rate requests} are dropped, and come again after 1 s or more", effective, per_s
        )
        if per_s
        else phrase("{:.0f} of {:.0f} places are not there; none was missed yet", queue - effective, queue),
        severity=Severity.WARNING if per_s else Severity.NOTE,
        evidence=seen,
        changes=[] if cut else [subject.change("back_log", f"{queue * 2:.0f}", "restart")],
    )


@rule("mysql")
def threads_created_often(subject: Subject) -> Iterator[Violation]:
    """Nearly every connection starts a thread of its own.

    Why: thread_cache_size keeps threads of sessions that ended; without one a connection waits for a new one.
    Evidence: Threads_created a second beside Connections a second.
    Fix: Keep connections open in a pool; else raise thread_cache_size to the connections that come in a burst.
    Verify: Threads_created a second falls.
    Source: MySQL Reference Manual, 7.1.12.1, thread_cache_size.
    """
    created, cached = figure(subject, "threads_created"), subject.number("thread_cache_size")
    if created is None or cached is None or created < _MANY_A_SECOND:
        return
    asked = figure(subject, "connections") or created
    yield subject.violation(
        phrase("thread_cache_size = {:.0f}: {:rate threads} are started", cached, created),
        "thread_cache_size",
        cost=phrase("{}: {:rate} of {:rate connections}; time the connects of a client", CANNOT_JUDGE, created, asked),
        severity=Severity.NOTE,
        evidence=[
            evidence(
                "threads_created", phrase("{:rate}", created), phrase("{:rate connections}", asked), "a start for each"
            )
        ],
    )


@rule("mysql")
def table_cache_overflows(subject: Subject) -> Iterator[Violation]:
    """Tables are closed to open others: table_open_cache is too small.

    Why: a statement on a table that is not in the cache opens its files anew, under a lock where all meet.
    Evidence: Table_open_cache_overflows and misses a second.
    Fix: Raise table_open_cache above Open_tables under load, and open_files_limit with it.
    Verify: Table_open_cache_overflows no longer grows.
    Source: MySQL Reference Manual, 10.4.3.1 How MySQL Opens and Closes Tables.
    """
    thrown, size = figure(subject, "table_open_cache_overflows"), subject.number("table_open_cache")
    if size is None or not thrown or thrown < 1.0:
        return
    yield subject.violation(
        phrase("table_open_cache = {:.0f}: {:rate tables} are closed to open others", size, thrown),
        "table_open_cache",
        cost=f"{CANNOT_JUDGE}: collect wait/io/file/sql/FRM and the time in Opening tables",
        severity=Severity.NOTE,
        evidence=[
            evidence("table_open_cache_overflows", phrase("{:rate}", thrown), "none", "each is opened again later")
        ],
        changes=[subject.change("table_open_cache", f"{size * 2:.0f}")],
    )


@rule("mysql")
def clients_not_looked_up(subject: Subject) -> Iterator[Violation]:
    """Names of clients are looked up in the DNS, and the look-ups fail.

    Why: without skip_name_resolve each new client's address is turned into a name before it may log in; a name server
        that does not answer lets it wait for seconds, and clients are blocked after max_connect_errors.
    Evidence: Connection_errors_peer_address a second.
    Fix: Set skip_name_resolve = ON, with accounts by address; or fix the name server.
    Verify: Connection_errors_peer_address no longer grows; a client's connect takes milliseconds.
    Source: MySQL Reference Manual, 7.1.12.3 DNS Lookups and the Host Cache.
    """
    failed = figure(subject, "connection_errors_peer_address")
    if not failed or subject.flag("skip_name_resolve") is not False:
        return
    yield subject.violation(
        phrase("skip_name_resolve = OFF: {:rate look-ups} of clients fail", failed),
        "skip_name_resolve",
        cost="each is a client that could not log in, or waited for the name server",
        severity=Severity.WARNING,
        evidence=[
            evidence(
                "connection_errors_peer_address", phrase("{:rate}", failed), "none", "the name server did not answer"
            )
        ],
        changes=[subject.change("skip_name_resolve", "ON", "restart")],
    )
