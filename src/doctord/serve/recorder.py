"""A recorder beside the server: the same program as `doctord record`, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SYNC: Final = "300ms"  # who looks on wants to see a sample within a second
PATIENCE_S: Final = 20.0


@contextmanager
def recording(lake: Path) -> Iterator[None]:
    """Record this host into a lake for as long as this lasts; a recorder that ends tells why on standard error."""
    command = [sys.executable, "-m", "doctord", "record", "--quiet", "--lake", str(lake), "--sync", SYNC]
    with subprocess.Popen(command) as recorder:
        try:
            yield
        finally:
            recorder.terminate()
            try:
                recorder.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                recorder.kill()
