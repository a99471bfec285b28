"""Oracle's sessions and network: what comes with each call, and servers of parallel statements."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, per
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.finding import Claim, Evidence
from doctord.diagnose.phrase import phrase

TO_CLIENT = ("SQL*Net more data to client", "SQL*Net more data from client")
LINK = ("SQL*Net message from dblink", "SQL*Net more data from dblink", "SQL*Net more data to dblink",
        "SQL*Net message to dblink", "single-task message")  # fmt: skip
ERRORS = "SQL*Net break/reset to client"
PARALLEL = ("PX Deq: Slave Session Stats", "PX Deq: Signal ACK EXT", "PX Deq: Join ACK", "PX qref latch",
            "PX Deq: reap credit", "PX Deq: Signal ACK RSG", "enq: PS - contention")  # fmt: skip
DOWNGRADED = ("Parallel operations downgraded to serial", "Parallel operations downgraded 75 to 99 pct",
              "Parallel operations downgraded 50 to 75 pct", "Parallel operations downgraded 25 to 50 pct",
              "Parallel operations downgraded 1 to 25 pct")  # fmt: skip
NOT_DOWNGRADED = "v$sysstat.Parallel operations not downgraded"
# One in ten runs with fewer servers than it asked for, and takes that much longer, at random.
DOWNGRADED_SHARE = 0.1
LEAST_DOWNGRADED = 10.0


@cause()
def large_results(case: Case) -> Iterator[Claim]:
    """Sessions wait while large results, or large calls, cross the network.

    Looks like: SQL*Net more data to client, SQL*Net more data from client.
    Hurts because: the server holds its session until the client has taken what it asked for.
    Speaks for it: share of the time, bytes for each round trip.
    Speaks against it: a client that is slow itself: then the network looks slow too.
    Remedy: Ask for fewer columns and rows; no LOBs that nobody reads; move the client nearer; SDU and socket buffers
        for bulk (DEFAULT_SDU_SIZE, SEND_BUF_SIZE); compression (SQLNET.COMPRESSION) over thin lines.
    Verify: The share of the events, and bytes sent for each round trip.
    Source: Oracle Database Net Services Administrator's Guide 19c, "Optimizing Performance".
    """
    part = share(case, *TO_CLIENT)
    if not case.worth_saying(part):
        return
    size = per(case, "v$sysstat.bytes sent via SQL*Net to client", "v$sysstat.SQL*Net roundtrips to/from client")
    yield Claim(
        phrase("Large results cross the network: {:share of database}", part),
        impact=part,
        confidence=0.75,
        for_=[
            *waited(case, *TO_CLIENT),
            *([Evidence("statistic", "name = 'v$sysstat.bytes sent via SQL*Net to client'",
                        phrase("{:bytes} for each round trip", size), "", "")] if size is not None else []),
        ],
    )  # fmt: skip


@cause()
def database_links(case: Case) -> Iterator[Claim]:
    """Sessions wait for another database over a link.

    Looks like: SQL*Net message from dblink, SQL*Net more data from dblink.
    Hurts because: what the other database does, and the way to it, is waited for here.
    Speaks for it: share of the time, how long each call takes.
    Speaks against it: nothing here: how the other database spent the time, its own report says.
    Remedy: Let the join run where most rows are (DRIVING_SITE); fetch rows in bulk, not one by one; copy what changes
        seldom (materialized views); read the report of the other database.
    Verify: The share of the events; round trips over links.
    Source: Oracle Database Administrator's Guide 19c, "Developing Applications for a Distributed Database System".
    """
    part = share(case, *LINK)
    if case.worth_saying(part):
        yield Claim(
            phrase("Sessions wait for another database: {:share of database}", part),
            impact=part,
            confidence=0.85,
            for_=[
                *waited(case, *LINK),
                *counted(case, "v$sysstat.SQL*Net roundtrips to/from dblink", "{:rate round trips}"),
            ],
        )


@cause()
def calls_fail(case: Case) -> Iterator[Claim]:
    """Calls end in errors, and the protocol has to be reset each time.

    Looks like: SQL*Net break/reset to client.
    Hurts because: each error costs extra round trips, and most are raised and swallowed by the application.
    Speaks for it: share of the time, failed parses.
    Speaks against it: clients that cancel: then users who do not want to wait.
    Remedy: Trace errors (errorstack, server error trigger) and fix them: missing objects, unique keys used as a test.
    Verify: The share of the event.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", SQL*Net break/reset to client.
    """
    part = share(case, ERRORS)
    if case.worth_saying(part):
        yield Claim(
            phrase("Errors go back to clients: {:share of database}", part),
            impact=part,
            confidence=0.7,
            for_=[
                *waited(case, ERRORS),
                *counted(case, "v$sysstat.parse count (failures)", "{:rate failed parses}"),
            ],
        )


@cause()
def parallel_servers_short(case: Case) -> Iterator[Claim]:
    """Parallel statements ask for more servers than there are.

    Looks like: parallel operations that were downgraded; waits for the parallel servers' own messages and locks.
    Hurts because: a statement runs with a fraction of its servers, or serially, and takes a multiple of its time, as
        chance has it; too many servers at once only queue for CPUs and disks.
    Speaks for it: operations downgraded, share of such waits, degree against CPUs.
    Speaks against it: none that was downgraded.
    Remedy: A degree of about the number of CPUs at most for the whole host, no default degree on tables that short
        statements use; statement queueing (parallel_degree_policy) or a cap by the resource manager.
    Verify: No downgrades at the busiest hour; run times that repeat themselves.
    Source: Oracle Database VLDB and Partitioning Guide 19c, "Using Parallel Execution"; J. Doelle and S. Langer, 2012
        (degree no more than CPUs, never above twice that).
    """
    part = share(case, *PARALLEL)
    down = sum(case.total(f"v$sysstat.{name}") or 0.0 for name in DOWNGRADED)
    full = case.total(NOT_DOWNGRADED)
    rate = down / (down + (full or 0.0)) if down else 0.0
    count = sum(case.amount(f"v$sysstat.{name}") for name in DOWNGRADED)
    often = rate >= DOWNGRADED_SHARE and count >= LEAST_DOWNGRADED
    if not often and not case.worth_saying(part):
        return
    limit = case.setting_of_any("parallel_max_servers")
    yield Claim(
        phrase("{:share} of the parallel operations got fewer servers than they asked for", rate)
        if often
        else phrase("Parallel servers wait for one another: {:share of database}", part),
        impact=case.felt(part),
        confidence=0.85 if often else 0.6,
        for_=[
            *([Evidence("statistic", "name like 'v$sysstat.Parallel operations downgraded%'",
                        phrase("{:,.0f} operations downgraded", count),
                        phrase("{:share}", DOWNGRADED_SHARE),
                        phrase("parallel_max_servers is {}", limit or 'not known'))] if often else []),
            *waited(case, *PARALLEL),
        ],
    )  # fmt: skip
