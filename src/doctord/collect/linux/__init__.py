"""The Linux collector: host, processes, control groups and kernel settings, from /proc, /sys and netlink.

The work is done in Rust (native/src/host); docs/explanation/linux-figures.md says how each figure is made.
"""

import socket
import time

from doctord._native import Batch, HostSampler
from doctord.dataset.rows import now_us, rows
from doctord.dataset.tables import TABLES

_FILLED = ("cpu", "memory", "disk", "filesystem", "network", "process", "statistic", "setting", "event")


class LinuxCollector:
    """Fills the tables of a host: cpu, memory, disk, filesystem, network, process, and kernel figures beside them."""

    name = "linux"

    def __init__(self, period_s: float = 1.0, host: str | None = None) -> None:
        """Open the files; `host` is the name to record, by default this host's own."""
        self.period_s = period_s
        self._host = host or socket.gethostname()
        self._sampler = HostSampler(self._host, {name: TABLES[name].layout for name in _FILLED})
        self._last: float | None = None
        self._beside_ms = 0.0

    def sample(self) -> list[Batch]:
        """Rows since the last call, the collector's own cost among them. The first call has no rates."""
        began, cpu_began = time.monotonic(), time.thread_time()
        batches = self._sampler.sample()
        spent_ms, cpu_ms = (time.monotonic() - began) * 1000, (time.thread_time() - cpu_began) * 1000
        before_ms, self._beside_ms = self._beside_ms, self._sampler.cpu_beside_ms()
        cpu_ms += self._beside_ms - before_ms
        batches.append(self._cost(spent_ms, cpu_ms, None if self._last is None else began - self._last))
        self._last = began
        return batches

    def close(self) -> None:
        """Nothing to do: the files are closed with the sampler."""

    def _cost(self, spent_ms: float, cpu_ms: float, interval_s: float | None) -> Batch:
        about = {"ts": now_us(), "host": self._host, "component": "doctord", "entity": self.name}
        figures = [about | {"name": "sample_ms", "value": round(spent_ms, 2), "unit": "ms", "kind": "gauge"}]
        if interval_s:
            rate = {"name": "cpu_ms_per_s", "value": round(cpu_ms / interval_s, 2), "unit": "ms_per_s", "kind": "rate"}
            figures.append(about | rate | {"interval_s": round(interval_s, 3)})
        return rows("statistic", figures)
