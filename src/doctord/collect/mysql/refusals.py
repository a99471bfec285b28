"""What a server refused: each time that it is asked counts there as a statement that failed, or an access denied."""

import time
from typing import Final

_AGAIN_S: Final = 600.0  # somebody may have granted it


class Refusals:
    """Remembers what was refused, so that it is asked again after ten minutes, or on a new connection."""

    def __init__(self) -> None:
        """Nothing is refused."""
        self._again_s: dict[str, float] = {}

    def forget(self) -> None:
        """Begin anew: the connection is a new one."""
        self._again_s.clear()

    def add(self, subject: str) -> None:
        """It was refused now."""
        self._again_s[subject] = time.monotonic() + _AGAIN_S

    def __contains__(self, subject: str) -> bool:
        """Whether a subject is not to be asked for now."""
        return time.monotonic() < self._again_s.get(subject, 0.0)
