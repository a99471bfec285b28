"""InnoDB's own limits, by the global status or by its monitor: room in the log, its latches."""

from collections.abc import Iterator

import polars as pl

from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NONE_YET, NOT_MEASURED, Claim, Evidence
from doctord.diagnose.phrase import phrase

CHECKPOINT_AGE = "global_status.innodb_checkpoint_age"
LOG_ROOM = "global_status.innodb_checkpoint_max_age"
WAITING = "innodb_status.semaphore_waiting"
LONGEST_WAIT = "innodb_status.semaphore_longest_wait"
# InnoDB's own limits, of the room in the log: from 7/8 it writes pages as fast as it can, from 15/16 who changes rows
# has to wait for that (log0log: max_modified_age_async and _sync).
WRITES_FROM = 0.875
WAITS_FROM = 0.9375
# A latch is held for microseconds; who waits for seconds, waits behind somebody who waits for a disk, or hangs.
LONG_LATCH_S = 1.0
SEVERAL = 2.0
# From here on InnoDB itself warns; after 600 s it ends the server.
WARNED_S = 240.0
LOGGED_WAITS, LOGGED_LONGEST = "log.semaphore_waits", "log.semaphore_longest_wait"
LATE, LOOP = "log.page_cleaner_late", "log.page_cleaner_loop"
# It is to flush pages once a second, and says so from four seconds on; ten are a device, or a host, that hardly moves.
SLOW_LOOP_S = 10.0
MOST_TOLD = 4
PLACE = r"^(?P<place>.+): for (?P<seconds>\d+) s$"


@cause()
def log_room_short(case: Case) -> Iterator[Claim]:
    """InnoDB's log has hardly any room left before its last checkpoint.

    Looks like: a checkpoint age of seven eighths and more of what the log allows.
    Hurts because: no place in the log may be written again before the pages that it covers are on disk: from seven
        eighths on, InnoDB writes pages as fast as the disks can; a little further, who changes rows waits for that.
    Speaks for it: checkpoint age against its maximum.
    Speaks against it: a burst: the age was well below at other times.
    Remedy: A larger log: innodb_redo_log_capacity (MySQL 8.0.30 and later), innodb_log_file_size before and in MariaDB:
        an hour of redo is a good size; then innodb_io_capacity and _max, so that pages are written ahead.
    Verify: The largest checkpoint age stays below three quarters at the busiest hour.
    Source: MySQL Reference Manual, "Redo Log" (innodb_redo_log_capacity) and "Configuring Buffer Pool Flushing"
        (adaptive flushing); MariaDB documentation, "InnoDB Redo Log" (Innodb_checkpoint_age and _max_age).
    """
    for age in case.figures(CHECKPOINT_AGE):
        most = next((figure.last for figure in case.figures(LOG_ROOM) if figure.db == age.db and figure.last > 0), None)
        if most is None or age.largest < WRITES_FROM * most:
            continue
        is_a_burst = age.mean < 0.5 * most
        yield Claim(
            phrase("InnoDB's log is {:share} full of changes that are not in the data files", age.largest / most),
            impact=NOT_MEASURED if age.mean >= WAITS_FROM * most else NONE_YET,
            severity="note" if is_a_burst else "warning",
            confidence=0.85,
            for_=[
                Evidence("statistic", f"name = '{CHECKPOINT_AGE}'", phrase("{:bytes} of {:bytes}", age.largest, most),
                         phrase("{:.1f %}", WRITES_FROM * 100), "soon changes wait for writes of pages", "at_least")
            ],
            against=[
                Evidence("statistic", f"name = '{CHECKPOINT_AGE}'", phrase("{:share} on average", age.mean / most),
                         phrase("{:share}", 0.5), "a burst", "at_least")
            ] if is_a_burst else [],
            database=age.db,
        )  # fmt: skip


@cause(explains=("row_locks", "commits_slow"))
def latches_held_long(case: Case) -> Iterator[Claim]:
    """Threads wait for seconds for InnoDB's latches (semaphores).

    Looks like: `has waited at ... for 2.00 seconds the semaphore` under SEMAPHORES in the monitor, of several threads;
        `a long semaphore wait` in the error log, which InnoDB writes from 240 s on.
    Hurts because: a latch guards a structure that all need (an index's root, the dictionary, the adaptive hash index);
        who holds it for seconds stops them all, and no row lock shows it. After 600 s InnoDB ends the server.
    Speaks for it: how many threads wait, and for how long the one that waits longest.
    Speaks against it: one thread, or less than a second: every busy server has such waits.
    Remedy: Read in the monitor whom they wait for (`a writer (thread id ...) has reserved it`) and at which file and
        line: btr0sea is the adaptive hash index (innodb_adaptive_hash_index = OFF), dict0dict the dictionary (DDL, many
        tables), buf0buf or fil0fil the buffer pool or a file (a disk that does not answer: look at its writes).
    Verify: No line `has waited at` in the next monitors at the same load.
    Source: MySQL Reference Manual, "InnoDB Standard Monitor and Lock Monitor Output" (SEMAPHORES),
        innodb_fatal_semaphore_wait_threshold and "Adaptive Hash Index".
    """
    yield from _latches_in_log(case)
    longest = {figure.db: figure.largest for figure in case.figures(LONGEST_WAIT)}
    for waiting in case.figures(WAITING):
        waited_s = longest.get(waiting.db, 0.0)
        if waiting.largest < SEVERAL or waited_s < LONG_LATCH_S:
            continue
        yield Claim(
            phrase("{:.0f} threads wait for InnoDB's latches, one for {:.0f s}", waiting.largest, waited_s),
            impact=NOT_MEASURED,
            severity="critical" if waited_s >= WARNED_S else "warning",
            confidence=0.85,
            for_=[
                Evidence("statistic", f"name = '{WAITING}'", phrase("{:.0f} threads waiting", waiting.largest),
                         phrase("{:.0f}", SEVERAL), "behind one that holds a latch", "at_least"),
                Evidence("statistic", f"name = '{LONGEST_WAIT}'", phrase("{:.0f s}", waited_s),
                         phrase("{:.0f s}", LONG_LATCH_S), "latches are held for microseconds", "at_least"),
            ],
            database=waiting.db,
        )  # fmt: skip


@cause(explains=("log_room_short",))
def page_cleaner_late(case: Case) -> Iterator[Claim]:
    """InnoDB's page cleaner takes many seconds for what it does once a second.

    Looks like: `page_cleaner: 1000ms intended loop took 38809ms` in the error log.
    Hurts because: pages that changed are written too slowly: free pages and room in the log run out, and whoever reads
        or changes rows writes pages itself.
    Speaks for it: how often, and how long the longest loop took.
    Speaks against it: a single one, at a start or while a buffer pool is loaded.
    Remedy: Look at the writes of the device under the data files (iostat -x: queue and latency); a virtual disk, a
        limit on a container's I/O or fsyncs of others are common. Where the device has room: innodb_io_capacity and
        _max lower than it can do, more innodb_page_cleaners (one a buffer pool instance).
    Verify: No such line in the error log at the same load.
    Source: MySQL Reference Manual, "Configuring Buffer Pool Flushing" (innodb_page_cleaners, innodb_io_capacity).
    """
    longest = {figure.db: figure.largest for figure in case.figures(LOOP)}
    for late in case.figures(LATE):
        times, took_s = round(case.amount(LATE, late.db)), longest.get(late.db, 0.0)
        if took_s < SLOW_LOOP_S:
            continue
        yield Claim(
            phrase("InnoDB's page cleaner took up to {:.0f s} for a loop of one second", took_s),
            impact=NOT_MEASURED,
            severity=None if times >= SEVERAL else "note",
            confidence=0.75,
            for_=[
                Evidence("statistic", f"name = '{LATE}'", phrase("{:count time/times} later than four seconds", times),
                         phrase("{:.0f}", SEVERAL), "as its error log says", "at_least"),
                Evidence("statistic", f"name = '{LOOP}'", phrase("{:.0f s} at most", took_s),
                         phrase("{:.0f s}", SLOW_LOOP_S), "pages are written once a second elsewhere", "at_least"),
            ],
            database=late.db,
        )  # fmt: skip


def _latches_in_log(case: Case) -> Iterator[Claim]:
    """What the error log says of them: InnoDB writes each wait of four minutes and longer, and in the end gives up."""
    longest = {figure.db: figure.largest for figure in case.figures(LOGGED_LONGEST)}
    events = case.dataset.frame("event")
    for waits in case.figures(LOGGED_WAITS):
        if waits.db not in longest:
            continue
        of_db = events.filter(pl.col("db") == waits.db)
        places = of_db.filter(pl.col("kind") == "semaphore wait").select(told=pl.col("text").str.extract_groups(PLACE))
        ended = of_db.filter(pl.col("text").str.starts_with("We intentionally crash the server"))
        known = places.unnest("told").drop_nulls().group_by("place", maintain_order=True)
        longest_at = known.agg(pl.col("seconds").cast(pl.Float64).max())
        worst = longest_at.sort("seconds", "place", descending=[True, False], maintain_order=True).head(MOST_TOLD)
        yield Claim(
            phrase("Threads wait up to {:.0f s} for InnoDB's latches{}", longest[waits.db],
                   ", and it ended itself" if ended.height else ""),
            impact=NOT_MEASURED,
            severity="critical",
            confidence=0.95,
            for_=[
                Evidence("statistic", f"name = '{LOGGED_WAITS}'",
                         phrase("{:count wait/waits} in the error log", round(case.amount(LOGGED_WAITS, waits.db))), "",
                         "each is told again every few seconds while it lasts"),
                Evidence("statistic", f"name = '{LOGGED_LONGEST}'", phrase("{:.0f s}", longest[waits.db]),
                         phrase("{:.0f s}", WARNED_S), "latches are held for microseconds", "at_least"),
                *(Evidence("event", "kind = 'semaphore wait'", phrase("{:.0f s} at {}", seconds, place), "",
                           "file and line of the server's source") for place, seconds in worst.iter_rows()),
            ],
            database=waits.db,
        )  # fmt: skip
