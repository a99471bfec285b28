"""What the collectors cost that look once a minute and at the kernel's log: CPU of each sample, and memory.

    .venv/bin/python benchmarks/cost/rarely.py

Beside a private PostgreSQL with sleeping sessions, all of whose data was read once. The first sample looks at
everything, the later ones at what is looked at each minute; the host's own sample stands beside them. Memory is what
each collector adds to the process that takes the samples.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import paired

from doctord.collect.core.collector import Collector
from doctord.collect.linux import LinuxCollector
from doctord.collect.linux.kernel_log import KernelLog
from doctord.collect.linux.rarely import RareCollector

MADE: tuple[Callable[[], Collector], ...] = (LinuxCollector, RareCollector, KernelLog)


def main() -> None:
    """Take the samples and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--sessions", type=int, default=50)
    arguments = parser.parse_args()
    with paired.private_server() as server, ExitStack() as sessions:
        for _ in range(arguments.sessions):
            session = sessions.enter_context(server.connect())
            session.execute("select count(*) from pgbench_accounts")
        print("| collector | first sample, CPU | later ones, median | memory added |\n|---|---|---|---|")
        for make in MADE:
            print(line(make, arguments.samples), flush=True)


def line(make: Callable[[], Collector], samples: int) -> str:
    """A line of the table."""
    before = resident_kib()
    collector = make()
    spent_ms = [cpu_ms(collector) for _ in range(samples + 1)]
    added = resident_kib() - before
    collector.close()
    later = statistics.median(spent_ms[1:])
    return f"| {collector.name} | {spent_ms[0]:.1f} ms | {later:.2f} ms | {added / 1024:.1f} MiB |"


def cpu_ms(collector: Collector) -> float:
    """CPU time of one sample."""
    time.sleep(0.5)
    began = time.thread_time()
    collector.sample()
    return (time.thread_time() - began) * 1000


def resident_kib() -> int:
    """Resident memory of this process."""
    status = Path("/proc/self/status").read_text()
    return next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmRSS:"))


if __name__ == "__main__":
    main()
