"""Oracle's parsing: cursors that are not shared, not kept, or asked for too often."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import holders_ran, leaders, parsing_parts, per, time_model
from doctord.diagnose.common.waited import share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim
from doctord.diagnose.phrase import phrase

PARSING = "parse time elapsed"
HARD = "hard parse elapsed time"
HARD_COUNT = "v$sysstat.parse count (hard)"
PARSE_COUNT = "v$sysstat.parse count (total)"
EXECUTIONS = "v$sysstat.execute count"
LIBRARY = ("library cache lock", "library cache pin")
MUTEXES = ("library cache: mutex X", "library cache: mutex S", "library cache: bucket mutex X", "latch: library cache",
           "latch free")  # fmt: skip
CURSOR = ("cursor: mutex S", "cursor: mutex X", "cursor: pin S", "cursor: pin X", "cursor: pin S wait on X")
# Nearly one parse for each execution: nobody keeps a cursor open.
PARSES_PER_EXECUTION = 0.5
MANY_VERSIONS = 100.0
INVALIDATIONS_PER_S = 0.1


@cause(explains=("library_cache_contention",))
def parse_calls_frequent(case: Case) -> Iterator[Claim]:
    """The application parses before nearly every execution.

    Looks like: almost as many parse calls as executions, and time in soft parsing or in waits for mutexes.
    Hurts because: even a soft parse looks the cursor up under a mutex, and costs CPU and a round trip.
    Speaks for it: parse calls for each execution, parse time less hard parse time, mutex waits.
    Speaks against it: hard parses as the larger part: see hard_parsing.
    Remedy: Keep statements open in the application or let its pool cache them; session_cached_cursors helps where
        it cannot; in PL/SQL use static SQL.
    Verify: Parse count for each execution and the waits for mutexes fall.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool"; C. Antognini, 2nd edition, 2014,
        chapter 12 (soft parses).
    """
    hard = per(case, HARD_COUNT, PARSE_COUNT)
    rate = per(case, PARSE_COUNT, EXECUTIONS)
    soft_time = (time_model(case, PARSING) or 0.0) - (time_model(case, HARD) or 0.0)
    impact = max(soft_time, share(case, *MUTEXES))
    if rate is None or rate < PARSES_PER_EXECUTION or not case.worth_saying(impact):
        return
    for_, against = weigh(
        [
            Sign("statistic", f"name = '{PARSE_COUNT}'", rate, PARSES_PER_EXECUTION, "{:.2f} parse calls an execution",
                 "cursors are not kept open"),
            Sign("statistic", f"name = '{HARD_COUNT}'", None if hard is None else hard * 100, 10.0,
                 "{:.1f %} of the parses are hard", "the parses are soft", "hard parsing is the larger trouble",
                 below=True),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Statements are parsed for nearly every execution: {:share of database}", impact),
        impact=impact,
        confidence=0.6 if against else 0.8,
        for_=[*for_, *waited(case, *MUTEXES), *parsing_parts(case)],
        against=against,
    )


@cause()
def library_cache_contention(case: Case) -> Iterator[Claim]:
    """Sessions wait for one another in the library cache.

    Looks like: library cache lock, library cache pin, library cache: mutex X, library cache load lock.
    Hurts because: an object that is altered, compiled or loaded is closed to all who want to use it; a popular one is
        reached under one mutex by all.
    Speaks for it: share of these waits; invalidations and reloads; the mutexes with most sleeps.
    Speaks against it: a host without a free CPU: a holder that is not running makes mutexes look contended.
    Remedy: With locks and pins: no DDL, grants, compilations and gathering of statistics in busy hours. With mutexes:
        fewer parse calls, a popular PL/SQL package called less often or marked hot (dbms_shared_pool.markhot).
    Verify: The share of these waits; invalidations per second.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", library cache lock, library cache: mutex X;
        Oracle Support, "Library cache: mutex X" (Doc ID 727400.1).
    """
    events = (*LIBRARY, *MUTEXES)
    part = share(case, *events)
    if not case.worth_saying(part):
        return
    for_, against = weigh(
        [
            Sign("statistic", "name = 'v$librarycache.invalidations'", case.total("v$librarycache.invalidations"),
                 INVALIDATIONS_PER_S, "{:.2g invalidations per s}", "something changes objects in use"),
            holders_ran(case),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Sessions wait for each other in the library cache: {:share of database}", part),
        impact=part,
        confidence=0.6 if against else 0.8,
        for_=[
            *waited(case, *events),
            *leaders(case, "v$mutex_sleep.wait_time", "where they sleep"),
            *leaders(case, "v$librarycache.reloads", "what is loaded again"),
            *for_,
        ],
        against=against,
    )


@cause()
def cursor_contention(case: Case) -> Iterator[Claim]:
    """Sessions wait for one another on a cursor, or on the list of its versions.

    Looks like: cursor: pin S, cursor: mutex S, cursor: mutex X; cursor: pin S wait on X while another session
        parses the same statement.
    Hurts because: to execute a cursor it is pinned under its mutex; many child cursors make the search long. A parse
        pins it exclusively for as long as it takes.
    Speaks for it: share of these waits, statements with many versions, executions per second of one statement.
    Speaks against it: a host without a free CPU.
    Remedy: Find why the versions are not shared (v$sql_shared_cursor): bind lengths, optimiser settings by session,
        roles; one very popular statement can be split by a comment in its text, or called less often. Where a
        parse is waited for (pin S wait on X): what makes it long, in the other session (joins, dynamic sampling), and
        what invalidates the cursor while it is used.
    Verify: The share of these waits; version counts.
    Source: Oracle Database Reference 19c, "Descriptions of Wait Events", cursor: mutex S; Oracle Support, "High SQL
        version counts" (Doc ID 296377.1).
    """
    part = share(case, *CURSOR)
    if not case.worth_saying(part):
        return
    versions = [figure for figure in case.figures("v$sqlstats.version_count") if figure.mean >= MANY_VERSIONS]
    for_, against = weigh([holders_ran(case)])
    yield Claim(
        phrase("Sessions wait for each other on cursors: {:share of database}", part),
        impact=part,
        confidence=0.6 if against else 0.8,
        for_=[
            *waited(case, *CURSOR),
            *(leaders(case, "v$sqlstats.version_count", "many versions of one statement") if versions else []),
            *for_,
        ],
        against=against,
    )
