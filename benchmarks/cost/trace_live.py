"""What tracing its calls costs a running server: throughput kept under `doctord trace --pid`, beside strace's own.

    .venv/bin/python benchmarks/cost/trace_live.py

The worst case: pgbench -S, everything cached, as fast as it can; its sessions are forked while the postmaster is
traced. How it is measured: `paired.py`. Needs root, bpftrace and strace. About three minutes. Run it on a machine that
does nothing else.
"""

import sys
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import paired

from doctord.lab.server import PrivateServer

DOCTORD = str(Path(sys.executable).with_name("doctord"))
# The tracepoints of every call, at which nothing is done.
EMPTY = "tracepoint:raw_syscalls:sys_enter /0/ {} tracepoint:raw_syscalls:sys_exit /0/ {}"
EMPTY_PROBE = ["unshare", "-m", "sh", "-c", f"mount -t tracefs nodev /sys/kernel/tracing; exec bpftrace -e '{EMPTY}'"]
OBSERVERS = {
    "doctord trace --how bpf": [DOCTORD, "trace", "--how=bpf", "--for=1h", "--pid"],
    "doctord trace --how strace": [DOCTORD, "trace", "--how=strace", "--for=1h", "--limit=20GB", "--pid"],
    "strace -f -c": ["strace", "-f", "-c", "-o", "/dev/null", "-p"],
    "strace -f -T": ["strace", "-f", "-T", "-o", "/dev/null", "-p"],
}
ATTACH_S = 4.0


def main() -> None:
    """Measure, and print one line of a table for each way to trace."""
    arguments = paired.parser(__doc__).parse_args()
    observers: dict[str, paired.Observer] = {"an empty probe at each call": _empty_probe}
    observers |= {name: partial(_tracing, command) for name, command in OBSERVERS.items()}
    paired.print_table(["select-only"], observers, arguments)


def _empty_probe(_: PrivateServer) -> AbstractContextManager[None]:
    return paired.beside(EMPTY_PROBE, ATTACH_S)


def _tracing(command: list[str], server: PrivateServer) -> AbstractContextManager[None]:
    """A tracer of the postmaster and of all that it forks."""
    return paired.beside([*command, str(server.process.pid)], ATTACH_S)


if __name__ == "__main__":
    main()
