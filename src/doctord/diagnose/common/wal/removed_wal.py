"""Standbys that ask for WAL which the server that they follow has removed, as the servers' logs tell it.

A walsender says `requested WAL segment ... has already been removed` (58P01, or XX000 where the removal was seen before
the file was missed), and the standby's receiver repeats it: `could not receive data from WAL stream: ERROR: ...`. It
tries again every wal_retrieve_retry_interval, five seconds by default, and never gets further.
"""

from datetime import timedelta
from typing import Final, NamedTuple

from doctord.analyse.errors import LOGGED, Logged, failures, logged
from doctord.diagnose.case import Case
from doctord.diagnose.finding import Evidence
from doctord.diagnose.phrase import Words, phrase
from doctord.diagnose.words import shortened
from doctord.regex import regex

_REMOVED: Final = regex(r"requested WAL segment .*has already been removed")
_RECEIVER: Final = "could not receive data from WAL stream"
# Twelve tries: whoever has not asked for so long got it from elsewhere, was made anew, or was given up.
_STILL: Final = timedelta(minutes=1)
REBUILD: Final[tuple[Words, ...]] = (
    "Waiting does not help, nor does pg_rewind: the server that it follows has this WAL no more. If an archive has the "
    "segments, give the standby a restore_command that fetches them: it then goes on by itself.",
    "Else make the standby anew: stop it, and pg_basebackup -R -C -S NAME into an "
    "empty data directory, or restore a backup whose WAL the archive still has.",
    "So that it does not come again: a replication slot for it, with max_slot_wal_keep_size as a bound, or "
    "wal_keep_size above what is written while it is away.",
)


class Removed(NamedTuple):
    """A message about WAL that was removed; `is_told_by_standby` where the standby's own log has it."""

    message: Logged
    is_told_by_standby: bool
    is_over: bool

    @property
    def evidence(self) -> Evidence:
        """How often it came, and what follows."""
        message = self.message
        return Evidence(
            "statistic",
            f"name = '{LOGGED}' and db = '{message.db}' and entity = '{message.entity}'",
            phrase("{:count time/times} in the log: {}", round(message.count), shortened(message.message)),
            "",
            "each try ends so: what the standby needs next is not there any more",
        )


def is_about_removed(message: Logged) -> bool:
    """Whether a message of a log is about WAL that was asked for and is not there any more."""
    return _REMOVED.search(message.message) is not None


def removed(case: Case, db: str) -> Removed | None:
    """The most frequent such message in the log of a server; null where there is none."""
    found = [one for one in failures(logged(case.dataset)) if one.db == db and is_about_removed(one)]
    if not found:
        return None
    until = case.dataset.until
    is_over = all(one.last is not None and until is not None and until - one.last > _STILL for one in found)
    return Removed(found[0], _RECEIVER in found[0].message, is_over)
