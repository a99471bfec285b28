"""What something in a call trace costs: a share of each pass of the loop, or of the busy time."""

from typing import Literal, NamedTuple

from doctord.analyse.traces.calls import busy_s, pass_s
from doctord.dataset.calltrace import Trace
from doctord.diagnose.case import WORTH_SAYING_SHARE
from doctord.diagnose.phrase import Phrase, phrase

# Busy time holds work of every process, each at its own pace: a part that is to be felt must be larger there.
WORTH_SAYING_OF_BUSY = 0.1


class Cost(NamedTuple):
    """A share (0 to 1) of a pass, or of busy time."""

    share: float
    of: Literal["pass", "busy"]

    @property
    def worth_saying(self) -> bool:
        """Whether its removal could be felt."""
        return self.share >= self.threshold

    @property
    def threshold(self) -> float:
        """The share (0 to 1) from which on it is worth saying."""
        return WORTH_SAYING_SHARE if self.of == "pass" else WORTH_SAYING_OF_BUSY

    @property
    def told(self) -> Phrase:
        """The share, and whose time it is of."""
        return phrase(f"{{:share of {self.of}}}", self.share)


def of_pass(trace: Trace, seconds: float | None) -> Cost | None:
    """The cost of so many seconds a pass; null when they are not known, or without a loop."""
    a_pass = pass_s(trace)
    return Cost(min(seconds / a_pass, 1.0), "pass") if a_pass and seconds is not None else None


def of_busy(trace: Trace, seconds: float | None) -> Cost | None:
    """The cost of so many seconds in the whole trace; null when they, or the time, are not known."""
    busy = busy_s(trace)
    return Cost(min(seconds / busy, 1.0), "busy") if busy and seconds is not None else None
