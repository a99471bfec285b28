"""What recording costs a busy PostgreSQL: the throughput of pgbench with `doctord record` beside it and without.

    .venv/bin/python benchmarks/cost/overhead.py

Both workloads run as fast as they can on a private server whose data fit in memory: the worst case for an observer. How
it is measured: `paired.py`. About two minutes. Run it on a machine that does nothing else.
"""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paired

from doctord.lab.server import PrivateServer


def main() -> None:
    """Measure, and print one line of a table for each workload."""
    parser = paired.parser(__doc__)
    parser.add_argument("--workloads", default=",".join(paired.WORKLOADS))
    arguments = parser.parse_args()
    paired.print_table(arguments.workloads.split(","), {"doctord record": _recording}, arguments)


@contextmanager
def _recording(server: PrivateServer) -> Iterator[None]:
    """`doctord record` of the host at 1 s and the server's sessions at 10 Hz, into a lake that is thrown away."""
    with tempfile.TemporaryDirectory(prefix="doctord-overhead-") as lake:
        doctord = Path(sys.executable).with_name("doctord")
        command = [doctord, "record", "--quiet", "--lake", lake, "--dsn", server.dsn]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as recorder:
            time.sleep(2)  # its start is not what is measured
            try:
                yield
                assert recorder.poll() is None, "doctord record ended early"
            finally:
                recorder.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
