"""What a sample of the host costs more while clients from elsewhere are connected: CPU of each sample.

    .venv/bin/python benchmarks/cost/connections.py

As root. The clients are in a network namespace of their own (doctord.lab.host.network), connect to a listener here, and
say nothing. The sampler asks for them at every fifth sample: the mean is over all, and the fifth that took longest
tells what asking takes. Runs without and with connections take turns.
"""

import argparse
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import paired

from doctord.collect.linux import LinuxCollector
from doctord.lab.host.network import FarEnd, far_end

CONNECT = """
import resource, socket, sys, time
port, count = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 64, count + 64))
held = [socket.create_connection((sys.argv[3], port)) for _ in range(count)]
time.sleep(86400)
"""


def main() -> None:
    """Take the samples and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=25)
    parser.add_argument("--connections", type=int, nargs="*", default=[0, 900, 0, 900])
    arguments = parser.parse_args()
    files = max(arguments.connections) + 256
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    print("| connections | CPU of a sample, mean | of the samples that ask, median |\n|---|---|---|")
    with paired.private_server() as server, far_end(server) as far:
        for count in arguments.connections:
            with connected(far, count):
                spent_ms = samples(arguments.samples)
            asking = statistics.median(sorted(spent_ms)[-len(spent_ms) // 5 :])
            print(f"| {count} | {statistics.fmean(spent_ms):.2f} ms | {asking:.2f} ms |", flush=True)


@contextmanager
def connected(far: FarEnd, count: int) -> Iterator[None]:
    """So many connections from the far end to a listener here, all accepted."""
    with ExitStack() as held, socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        port = listener.getsockname()[1]
        command = [*far.entrance, sys.executable, "-c", CONNECT, str(port), str(count), far.address]
        with subprocess.Popen(command) as clients:
            try:
                for _ in range(count):
                    held.enter_context(listener.accept()[0])
                yield
            finally:
                clients.kill()


def samples(count: int) -> list[float]:
    """CPU time of samples of the host half a second apart, in milliseconds, without the first two."""
    collector = LinuxCollector()
    spent_ms = []
    for _ in range(count + 2):
        time.sleep(0.5)
        began = time.thread_time()
        collector.sample()
        spent_ms.append((time.thread_time() - began) * 1000)
    collector.close()
    return spent_ms[2:]


if __name__ == "__main__":
    main()
