"""Settings of InnoDB that decide how long sessions wait for each other."""

from collections.abc import Iterator
from typing import Final

from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import phrase
from doctord.lint.mysql.measured import evidence, figure, is_felt, latest, share
from doctord.lint.rule import rule
from doctord.lint.subject import Subject
from doctord.lint.violation import Severity, Violation

_LONG_S: Final = 60.0  # a transaction whose session does nothing for so long is forgotten, not thinking


@rule("mysql")
def lock_waits_long(subject: Subject) -> Iterator[Violation]:
    """Sessions spend their time waiting for row locks, and may do so for long.

    Why: innodb_lock_wait_timeout lets a statement wait for a row for so long; the application's users wait with it, and
        connections pile up behind one forgotten transaction.
    Evidence: Innodb_row_lock_time a second as a share of the statements' time; the longest wait.
    Fix: Find who holds the locks (performance_schema.data_lock_waits, information_schema.innodb_lock_waits) and shorten
        that transaction; lower innodb_lock_wait_timeout to what a user would wait.
    Verify: Innodb_row_lock_time a second falls.
    Source: MySQL Reference Manual, 17.14, innodb_lock_wait_timeout, 7.1.10 Innodb_row_lock_time.
    """
    timeout, waited_ms = subject.number("innodb_lock_wait_timeout"), figure(subject, "innodb_row_lock_time")
    if timeout is None or not waited_ms or not is_felt(subject, waited_ms / 1000):
        return
    waited = waited_ms / 1000
    why = "this many sessions wait on average"
    yield subject.violation(
        phrase("innodb_lock_wait_timeout = {:.0f} s: sessions wait for row locks", timeout),
        "innodb_lock_wait_timeout",
        cost=phrase("{:.2f} sessions wait for row locks all the time, each for up to {:.0f} s", waited, timeout),
        impact=share(subject, waited),
        evidence=[evidence("innodb_row_lock_time", phrase("{:.0f ms a second}", waited_ms), "none", why)],
    )


@rule("mysql")
def deadlocks_wait_for_timeout(subject: Subject) -> Iterator[Violation]:
    """Deadlocks are not detected: both sides wait until one gives up.

    Why: with innodb_deadlock_detect = OFF every deadlock lasts for innodb_lock_wait_timeout, and blocks all others that
        want these rows meanwhile.
    Evidence: innodb_deadlock_detect and innodb_lock_wait_timeout.
    Fix: Set innodb_deadlock_detect = ON; where its mutex was measured to cost more, innodb_lock_wait_timeout = 1 or 2.
    Verify: SHOW ENGINE INNODB STATUS names the latest detected deadlock.
    Source: MySQL Reference Manual, 17.7.5.2 Deadlock Detection.
    """
    timeout = subject.number("innodb_lock_wait_timeout")
    if subject.flag("innodb_deadlock_detect") is False and timeout is not None and timeout > 5:
        yield subject.violation(
            phrase("innodb_deadlock_detect = OFF: a deadlock lasts {:.0f} s", timeout),
            "innodb_deadlock_detect",
            "innodb_lock_wait_timeout",
            cost=phrase("each deadlock stops two sessions, and all behind them, for {:.0f} s", timeout),
            severity=Severity.WARNING,
            changes=[subject.change("innodb_deadlock_detect", "ON")],
        )


@rule("mysql")
def transactions_left_open(subject: Subject) -> Iterator[Violation]:
    """A session sleeps within a transaction, and may do so for hours.

    Why: its locks stay, and no row version that is newer than it can be purged: undo grows, and reads go through it.
        wait_timeout would end it.
    Evidence: information_schema.innodb_trx of sessions that sleep; Innodb_history_list_length; wait_timeout.
    Fix: Set innodb idle limits (MariaDB: idle_transaction_timeout), or lower wait_timeout; let the application commit.
    Verify: no transaction of a sleeping session is older than that; the history list shrinks.
    Source: MySQL Reference Manual, 17.8.9 Purge Configuration; MariaDB documentation, Transaction Timeouts.
    """
    oldest, timeout = latest(subject, "innodb_trx.sleeping_oldest_s"), subject.number("wait_timeout")
    ends = subject.number("idle_transaction_timeout") or timeout
    if oldest is None or ends is None or oldest < _LONG_S or ends <= oldest:
        return
    history = latest(subject, "innodb_history_list_length")
    held = phrase(", and {:,.0f} transactions wait to be purged", history) if history is not None else ""
    seen = Evidence(
        "statistic",
        "name = 'innodb_trx.sleeping_oldest_s'",
        phrase("{:.0f s}", oldest),
        phrase("{:.0f s}", _LONG_S),
        "nobody works in it",
    )
    yield subject.violation(
        phrase("wait_timeout = {:.0f} s: a transaction has been left open for {:duration}", timeout or ends, oldest),
        "wait_timeout",
        "idle_transaction_timeout",
        cost=phrase("its locks are held for up to {:duration}{}", ends, held),
        severity=Severity.WARNING,
        evidence=[seen],
    )
