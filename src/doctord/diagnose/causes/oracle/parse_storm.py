"""A parse storm: one incident that shows as many."""

from collections.abc import Iterator

from doctord.analyse.report_series import Rise, rate_rises, rises
from doctord.diagnose.case import WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE, Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, measured
from doctord.diagnose.phrase import Words, phrase

PARSE_TIME = ("v$sys_time_model.parse time elapsed", "v$sys_time_model.hard parse elapsed time")
# What is counted of a storm, and how it is called.
COUNTED = {
    "v$sysstat.parse count (hard)": "hard parses",
    "v$sysstat.parse count (failures)": "failed parses",
    "v$sys_time_model.failed parse elapsed time": "time in failed parses",
    "v$sysstat.logons current": "sessions",
    "v$sysstat.logons cumulative": "logons",
}
EVENTS = ("library cache", "cursor:", "latch: shared pool", "latch: library cache", "row cache", "latch: row cache")
# Parse time alone may grow with the work; with two more of a storm's signs it is one.
SIGNS = 2
MOST_TOLD = 3


@cause(
    explains=("hard_parsing", "parse_calls_frequent", "library_cache_contention", "cursor_contention",
              "shared_pool_small", "shared_pool_busy", "connection_churn")
)  # fmt: skip
def parse_storm(case: Case) -> Iterator[Claim]:
    """At some moment sessions began to parse, and to wait for each other over it.

    Looks like: from one report to the next parse time, hard or failed parses, waits for library cache mutexes and
        cursor pins, and sessions rise together.
    Hurts because: parsing serialises on the memory that all cursors are in; the longer each waits, the more sessions
        come, and all of them parse.
    Speaks for it: parse time before and since, and what else rose in the same intervals.
    Speaks against it: as many more executions: then it is more work, and not more parsing for it.
    Remedy: Find out what changed at that moment: a release with literals or with statements that do not parse (a
        missing object or privilege), statistics that were gathered, DDL, a pool that was flushed, a storm of logons.
        Stop statements that fail first: each is parsed anew. Then bind variables, and a connection pool of fixed size.
    Verify: Parse time, hard and failed parses are back at the level before, and the waits for mutexes with them.
    Source: Oracle Database Performance Tuning Guide 19c, "Tuning the Shared Pool and the Large Pool"; Oracle Support,
        "Library cache: mutex X" (Doc ID 727400.1); C. Antognini, 2nd edition, 2014, chapter 12.
    """
    for storm, events, rates in storms(case):
        whole = case.time.seconds_per_second * (storm.within + storm.others)
        added = max(storm.added, sum(event.added for event in events))
        yield Claim(
            phrase("A parse storm from {:%Y-%m-%d %H:%M} on: {} of parse time", storm.since, _times(storm)),
            impact=measured(added * storm.within / whole) if whole else NOT_MEASURED,
            confidence=0.85,
            for_=[
                Evidence("statistic", f"name = '{storm.name}'", phrase("{:.3g s per s} of parse time", storm.now),
                         phrase("{:.3g s per s} in the {} other intervals", storm.before, storm.others),
                         phrase("from {:%Y-%m-%d %H:%M} to {:%Y-%m-%d %H:%M}", storm.since, storm.ends[1])),
                *(Evidence("statistic", f"name = '{rate.name}'", phrase("{}: {}", COUNTED[rate.name], _times(rate)),
                           phrase("{:.3g} before", rate.before), "it rose at the same time") for rate in rates),
                *(Evidence("wait", f"event = '{event.name}'", phrase("{}: {:.3g s per s}", event.name, event.now),
                           phrase("{:.3g s per s} before", event.before), "sessions that parse wait for each other")
                  for event in events[:MOST_TOLD]),
            ],
        )  # fmt: skip


def storms(case: Case) -> Iterator[tuple[Rise, list[Rise], list[Rise]]]:
    """Rises of parse time that are storms, each with the waits and the counts that rose with it."""
    counted = rate_rises(case.dataset, (*PARSE_TIME, *COUNTED))
    felt = max(WORTH_SAYING_SESSIONS, WORTH_SAYING_SHARE * case.time.seconds_per_second)
    parsings = [rise for rise in counted if rise.name in PARSE_TIME and rise.added >= felt]
    by_db = {rise.db: rise for rise in sorted(parsings, key=lambda rise: rise.added)}
    for db, parsing in sorted(by_db.items()):
        together = [rise for rise in (*counted, *rises(case.dataset)) if rise.db == db and overlap(parsing, rise)]
        events = [rise for rise in together if rise.kind == "event" and rise.name.startswith(EVENTS)]
        rates = [rise for rise in together if rise.name in COUNTED]
        if len(rates) + bool(events) >= SIGNS:
            yield parsing, events, rates


def overlap(rise: Rise, other: Rise) -> bool:
    """Whether two rises have an interval in common."""
    return other.since < rise.ends[1] and other.ends[1] > rise.since


def _times(rise: Rise) -> Words:
    return "as never before" if rise.times is None else phrase("{:.1f} times as much", rise.times)
