"""Counters that only rise, as rates between two readings of them."""

from collections.abc import Hashable


class Counters:
    """Remembers each counter's last reading. A counter that fell began again: that is no rate."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._last: dict[Hashable, tuple[int, float]] = {}
        self._fell = False

    def per_s(self, counter: Hashable, at_us: int, value: float) -> float | None:
        """What a counter rose by per second since its last reading; null at its first, and after it began again.

        >>> counters = Counters()
        >>> [counters.per_s("reads", second * 1_000_000, value) for second, value in ((0, 7), (2, 9), (4, 1))]
        [None, 1.0, None]
        """
        before = self._last.get(counter)
        if before is not None and at_us <= before[0]:
            return None
        self._last[counter] = (at_us, value)
        if before is None:
            return None
        self._fell |= value < before[1]
        return (value - before[1]) * 1e6 / (at_us - before[0]) if value >= before[1] else None

    def began_again(self) -> bool:
        """Whether a counter fell since this was last asked."""
        fell, self._fell = self._fell, False
        return fell
