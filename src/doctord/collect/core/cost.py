"""What a collector costs this machine, published beside what it measures."""

import os
import time
from types import TracebackType
from typing import Final

from doctord._native import Batch
from doctord.dataset.rows import now_us, rows

_EVERY_S: Final = 5.0


class Cost:
    """Measures the samples taken `with` it, in the thread that takes them."""

    def __init__(self, name: str) -> None:
        """`name` is the collector's."""
        self._name = name
        self._since = self._entered = time.monotonic()
        self._cpu_entered_s = 0.0
        self._cpu_s = 0.0
        self._last_ms: float | None = None

    def __enter__(self) -> None:
        """A sample begins."""
        self._entered, self._cpu_entered_s = time.monotonic(), time.thread_time()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """It ended, well or not."""
        self._cpu_s += time.thread_time() - self._cpu_entered_s
        self._last_ms = (time.monotonic() - self._entered) * 1000

    def batches(self) -> list[Batch]:
        """Rows of `statistic` every five seconds: CPU time per second, and how long the last sample took."""
        now = time.monotonic()
        seconds = now - self._since
        if seconds < _EVERY_S:
            return []
        row = {"ts": now_us(), "host": os.uname().nodename, "component": "doctord", "entity": self._name}
        cpu_ms_per_s = self._cpu_s * 1000 / seconds
        self._since, self._cpu_s = now, 0.0
        cpu = {**row, "interval_s": seconds, "name": "cpu_ms_per_s", "value": cpu_ms_per_s, "unit": "ms_per_s"}
        sample = {**row, "name": "sample_ms", "value": self._last_ms, "unit": "ms", "kind": "gauge"}
        return [rows("statistic", [{**cpu, "kind": "rate"}, sample])]
