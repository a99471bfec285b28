"""The server's clock beside this host's: how far it is ahead, and how long the question was under way.

The moment of the answer lies between our asking and our receiving it, so that the true difference is within half of the
round trip of what is told (as NTP counts it, RFC 5905, section 8). An instant has no time zone: settings of TimeZone on
either side change nothing.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from doctord._native import Batch
from doctord.collect.core.rates import EARLY, Cadence
from doctord.collect.postgres.connection.link import Link
from doctord.collect.postgres.statistics.figures import Figures

_CLOCK: Final = "SELECT /* doctord */ date_part('epoch', clock_timestamp()) AS now"
_TIMES: Final = 3


class Clock:
    """Fills `statistic` with `clock.offset_s` and `clock.round_trip_s`, of the quickest of three answers."""

    name = "the server's clock"

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        """Due soon after the start, then once a minute; `now` is this host's clock, in seconds since 1970."""
        self.cadence = Cadence(60.0, EARLY)
        self._now = now

    def read(self, link: Link) -> list[Batch]:
        """The difference at this moment: positive where the server's clock is ahead of ours."""
        round_trip_s, offset_s = min((self._ask(link) for _ in range(_TIMES)), key=lambda told: told[0])
        figures = Figures(link.db)
        figures.gauge("clock.offset_s", offset_s, "s")
        figures.gauge("clock.round_trip_s", round_trip_s, "s")
        figures.gauge("clock.is_of_this_host", link.server_pid() is not None, "boolean")
        return figures.batches()

    def close(self) -> None:
        """There is nothing of its own."""

    def _ask(self, link: Link) -> tuple[float, float]:
        began, asked = time.monotonic(), self._now()
        told: dict[str, Any] = link.query(_CLOCK, prepare=True)[0]
        round_trip_s = time.monotonic() - began
        return round_trip_s, float(told["now"]) - (asked + round_trip_s / 2)
