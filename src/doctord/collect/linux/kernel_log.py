"""The kernel's log, live: what tells of trouble among the messages of /dev/kmsg, read-only.

Each read gives one message: `PRIORITY,NUMBER,MICROSECONDS,FLAGS;TEXT` and lines with more about it
(Documentation/ABI/testing/dev-kmsg). Other readers lose nothing by it.
"""

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.notices import Notices
from doctord.dataset.kernel_messages import KernelMessages
from doctord.dataset.rows import now_us, rows

KMSG: Final = Path("/dev/kmsg")
# What happened minutes ago is why somebody looks now.
PAST_S: Final = 600.0
_MESSAGE_BYTES: Final = 8192  # a shorter buffer is refused
_SUBJECT: Final = "the kernel's log"
_HINT: Final = (
    "run as root, or let the recorder see it (doctord record --print-unit --with kmsg prints the drop-in); "
    "else doctord diagnose reads what journalctl -k -o short-iso prints"
)


class KernelLog:
    """Fills `event` with kills, tasks that hang, and errors and resets of devices."""

    name = "kernel log"

    def __init__(self, period_s: float = 5.0, path: Path = KMSG, past_s: float = PAST_S) -> None:
        """Nothing is opened yet; messages of `past_s` seconds before the first sample are read too."""
        self.period_s = period_s
        self._path, self._past_s = path, past_s
        self._host = socket.gethostname()
        self._notices, self._cost, self._messages = Notices(), Cost(self.name), KernelMessages()
        self._file: int | None = None
        self._refused = False

    def sample(self) -> list[Batch]:
        """Trouble since the last call, and once that the log may not be read."""
        with self._cost:
            found = list(self._found())
        return [*([rows("event", found)] if found else []), *self._notices.batches(), *self._cost.batches()]

    def close(self) -> None:
        """Close the log."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _found(self) -> Iterator[dict[str, Any]]:
        if self._file is None and not self._refused:
            self._open()
        # The stamps count like the monotonic clock, which stands still while the machine sleeps.
        now_s, wall_us = time.monotonic(), now_us()
        for stamp_s, text in self._read():
            event = self._messages.event(text)
            if event and now_s - stamp_s <= self._past_s:
                yield event | {"ts": wall_us - round((now_s - stamp_s) * 1e6), "host": self._host}
        self._past_s = float("inf")  # from here on each message is read once, soon after it came

    def _open(self) -> None:
        try:
            self._file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self._refused = True
            self._notices.not_measured(None, _SUBJECT, f"{self._path}: {error.strerror}", _HINT)

    def _read(self) -> Iterator[tuple[float, str]]:
        """Seconds since the boot and text of each of the kernel's own messages that was not read yet."""
        while self._file is not None:
            try:
                record = os.read(self._file, _MESSAGE_BYTES)
            except BlockingIOError:
                return
            except BrokenPipeError:
                continue  # some were overwritten before they were read: on to the oldest that is left
            except OSError as error:
                self.close()
                self._refused = True
                self._notices.not_measured(None, _SUBJECT, f"{self._path}: {error.strerror}", _HINT)
                return
            if not record:
                return
            if (message := _message(record.decode(errors="replace"))) is not None:
                yield message


def _message(record: str) -> tuple[float, str] | None:
    """Null for what other programs wrote to the log, and what is no message."""
    prefix, _, text = record.partition(";")
    fields = prefix.split(",")
    if len(fields) < 3 or not (fields[0].isdigit() and fields[2].isdigit()) or int(fields[0]) >> 3:
        return None
    return int(fields[2]) / 1e6, text.partition("\n")[0]
