"""What the recorder starts to sum up what it sealed: `python -m doctord.app.roll_up LAKE KEEP_S [FIGURES]`.

It gives way to everything else on the host: nice 19, one thread. It says why it failed in its last line.
"""

import logging
import os
import sys
from datetime import timedelta
from pathlib import Path

from doctord.errors import UserError
from doctord.printable import log_to_standard_error

log = logging.getLogger(__name__)

_ENVIRONMENT = {
    # Else each of them begins a thread, or memory for one, for every CPU of the host.
    **dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS"), "1"),
    # Memory goes back at once: three libraries that each keep some for later would keep 8 MiB.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "_RJEM_MALLOC_CONF": "background_thread:false,dirty_decay_ms:0,muzzy_decay_ms:0",
    # Polars asks the CPU by code that it writes into memory, which the unit's MemoryDenyWriteExecute forbids.
    "POLARS_SKIP_CPU_CHECK": "1",
}


def command(lake: str, keep_s: float, figures: Path | None) -> list[str]:
    """What starts this program; arguments as those of `main`.

    Raises:
        UserError: the figures cannot be used. That is to be said now, not at night.
    """
    if figures is None:
        return [sys.executable, "-m", __name__, lake, str(keep_s)]
    from doctord.app.capacity.rules import figures_of

    figures_of(figures)
    return [sys.executable, "-m", __name__, lake, str(keep_s), str(figures.absolute())]


def main(place: str, keep_s: str, figures: str = "") -> int:
    """Sum up, and let go what was kept for months only; the exit status.

    Args:
        place: The lake.
        keep_s: How long minutes are kept.
        figures: File of figures of the user's own.
    """
    os.nice(19)
    os.environ |= _ENVIRONMENT
    from doctord.app.capacity.rules import figures_of
    from doctord.lake.query import Lake
    from doctord.lake.rollups import expire, renew

    try:
        lake = Lake(Path(place), threads=1)
        renew(lake, figures_of(Path(figures) if figures else None))
        expire(lake.path, timedelta(seconds=float(keep_s)))
    except UserError as refusal:
        log.warning("%s\nhint: %s", refusal, refusal.hint)
        return 1
    return 0


if __name__ == "__main__":
    log_to_standard_error("%(message)s")  # the recorder adds the rest
    sys.exit(main(*sys.argv[1:]))
