"""Why a standby's replay is paused, as far as its log tells: a setting that is lower than the primary's.

From version 14 on a standby pauses when it replays that the primary has more of what it must have as much of itself,
and says so once: `hot standby is not possible because of insufficient parameter settings`, DETAIL `max_connections = 20
is a lower setting than on the primary server, where its value was 100.` No function and no view tells it afterwards.
The message may be days old, so that the log is read from its end backwards; its words are in the server's language, the
setting's name and the two numbers in all.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from doctord.collect.core.rates import Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.server_log import Written, written
from doctord.collect.postgres.statistics.figures import Figures
from doctord.errors import UserError
from doctord.regex import regex

PRIMARY_HAS: Final = "log.primary_setting"
NAMES: Final = (
    "max_connections", "max_worker_processes", "max_wal_senders", "max_prepared_transactions",
    "max_locks_per_transaction",
)  # fmt: skip
_LOWER: Final = regex(rf"\b({'|'.join(NAMES)}) = (\d{{1,10}})\b[^\n\"=;]{{1,300}}?\b(\d{{1,10}})\b")
_OWN: Final = "SELECT /* doctord */ name, setting::int AS value FROM pg_settings WHERE name = ANY(%s)"
_EVERY_S: Final = 60.0
_BLOCK_BYTES: Final = 2**20
_MOST_BLOCKS: Final = 32
# A message that lies in two blocks is whole in one of them.
_OVERLAP_BYTES: Final = 4096


class PausedReplay:
    """Fills `statistic` with what the primary had of a setting (entity) that is lower here, while replay is paused."""

    def __init__(self) -> None:
        """Nothing is known; the log is looked at when replay is paused, then once a minute until it tells."""
        self._cadence = Cadence(_EVERY_S)
        self._found: dict[str, int] = {}

    def read(self, link: Link, figures: Figures, *, is_paused: bool) -> None:
        """The reading of this moment goes into `figures`; where the log may not be read, its collector says so."""
        if not is_paused:
            self._cadence, self._found = Cadence(_EVERY_S), {}  # the next pause has a reason of its own
            return
        if not self._found and self._cadence.due(time.monotonic()):
            with suppress(UserError, OSError):
                own = {row["name"]: row["value"] for row in link.query(_OWN, ([*NAMES],))}
                self._found = _lower(written(link), own)
        for name, value in self._found.items():
            figures.gauge(PRIMARY_HAS, value, entity=name)


def _lower(log: Written | None, own: Mapping[str, int]) -> dict[str, int]:
    """The setting that the log told of last, with the primary's value; empty where it tells of none in force now."""
    for text in _backwards(log) if log is not None else ():
        told = [(name, int(here), int(there)) for name, here, there in _LOWER.findall(text)]
        lower = [(name, there) for name, here, there in told if here == own.get(name) and there > here]
        if lower:
            return dict(lower[-1:])
    return {}


def _backwards(log: Written) -> Iterator[str]:
    """The blocks of a log and of those before it in its folder, the newest first."""
    left = _MOST_BLOCKS
    for path in _files(log):
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            status = os.fstat(file)
            end = status.st_size if stat.S_ISREG(status.st_mode) else 0
            while end > 0 and left > 0:
                begin = max(end - _BLOCK_BYTES, 0)
                yield os.pread(file, end - begin + _OVERLAP_BYTES, begin).decode(errors="replace")
                end, left = begin, left - 1
        finally:
            os.close(file)


def _files(log: Written) -> list[Path]:
    """A log, and those of its kind beside it where the server makes one after another, the newest first."""
    path = Path(log.path)
    if log.file is None:
        return [path]
    beside = [one for one in path.parent.iterdir() if one.suffix == path.suffix and one != path]
    return [path, *sorted(beside, key=lambda one: one.stat().st_mtime, reverse=True)]
