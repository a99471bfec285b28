"""Sum up the load of what was sealed: `python -m doctord.app.sum_load LAKE`, which `doctord serve` starts.

It gives way to everything else on the host. Where the lake may not be written to it does nothing: then the sums are
made when they are asked for, and kept in memory.
"""

import os
import sys
from pathlib import Path


def command(lake: Path) -> list[str]:
    """What starts this program."""
    return [sys.executable, "-m", __name__, str(lake)]


def main(lake: Path) -> None:
    """Sum up every sealed segment of which there are no sums yet, the newest first."""
    os.nice(19)
    os.environ |= {"POLARS_MAX_THREADS": "1"}
    from doctord.app.load_history import summed
    from doctord.lake.load_sums import missing

    for name in missing(lake) if os.access(lake, os.W_OK) else []:
        summed(lake, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
