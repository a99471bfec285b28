"""Statements that a server's log tells to be slow, where nobody measured what they waited for."""

from collections.abc import Iterator, Sequence

from doctord.analyse.sql.logged_statements import Logged, logged
from doctord.diagnose.case import Case
from doctord.diagnose.cause import cause
from doctord.diagnose.finding import NOT_MEASURED, Claim, Evidence, NotMeasured
from doctord.diagnose.phrase import phrase
from doctord.diagnose.words import shortened

# Once is a report or a backup.
AGAIN_AND_AGAIN = 10
# A user's thought is interrupted after a second, and he turns to something else after ten.
FELT_MS, LOST_MS = 1_000.0, 10_000.0
# Ten times that is told of even once: a report, a backup, or something that waited for a lock.
NOBODY_WAITS_MS = 100_000.0
# A commit is one write of the log: ten times what a disk drive with a queue takes.
COMMIT_MS = 100.0
MOST_TOLD = 4
UNTOLD = NotMeasured(
    "what they waited for, and what they do",
    "a log tells how long a statement took, not where the time went",
    "doctord record while it happens, auto_explain, log_lock_waits, pg_stat_statements; "
    "the performance schema of MySQL",
)


@cause()
def statements_slow(case: Case) -> Iterator[Claim]:
    """Statements take seconds each, again and again.

    Looks like: a log of slow statements with the same statement ten times and more, of a second or longer each;
        a single one of minutes is a note.
    Hurts because: somebody waits for each: a second interrupts a user's thought, after ten he does something else.
    Speaks for it: how often each was logged, and how long it took on average.
    Speaks against it: reports and jobs at night, which nobody waits for.
    Remedy: Find out where the time of the first one goes: its plan with what it really read (explain (analyze,
        buffers); in MySQL explain analyze), locks that it waited for; then an index, a better condition, a kept result.
    Verify: Its mean time in the log of the same load.
    Source: R. B. Miller, "Response time in man-computer conversational transactions", 1968; PostgreSQL documentation,
        log_min_duration_statement; MySQL Reference Manual, "The Slow Query Log".
    """
    if case.is_time_measured:
        return
    timed = [one for one in logged(case.dataset) if not one.is_commit]
    slow = [one for one in timed if one.count >= AGAIN_AND_AGAIN and one.mean_ms >= FELT_MS]
    slow = slow or [one for one in timed if one.mean_ms >= NOBODY_WAITS_MS]
    if not slow:
        return
    worst = slow[0]
    yield Claim(
        phrase("Statements take {:.1f s} each, {:,.0f} times: {}", worst.mean_ms / 1e3, worst.count, _text(worst))
        if worst.count > 1
        else phrase("A statement took {:.1f s}: {}", worst.mean_ms / 1e3, _text(worst)),
        impact=NOT_MEASURED,
        confidence=0.6,
        for_=_told(slow),
        not_measured=[UNTOLD],
        severity=None if worst.mean_ms >= LOST_MS and worst.count >= AGAIN_AND_AGAIN else "note",
    )


def logged_commits(case: Case) -> Iterator[Claim]:
    """Commits that took long by a log, where nothing tells what sessions waited for."""
    if case.is_time_measured:
        return
    commits = [one for one in logged(case.dataset) if one.is_commit and one.mean_ms >= COMMIT_MS]
    count = sum(one.count for one in commits)
    if count < AGAIN_AND_AGAIN:
        return
    mean_ms = sum(one.total_s for one in commits) * 1e3 / count
    yield Claim(
        phrase("Commits take {:,.0f ms} each: {:,.0f} in the log", mean_ms, count),
        impact=NOT_MEASURED,
        confidence=0.7,
        for_=_told(commits),
        not_measured=[UNTOLD],
    )


def _told(statements: Sequence[Logged]) -> list[Evidence]:
    return [
        Evidence(
            "statement",
            f"statement_id = '{one.statement_id}'",
            phrase("{:,.0f} times, {:,.0f ms} on average", one.count, one.mean_ms),
            "",
            _text(one),
        )
        for one in statements[:MOST_TOLD]
    ]


def _text(one: Logged) -> str:
    return shortened(one.text or f"statement {one.statement_id}")
