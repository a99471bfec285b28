"""What a collector is: something with a period that yields batches of rows for the dataset's tables."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from doctord._native import Batch


class Collector(Protocol):
    """One source, asked again and again.

    A collector turns counters into rates at its own edge, so its first sample may hold less than the later ones. What
    it cannot read it reports once, as a row of `event` with kind `not measured`; what it costs, as rows of `statistic`
    with component `doctord`. It raises nothing that a next sample could outlive: a server that went away is an event.
    """

    name: str
    period_s: float

    def sample(self) -> list[Batch]:
        """Rows since the last call."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


@runtime_checkable
class AtRandom(Protocol):
    """A collector of what is the case at a moment: it is asked at random moments, `period_s` apart on average.

    Clients that are paced, and jobs that run every second, keep step with a clock that ticks evenly: all samples would
    find them at work, or none. A row stands for the time since the sample before it, which is by chance as well, so
    that sums of these times are those of what was sampled.

    S. McCanne and C. Torek, A Randomized Sampling Clock for CPU Utilization Estimation and Code Profiling, 1993.
    """

    at_random: bool


@runtime_checkable
class Piecewise(Protocol):
    """A collector whose sample may take long: it hands out what it has so far, before the sample is at its end."""

    def pieces(self) -> Iterator[Batch]:
        """What `sample` gives, batch by batch as it comes."""
        ...
