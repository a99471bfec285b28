"""Logs of servers that tell of no time: what is in them, and that neither health nor trouble follows from it."""

from collections.abc import Iterable
from typing import Final

from doctord.analyse.locking.logged_locks import logged_locks
from doctord.diagnose.case import Case
from doctord.diagnose.finding import NotMeasured
from doctord.diagnose.phrase import Phrase, listed, phrase

# What a live server tells beside its log.
UP_S: Final = "pg_postmaster_start_time.age_s"
MESSAGES: Final = "log.messages"
# What a log counts, and how one says it.
COUNTED: Final = {
    "pg_stat_checkpointer.num_timed": "checkpoint by time/checkpoints by time",
    "pg_stat_checkpointer.num_requested": "checkpoint before its time/checkpoints before their time",
    "log.connections_received": "connection/connections",
    "log.errors": "error/errors",
}
HOW: Final = {
    "postgresql": "log_min_duration_statement and log_lock_waits",
    "mysql": "slow_query_log with long_query_time",
}


def quiet_logs(case: Case) -> Iterable[NotMeasured]:
    """For each server of which a log alone is there, without the time of anything: what that log tells."""
    if case.is_time_measured or not case.dataset.frame("latency").is_empty() or logged_locks(case.dataset):
        return
    live = {figure.db for figure in case.figures(UP_S)}
    for db in sorted({figure.db for figure in case.figures(MESSAGES) if figure.db} - live):
        grant = phrase("{}, or doctord record while it runs", HOW.get(db.partition(":")[0], "a log of slow statements"))
        yield NotMeasured(
            phrase("how long statements of {} took, and what they waited for", db),
            phrase("no durations in a log of {}", _told(case, db)),
            grant,
        )


def _told(case: Case, db: str) -> Phrase:
    """What is counted in it: all messages, and of them what has a name."""
    amounts = {words: round(case.amount(name, db)) for name, words in COUNTED.items()}
    named = [phrase(f"{{:count {words}}}", count) for words, count in amounts.items() if count]
    return listed(phrase("{:count message/messages}", round(case.amount(MESSAGES, db))), *named)
