"""Listening sockets as the sampler sees them."""

import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa

from doctord._native import HostSampler
from doctord.dataset.tables import TABLES

LAYOUTS = {name: table.layout for name, table in TABLES.items()}

# Where threads are limited; root may always have more, so this is another user.
NO_THREADS = """
import json, os, resource, socket, sys, time
sys.path[:0] = json.loads(sys.argv[1])
from test_linux import LAYOUTS, HostSampler, take, take_after
sampler = HostSampler("here", LAYOUTS)
server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
server.bind("\\0doctord-no-threads")
server.listen(5)
client.connect("\\0doctord-no-threads")
if os.geteuid() == 0:
    os.setresuid(65533, 65533, 65533)  # not nobody, as whom other tests look at their own processes
resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
take(sampler)
found = take_after(sampler, 0.3)["statistic"]
print(json.dumps([[row["name"], row["value"]] for row in found if row["entity"] == "@doctord-no-threads"]))
print(sampler.cpu_beside_ms())
"""


def test_connections_that_clients_open_are_counted() -> None:
    sampler = HostSampler("here", LAYOUTS)
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        sampler.sample()
        for _ in range(50):
            socket.create_connection(server.getsockname()).close()
        time.sleep(0.2)  # an interval of a few milliseconds, rounded to one, would be wrong by a tenth
        rows = [row for batch in sampler.sample() for row in pa.record_batch(batch).to_pylist()]
    (opens,) = (row for row in rows if row.get("name") == "tcp.passive_opens_per_s")
    assert round(opens["value"] * opens["interval_s"]) >= 48


def test_where_no_thread_may_be_started_the_queue_is_told_by_the_samples_alone() -> None:
    paths = json.dumps([str(Path(__file__).parent), *sys.path])
    command = [sys.executable, "-c", NO_THREADS, paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told, cpu_ms = map(json.loads, done.stdout.splitlines())
    assert ["listen.accept_queue", 1.0] in told
    assert cpu_ms == 0
