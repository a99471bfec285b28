"""The lab's own network: the kernel's TCP meets its distance, and it is gone with its process."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from doctord.collect.linux import LinuxCollector
from doctord.lab.binaries import find_binaries
from doctord.lab.host.folder import private_folder
from doctord.lab.host.network import far_end
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

ASK = """
import psycopg, sys
with psycopg.connect(sys.argv[1]) as session:
    while True:
        session.execute("select 1")
"""

PATIENCE_S = 120.0

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="no TUN devices here"
    ),
]


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    binaries = find_binaries(None)
    with private_folder(keep=False) as home:
        provide_cluster(binaries, 1, home / "data")
        with running_server(binaries, home, home / "data", {}) as server:
            yield server


def test_a_long_way_is_measured_by_the_sampler(server: PrivateServer) -> None:
    with far_end(server, delay_s=0.02) as far:
        dsn = f"host={far.address} port={server.port} user=postgres dbname=pgbench"
        asking = subprocess.Popen([*far.entrance, sys.executable, "-c", ASK, dsn])
        try:
            told = _told_of_travel(server.port, asking)
        finally:
            asking.kill()
            asking.wait()
    assert told["tcp_clients.connections"] == 1
    assert 40 <= float(str(told["tcp_clients.least_round_trip_ms"])) < 80
    assert 0.5 < float(str(told["tcp_clients.travel_s_per_s"])) <= 1
    assert told["tcp_clients.retransmits_per_s"] == 0


def _told_of_travel(port: int, asking: subprocess.Popen[bytes]) -> dict[str, object]:
    """What a sample tells of a server's clients that began and ended on the way, while somebody asks it."""
    sampler, told = LinuxCollector(), dict[str, object]()
    deadline = time.monotonic() + PATIENCE_S
    while float(str(told.get("tcp_clients.travel_s_per_s", 0.0))) <= 0.5:
        assert asking.poll() is None
        assert time.monotonic() < deadline, f"not in {PATIENCE_S:g} s: {told}"
        time.sleep(0.7)
        rows = [row for batch in sampler.sample() for row in pa.record_batch(batch).to_pylist()]
        told = {row["name"]: row["value"] for row in rows if row.get("entity") == f"127.0.0.1:{port}"}
    return told


def test_a_narrow_way_holds_results_up_and_what_is_lost_comes_again(server: PrivateServer) -> None:
    fetch = "import psycopg, sys; psycopg.connect(sys.argv[1]).execute('select repeat(md5(random()::text), 12500)')"
    seconds, again = [], []
    for limits in ({"bytes_per_s": 400_000}, {"lost": 0.05, "delay_s": 0.005}):
        with far_end(server, **limits) as far:
            dsn = f"host={far.address} port={server.port} user=postgres dbname=pgbench"
            began, before = time.monotonic(), sent_again()
            subprocess.run([*far.entrance, sys.executable, "-c", fetch, dsn], check=True)
            seconds.append(time.monotonic() - began)
            again.append(sent_again() - before)
    assert seconds[0] >= 1
    assert again[1] > 0


def sent_again() -> int:
    """Segments that this host has sent again since it was started."""
    names, values = (line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line[:4] == "Tcp:")
    return int(values[names.index("RetransSegs")])


def test_nothing_is_left_of_it(server: PrivateServer) -> None:
    before = set(Path("/sys/class/net").iterdir())
    with far_end(server) as far:
        assert set(Path("/sys/class/net").iterdir()) > before
    assert set(Path("/sys/class/net").iterdir()) == before
    assert not Path(f"/proc/{far.entrance[1].split('/')[2]}").exists()
