"""What live latency maps cost a server: throughput kept under `doctord map-live`, beside `strace -f -c`, in one run.

    .venv/bin/python benchmarks/cost/map_live.py

The worst case: pgbench -S, everything cached, as fast as it can. From the throughput follows what the probes add to a
query, CPU of all clients shared. How it is measured: `paired.py`. Needs root, bpftrace and strace. About five minutes.
Run it on a machine that does nothing else. Last, the CPU that doctord itself uses beside bpftrace.
"""

import os
import pty
import struct
import subprocess
import sys
import termios
import threading
import time
from contextlib import AbstractContextManager, suppress
from fcntl import ioctl
from functools import partial
from pathlib import Path

import paired

from doctord.lab.server import PrivateServer

DOCTORD = str(Path(sys.executable).with_name("doctord"))
SUBJECTS = ("smgr read", "buffer read", "query", "LWLock", "pread64", "run queue")
ATTACH_S = 4.0
OWN_S = 30


def main() -> None:
    """Measure, and print one line of a table for each subject."""
    parser = paired.parser(__doc__)
    parser.add_argument("--subjects", default=",".join(SUBJECTS))
    arguments = parser.parse_args()
    observers = {f"doctord map-live, {name}": partial(_mapping, name) for name in arguments.subjects.split(",")}
    paired.print_table(["select-only"], {**observers, "strace -f -c": _strace}, arguments)
    print(f"\ndoctord beside bpftrace, `vda write` at 1 s: {_own_cpu_pct():.2f} % of one CPU")


def _mapping(subject: str, server: PrivateServer) -> AbstractContextManager[None]:
    """`doctord map-live` of one subject of the server, at 1 s."""
    db = () if subject == "run queue" else ("--db", f"postgresql:{server.port}")
    return paired.beside([DOCTORD, "map-live", "--event", subject, *db, "--interval=1s", "--for=1h"], ATTACH_S)


def _strace(server: PrivateServer) -> AbstractContextManager[None]:
    return paired.beside(["strace", "-f", "-c", "-o", "/dev/null", "-p", str(server.process.pid)], ATTACH_S)


def _own_cpu_pct() -> float:
    """CPU of doctord's own process while it draws on a terminal each second, after its start."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
    command = [DOCTORD, "map-live", "--event", "vda write", "--interval=1s"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        reader = threading.Thread(target=_drain, args=(ours,), daemon=True)
        reader.start()
        time.sleep(2 * ATTACH_S)
        before = _cpu_s(child.pid)
        time.sleep(OWN_S)
        used = _cpu_s(child.pid) - before
        os.write(ours, b"q")
    return 100 * used / OWN_S


def _drain(descriptor: int) -> None:
    with suppress(OSError):  # the terminal is gone with the program
        while os.read(descriptor, 65536):
            pass


def _cpu_s(pid: int) -> float:
    """CPU of a process's threads, to the nanosecond: ticks of 10 ms are too coarse for what wakes for one."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


if __name__ == "__main__":
    main()
