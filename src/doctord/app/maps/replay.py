"""A recorded latency map that is shown as it grew, at a speed."""

import time
from dataclasses import replace
from datetime import timedelta

from doctord.analyse.latency.map import LatencyMap
from doctord.app.maps.feed import Maps
from doctord.errors import UserError


class Replay:
    """The map of so much of the time as would have gone by."""

    def __init__(self, drawn: LatencyMap, speed: float) -> None:
        """Begin with the first column.

        Args:
            drawn: The whole map.
            speed: How many times as fast as it was.

        Raises:
            UserError: there is no such speed.
        """
        if speed <= 0:
            raise UserError(f"{speed:g} is no speed", "1 is as it was, 60 shows an hour in a minute")
        self._drawn, self._speed, self._began_s = drawn, speed, time.monotonic()
        self._whole, self._shown = drawn.whole, 0

    def grown(self) -> bool:
        """Go on to the columns that are due; whether there are new ones."""
        columns = self._drawn.columns
        gone = timedelta(seconds=(time.monotonic() - self._began_s) * self._speed)
        due = sum(column.end - columns[0].end <= gone for column in columns)
        grew, self._shown = due > self._shown, due
        return grew

    def is_over(self) -> bool:
        """Never: the end of the recording stays on the screen until the user leaves it."""
        return False

    def maps(self) -> Maps:
        """The map up to now, and the histogram of the whole time, by which its rows are chosen."""
        return [(replace(self._drawn, columns=self._drawn.columns[: self._shown]), self._whole)]
