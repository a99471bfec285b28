"""One at a time: several processes of tests share the machine (pytest-xdist)."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def alone(name: str) -> Iterator[None]:
    """What has this name is done by one process at a time; those that come meanwhile wait."""
    with Path(tempfile.gettempdir(), f"doctord-test-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
