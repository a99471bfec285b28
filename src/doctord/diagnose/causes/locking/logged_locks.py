"""Locks that were waited for, from a log alone, for the causes of locks: nobody measured the sessions' time."""

from collections.abc import Iterator

from doctord.analyse.locking.logged_locks import Held, Waits, logged_locks
from doctord.diagnose.case import Case
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened

# Whoever waits for ten seconds does something else meanwhile; four in line are a queue.
LOST_S, IN_LINE = 10.0, 4
MOST_TOLD = 3
HOLDER = NotMeasured(
    "what the holder did",
    "a log names its process, and no statement of it",
    "log_line_prefix with %p and %a, log_min_duration_statement; pg_stat_activity and pg_blocking_pids while it lasts",
)


def logged_waits(case: Case, *, of_rows: bool) -> Iterator[Claim]:
    """Waits for locks of rows, or of all else, that a log tells; short ones are a note."""
    if case.is_time_measured:
        return
    for waits in logged_locks(case.dataset):
        if waits.of_rows is of_rows:
            yield Claim(
                _title(waits),
                impact=NOT_MEASURED,
                confidence=0.85,
                for_=[*_got(waits), *(_holding(held) for held in waits.held[:MOST_TOLD]), *_statements(waits)],
                not_measured=[HOLDER],
                severity=None if waits.longest_s >= LOST_S or waits.queue >= IN_LINE else "note",
                database=waits.db,
            )


def _title(waits: Waits) -> Words:
    kind = "row locks" if waits.of_rows else "locks on tables or other objects"
    if waits.queue > 1:
        return phrase("{} sessions wait in line for {}, {:.0f s} and longer", waits.queue, kind, waits.longest_s)
    if waits.acquired <= 1:
        return phrase("A session waited {:.1f s} for {}", waits.longest_s, kind)
    return phrase("Sessions waited {:.1f s} for {}, {:,.0f} times", waits.waited_s, kind, waits.acquired)


def _got(waits: Waits) -> list[Evidence]:
    if not waits.acquired:
        return []
    each = waits.waited_s / waits.acquired
    return [
        Evidence("statistic", "name = 'log.lock_wait_time'",
                 phrase("{:,.1f s} waited, {:,.1f s} each", waits.waited_s, each), phrase("{:.0f s}", LOST_S),
                 phrase("{:count lock/locks} that the log says were got in the end", round(waits.acquired))),
    ]  # fmt: skip


def _holding(held: Held) -> Evidence:
    who = f"process {held.holder}" if held.holder else "a process that is not named"
    return Evidence(
        "event",
        "kind = 'lock wait'",
        phrase("{:.0f s} at least: {} is held by {}", held.seconds, held.what, who),
        "",
        phrase("{:count session/sessions} in line", held.queue),
    )


def _statements(waits: Waits) -> list[Evidence]:
    return [
        Evidence("event", "kind = 'lock wait'", "a statement that waited", "", shortened(statement))
        for statement in waits.statements[:MOST_TOLD]
    ]
