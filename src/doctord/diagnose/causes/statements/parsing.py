"""Parsing and planning: statements that are new to the server."""

from collections.abc import Iterator

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.common.oracle import counted, parsing_parts, time_model
from doctord.diagnose.common.waited import of_kind, share, waited
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import Claim
from doctord.diagnose.phrase import phrase

PARSE = "parse"
HARD = "hard parse elapsed time"
HARD_COUNT = "v$sysstat.parse count (hard)"
POOL = ("latch: shared pool", "latch: row cache objects", "library cache load lock", "cursor: pin S wait on X",
        "row cache mutex", "row cache lock")  # fmt: skip
# A handful of new statements a second is any server's; beyond, someone makes them up as he goes.
HARD_PER_S = 20.0
HARD_TIME = 0.05


@cause(
    explains=(
        "library_cache_contention",
        "cursor_contention",
        "shared_pool_small",
        "shared_pool_busy",
        "parse_calls_frequent",
    )
)
def hard_parsing(case: Case) -> Iterator[Claim]:
    """Statements are new to the server all the time: each is parsed and optimised.

    Looks like: in Oracle a share of hard parsing in the time model, many hard parses a second, waits for the shared
        pool; in MySQL threads in the states statistics, optimizing, preparing, Opening tables.
    Hurts because: to parse and plan costs CPU, and in Oracle holds latches and mutexes of the shared pool that all
        parsing needs.
    Speaks for it: hard parse time as a share of database time, hard parses per second, waits for the shared pool; time
        in the states of a plan that is being made.
    Speaks against it: few hard parses that take long each: then optimising itself (dynamic sampling, many joins), or
        cursors that were thrown out.
    Remedy: Bind variables in place of literals, and statements that are prepared once; see to it that failed parses
        stop.
        PostgreSQL: prepared statements in the driver; plan_cache_mode where plans are made anew each time.
        Oracle: find the statements that share one FORCE_MATCHING_SIGNATURE; until the application is fixed
        cursor_sharing = FORCE may serve; test it first.
        MySQL: server-side prepared statements; a table_open_cache and table_definition_cache that hold all tables;
        fewer index dives (eq_range_index_dive_limit).
    Verify: The time in it falls at the same executions. Oracle: hard parses per second and hard parse elapsed time
        fall.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool and the Large Pool"; T. Kyte, Expert
        Oracle Database Architecture, 2005 (bind variables); C. Antognini, 2nd edition, 2014, chapter 12; MySQL
        Reference Manual, "General Thread States" and "How MySQL Opens and Closes Tables".
    """
    if "oracle" in case.components:
        yield from _by_time_model(case)
    if case.components == {"oracle"}:
        return
    part = case.time.kind_share(PARSE)
    if case.worth_saying(part):
        yield Claim(
            phrase("Parsing and planning takes {:share of database}", part),
            impact=part,
            confidence=0.6,
            for_=[
                *of_kind(case, PARSE),
                *counted(case, "global_status.table_open_cache_misses", "{:rate tables opened anew}"),
            ],
        )


def _by_time_model(case: Case) -> Iterator[Claim]:
    """As Oracle times it."""
    parsing, pool = time_model(case, HARD), share(case, *POOL)
    impact = max(parsing or 0.0, pool)
    hard = case.total(HARD_COUNT)
    felt = (parsing or 0.0) >= HARD_TIME or (hard is not None and hard >= HARD_PER_S)
    if not case.worth_saying(impact) or not felt:
        return
    for_, against = weigh(
        [
            Sign("statistic", "name = 'v$sys_time_model.hard parse elapsed time'",
                 None if parsing is None else parsing * 100, HARD_TIME * 100, 'hard parsing: {:.1f %} of database time',
                 "time of sessions, whatever they waited for in it", "the parses themselves take little"),
            Sign("statistic", f"name = '{HARD_COUNT}'", hard, HARD_PER_S, '{:.1f hard parses per s}',
                 "statements differ, most likely in literals", "few, so each takes long: optimising, or a reload"),
        ]
    )  # fmt: skip
    yield Claim(
        phrase("Hard parsing takes {:share of database}", impact),
        impact=impact,
        confidence=0.65 if against else 0.9,
        for_=[
            *for_,
            *waited(case, *POOL),
            *parsing_parts(case),
            *counted(case, "v$sysstat.parse count (failures)", "{:rate} that fail"),
        ],
        against=against,
    )
