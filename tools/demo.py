"""A private PostgreSQL under a changing load, a fault for a minute now and then, and the page of `doctord serve` on it.

    make demo

Everything is gone at Ctrl-C. Faults are those of the lab, which says what each does: docs/how-to/lab.md.
"""

import itertools
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from doctord.errors import UserError
from doctord.lab.dose import Dose
from doctord.lab.fault import all_faults
from doctord.lab.load.workload import workload
from doctord.lab.run import loaded_server
from doctord.lab.server import PrivateServer

# Those that ask for no setting of their own, no root, and leave the server as it was.
FAULTS: Final = (
    "row_lock_convoy",
    "cpu_hog",
    "idle_in_transaction",
    "connection_churn",
    "cartesian_joins",
    "n_plus_one",
)
QUIET_S, FAULT_S, WAVE_S = 60.0, 60.0, 20.0


def main() -> None:
    """Serve, and inject one fault after the other until Ctrl-C."""
    faults, dose = all_faults(), Dose()
    with tempfile.TemporaryDirectory(prefix="doctord-demo-") as lake:
        print(f"demo: recorded in {lake}", flush=True)
        server = loaded_server(faults["none"], dose, "orders", None)
        with server as (private, _), subprocess.Popen(_serve(Path(lake), sys.argv[1:])) as page:
            try:
                for name in itertools.cycle(FAULTS):
                    _waves(private, dose)
                    print(f"demo: {time.strftime('%H:%M:%S')} {name}: {faults[name].summary}", flush=True)
                    with faults[name].inject(private, dose):
                        time.sleep(FAULT_S)
                    if page.poll() is not None:
                        return
            finally:
                page.terminate()


def _serve(lake: Path, options: list[str]) -> list[str | Path]:
    return [sys.executable, "-m", "doctord", "serve", "--record", "--lake", lake, *options]


def _waves(server: PrivateServer, dose: Dose) -> None:
    """A quiet time, in which more and fewer clients come."""
    print(f"demo: {time.strftime('%H:%M:%S')} nothing is wrong", flush=True)
    for clients in (2, 8, 4)[: int(QUIET_S / WAVE_S)]:
        with workload(server, seed=dose.seed, clients=clients, rate_per_s=40 * clients):
            time.sleep(WAVE_S)


if __name__ == "__main__":
    try:
        main()
    except UserError as refusal:
        sys.exit(f"doctord: {refusal}\nhint: {refusal.hint}")
    except KeyboardInterrupt:
        print("demo: over", flush=True)
