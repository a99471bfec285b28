"""What an injection took from the service. A run in which it took nothing is no case: there is nothing to diagnose.

The light load tells it. Where that does not feel the fault (refused logins, a log that nobody takes away), the fault
names a figure of the server that does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from doctord.lab.load.workload import Pace

LATENCY_GROWS: Final = 1.5
"""From this many times the latency of before on, the light load is slower. In 40 runs in which nothing touched it, on
two quiet CPUs, it was between 0.7 and 1.35 times."""
THROUGHPUT_FALLS: Final = 0.8
"""From this many times the throughput of before on downwards, the light load lost some: 0.87 to 1.08 times there."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the server that a fault raises, which is a loss of its users or will be.

    `of` reads it, null where it is not to be had (the table is not there yet). The fault took effect where the figure
    has risen by `rise`.
    """

    what: str
    unit: str
    rise: float
    of: Callable[[Any], float | None]

    def read(self, server: Any) -> float | None:  # noqa: ANN401 - of the fault's own family
        """The figure now; null where the server, or the kernel, does not say."""
        try:
            return self.of(server)
        except (psycopg.OperationalError, OSError):
            return None


@dataclass(frozen=True, slots=True)
class Effect:
    """A figure before the injection and during it, and from which value on the injection took effect."""

    what: str
    unit: str
    before: float | None
    during: float
    threshold: float
    found: bool


def effect_on_load(before: Pace | None, during: Pace | None) -> Effect | None:
    """What the light load lost: throughput where that fell, else latency; null where pgbench did not report both."""
    if before is None or during is None or before.latency_ms is None:
        return None
    least = THROUGHPUT_FALLS * before.tps
    if during.latency_ms is None or during.tps <= least:
        return Effect("throughput of the light load", "per s", before.tps, during.tps, least, during.tps <= least)
    most = LATENCY_GROWS * before.latency_ms
    slower = during.latency_ms >= most
    return Effect("latency of the light load", "ms", before.latency_ms, during.latency_ms, most, slower)


def effect_on_figure(figure: Figure, before: float | None, during: float | None) -> Effect | None:
    """How much the fault's own figure rose; null where it was not to be had during the fault."""
    if during is None:
        return None
    threshold = (before or 0.0) + figure.rise
    return Effect(figure.what, figure.unit, before, during, threshold, during >= threshold)
