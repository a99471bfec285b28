"""Sum up the load of what was sealed: `python -m doctord.app.over_time.sum_load LAKE`, which `doctord serve` starts.

It gives way to everything else on the host. Where the lake may not be written to it does nothing: then the sums are
made when they are asked for, and kept in memory.
"""

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Final

KEPT: Final = timedelta(days=92)  # after the samples went, as other sums of minutes


def command(lake: Path) -> list[str]:
    """What starts this program."""
    return [sys.executable, "-m", __name__, str(lake)]


def main(lake: Path) -> None:
    """Sum up every sealed segment of which there are no sums yet, the newest first; let go what is old."""
    os.nice(19)
    os.environ |= {"POLARS_MAX_THREADS": "1"}
    from doctord.app.over_time.load_history import summed
    from doctord.lake.load_sums import expire, missing

    if not os.access(lake, os.W_OK):
        return
    for name in missing(lake):
        summed(lake, name)
    expire(lake, KEPT)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
