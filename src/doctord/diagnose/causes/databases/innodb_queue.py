"""Statements that queue before InnoDB, since it lets in only so many at a time."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.evidence import Sign, weigh
from doctord.diagnose.finding import NOT_MEASURED, Claim, at_most
from doctord.diagnose.phrase import phrase
from doctord.units import setting_number

LIMIT: Final = "innodb_thread_concurrency"
QUEUED, INSIDE = "innodb_status.queries_queued", "innodb_status.queries_inside"
# Below one on average nobody waits for it for long.
LEAST_QUEUED: Final = 1.0
LEAST_IDLE_PCT: Final = 20.0


@cause(
    explains=("hard_parsing", "other_waits", "time_not_measured", "statement_dominates", "missing_index"),
)
def innodb_threads_limited(case: Case) -> Iterator[Claim]:
    """Statements queue before InnoDB: innodb_thread_concurrency lets in only so many at a time.

    Looks like: threads in the states statistics, updating or Sending data that are on no CPU and wait for no lock;
        `queries in queue` of SHOW ENGINE INNODB STATUS; transactions that are "sleeping before entering InnoDB".
    Hurts because: a look-up of a row waits until a report has read its tickets' worth of rows, and sleeps some
        milliseconds in between, while CPUs stand idle.
    Speaks for it: the setting, how many queue and how many are within, idle CPUs.
    Speaks against it: CPUs that are full: then fewer threads at a time may be what was wanted.
    Remedy: SET GLOBAL innodb_thread_concurrency = 0 (no limit, the default); where a limit is wanted, some times the
        number of CPUs, found by a measured load.
    Verify: queries in queue is 0, at the same statements.
    Source: MySQL Reference Manual, "Configuring Thread Concurrency for InnoDB" and "Standard Monitor" (ROW OPERATIONS).
    """
    for queued in case.figures(QUEUED):
        limit = setting_number(case.setting(LIMIT, queued.db or "") or "")
        if not limit or queued.mean < LEAST_QUEUED:
            continue
        inside = next((one.mean for one in case.figures(INSIDE) if one.db == queued.db), None)
        for_, against = weigh(
            [
                Sign("setting", f"name = '{LIMIT}' and db = '{queued.db}'", limit, 1.0,
                     f"{LIMIT} = {{:.0f}}", "0 would let all in"),
                Sign("statistic", f"name = '{QUEUED}' and db = '{queued.db}'", queued.mean, LEAST_QUEUED,
                     "{:.1f} statements in its queue",
                     "" if inside is None else phrase("{:.1f} within InnoDB", inside)),
                Sign("cpu", "cpu is null", case.mean("cpu", "idle_pct"), LEAST_IDLE_PCT, "{:.0f % idle}",
                     "there is room on the CPUs", "the CPUs have no room for more"),
            ]
        )  # fmt: skip
        sessions = case.time.seconds_per_second
        yield Claim(
            phrase("{:.1f} statements queue before InnoDB: {} = {:.0f}", queued.mean, LIMIT, limit),
            impact=at_most(min(queued.mean / sessions, 1.0)) if sessions and case.is_time_measured else NOT_MEASURED,
            confidence=0.7 if against else 0.9,
            for_=for_,
            against=against,
            database=queued.db,
        )
