"""What collectors of one link to a server share: with each sample goes what it cost, and what stood in its way."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.collect.core.link import Link

L = TypeVar("L", bound=Link)


class LinkedCollector(ABC, Generic[L]):
    """A collector that asks one server; how, says `_sample`, which raises neither Away nor UserError."""

    def __init__(self, name: str, link: L, period_s: float) -> None:
        """Nothing is connected yet; `period_s` is the seconds between two samples."""
        self.name = name
        self.period_s = period_s
        self._link = link
        self._notices = link.notices
        self._cost = Cost(name)

    def sample(self) -> list[Batch]:
        """Rows since the last sample, with what went wrong as `event`, and every few seconds what this costs."""
        with self._cost:
            batches = self._sample()
        return [*batches, *self._notices.batches(), *self._cost.batches()]

    def close(self) -> None:
        """Close the connection."""
        self._link.close()

    @abstractmethod
    def _sample(self) -> list[Batch]:
        """Rows since the last call; none while the server is away."""
