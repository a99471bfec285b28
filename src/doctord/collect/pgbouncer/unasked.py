"""What tells of a pooler that does not let us in: its log where it may be read, and the kernel's list of connections.

Neither needs a right at the console. The log has a line of statistics every minute (stats_period), of which the last is
taken at once; the kernel tells everybody how many clients are connected, not whether they wait.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.poolers import Pooler
from doctord.dataset.rows import now_us, rows
from doctord.regex import regex

_EVERY_S: Final = 5.0
_TAIL_BYTES: Final = 2**18
# A line of statistics is of the minute before it; an older one says nothing of now.
_OLDEST_S: Final = 120.0
_STATS: Final = regex(rb" LOG stats: (\d+) xacts/s, (\d+) queries/s,.*? xact (\d+) us, query (\d+) us, wait (\d+) us")
_FIGURES: Final = (
    ("xacts", "per_s"),
    ("queries", "per_s"),
    ("xact_time", "us"),
    ("query_time", "us"),
    ("wait_time", "us_per_s"),
)
_TIMED_OUT: Final = b"query_wait_timeout"
_CONNECTED, _ESTABLISHED = "03", "01"


class Unasked:
    """Fills `statistic` from a pooler's log, and with how many clients are connected to it."""

    def __init__(self, db: str, pooler: Pooler, proc: Path = Path("/proc")) -> None:
        """Nothing is read yet."""
        self._db, self._pooler, self._proc = db, pooler, proc
        self._looked_at: float | None = None
        self._read_to: int | None = None

    def look(self) -> list[Batch]:
        """What is told now; every few seconds."""
        now = time.monotonic()
        if self._looked_at is not None and now - self._looked_at < _EVERY_S:
            return []
        gone_s = now - self._looked_at if self._looked_at is not None else None
        self._looked_at = now
        common = {"ts": now_us(), "host": os.uname().nodename, "component": "pgbouncer", "db": self._db}
        found = [_figure("clients_connected", float(self._clients()), "connections"), *self._of_log(gone_s)]
        return [rows("statistic", [common | row for row in found])]

    def _clients(self) -> int:
        """Connections that clients have to its sockets."""
        name = f"{self._pooler.socket_dir.rstrip('/')}/.s.PGSQL.{self._pooler.port}"
        unix = (line.split() for line in _lines(self._proc / "net/unix"))
        local = sum(words[-1] == name and words[5] == _CONNECTED for words in unix if len(words) > 7)
        tcp = (line.split() for file in ("tcp", "tcp6") for line in _lines(self._proc / "net" / file))
        port = f"{self._pooler.port:04X}"
        return local + sum(words[1].endswith(f":{port}") and words[3] == _ESTABLISHED for words in tcp)

    def _of_log(self, gone_s: float | None) -> Iterator[dict[str, Any]]:
        new, is_first = self._appended()
        found = [match for line in new.splitlines() if (match := _STATS.search(line))]
        if found:
            for (name, unit), value in zip(_FIGURES, found[-1].groups(), strict=True):
                yield _figure(name, float(value), unit)
        if not is_first and gone_s:
            yield _figure("timed_out", new.count(_TIMED_OUT) / gone_s, "per_s") | {"interval_s": gone_s}

    def _appended(self) -> tuple[bytes, bool]:
        """What was written since the last look, and whether that is the first one: then the end of what was there."""
        is_first = self._read_to is None
        if self._pooler.log is None:
            return b"", True
        try:
            with Path(self._pooler.log).open("rb") as log:
                status = os.fstat(log.fileno())
                begin = self._read_to if self._read_to is not None else max(status.st_size - _TAIL_BYTES, 0)
                if time.time() - status.st_mtime > _OLDEST_S:
                    begin = status.st_size
                log.seek(begin if begin <= status.st_size else 0)
                new = log.read(_TAIL_BYTES)
                self._read_to = log.tell()
        except OSError:
            return b"", True
        return new, is_first


def _figure(name: str, value: float, unit: str) -> dict[str, Any]:
    kind = "rate" if unit.endswith("per_s") else "gauge"
    return {"name": f"pgbouncer.{name}", "entity": None, "value": value, "kind": kind, "unit": unit}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()[1:]
    except OSError:
        return []
