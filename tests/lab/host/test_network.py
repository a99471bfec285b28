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
    for _ in range(int(sys.argv[2])):
        session.execute("select 1")
"""

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
        asking = subprocess.Popen([*far.entrance, sys.executable, "-c", ASK, dsn, "60"])
        sampler, samples = LinuxCollector(), list[dict[str, object]]()
        while asking.poll() is None:
            time.sleep(0.7)
            rows = [row for batch in sampler.sample() for row in pa.record_batch(batch).to_pylist()]
            own = [row for row in rows if row.get("entity") == f"127.0.0.1:{server.port}"]
            samples.append({row["name"]: row["value"] for row in own})
        assert asking.returncode == 0
    # One in the middle: it begins and ends on the way.
    told = max(samples, key=lambda one: float(str(one.get("tcp_clients.travel_s_per_s", 0.0))))
    assert told["tcp_clients.connections"] == 1
    assert 40 <= float(str(told["tcp_clients.least_round_trip_ms"])) < 80
    assert 0.5 < float(str(told["tcp_clients.travel_s_per_s"])) <= 1
    assert told["tcp_clients.retransmits_per_s"] == 0


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
