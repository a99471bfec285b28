"""A probe: what connecting costs a client, part by part, timed once in ten seconds by connecting as one.

Nothing else shows it: who waits to be accepted, or for an answer to a password, has no session yet.
"""

import math
import os
import time
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from doctord._native import Batch
from doctord.collect.core.cost import Cost
from doctord.dataset.rows import now_us, rows

PERIOD_S: Final = 10.0
PATIENCE_S: Final = 9.0  # a client gives up at some time too, and the next probe is due


class Part(NamedTuple):
    """A part of a login, `login local: first answer` say, and how long it took; given up after so long, if not over."""

    subject: str
    seconds: float
    is_over: bool = True


class Login(Protocol):
    """A way to log in to a server."""

    def parts(self, deadline: float) -> Iterator[Part]:
        """Log in, up to a time of `time.monotonic`, and leave again; nothing where that is refused."""
        ...


class Probe:
    """Fills `latency` with the parts of logins, one login after the other; those of one have one `ts`."""

    period_s = PERIOD_S

    def __init__(self, db: str, logins: Sequence[Login]) -> None:
        """Nothing is connected yet."""
        self.name = f"{db} probe"
        self._db = db
        self._logins = logins
        self._cost = Cost(self.name)

    def sample(self) -> list[Batch]:
        """One login of each way. Each stands for the ten seconds to the next."""
        found = list[dict[str, object]]()
        with self._cost:
            for login in self._logins:
                parts = list(login.parts(time.monotonic() + PATIENCE_S))
                about = {"ts": now_us(), "interval_s": PERIOD_S, "host": os.uname().nodename, "db": self._db}
                found.extend(about | _bucket(part) for part in parts)
        return [*([rows("latency", found)] if found else []), *self._cost.batches()]

    def close(self) -> None:
        """There is nothing to let go of: each login has left."""


def _bucket(part: Part) -> dict[str, object]:
    us = max(part.seconds * 1e6, 1.0)
    gt_us = 2.0 ** math.floor(math.log2(us)) if part.is_over else us
    le_us = gt_us * 2 if part.is_over else None
    return {"subject": part.subject, "gt_us": gt_us, "le_us": le_us, "count": 1, "waited_us": us}
