"""What tests have done for each of some tasks, in processes that must be able to import it."""

import os
import signal
import time

from doctord.errors import UserError


def doubled(number: int) -> int:
    """Twice as much; of some numbers something goes wrong."""
    if number == 13:
        raise UserError("13 is not doubled", "take another")
    if number == 14:
        raise ValueError("a bug")
    if number == 15:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def slow(number: int) -> int:
    """The same number, after a while."""
    time.sleep(0.2)
    return number


def threads(_: int) -> str | None:
    """How many threads Polars may have."""
    return os.environ.get("POLARS_MAX_THREADS")


def own_pid(_: int) -> int:
    """The process that it runs in, after a while."""
    time.sleep(0.2)
    return os.getpid()
