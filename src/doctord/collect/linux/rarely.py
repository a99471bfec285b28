"""What changes slowly on a Linux host, once a minute: large free blocks, the pages and the files of database servers.

The work is done in Rust (native/src/host/rarely); docs/explanation/linux-figures.md says how each figure is made. It
has a thread of its own: a walk through a large folder, or a disk that does not answer, delays no other figure.
"""

import socket

from doctord._native import Batch, RareSampler
from doctord.collect.core.cost import Cost
from doctord.dataset.tables import TABLES

_FILLED = ("statistic", "setting", "event")


class RareCollector:
    """Figures of memory and files that are not worth asking for each second."""

    name = "linux rarely"

    def __init__(self, period_s: float = 60.0, host: str | None = None) -> None:
        """Nothing is read yet; `host` is the name to record, by default this host's own."""
        self.period_s = period_s
        self._sampler = RareSampler(host or socket.gethostname(), {name: TABLES[name].layout for name in _FILLED})
        self._cost = Cost(self.name)

    def sample(self) -> list[Batch]:
        """Rows since the last call, the collector's own cost among them. The first call has no rates."""
        with self._cost:
            batches = self._sampler.sample()
        return [*batches, *self._cost.batches()]

    def close(self) -> None:
        """Nothing to do: no file stays open."""
