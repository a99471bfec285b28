"""A backup that takes all that the disk gives, and one that does not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doctord.lab.dose import Dose
from doctord.lab.fault import fault
from doctord.lab.host.processes import running
from doctord.lab.load.workload import workload
from doctord.lab.server import PrivateServer

_FILE_BYTES = 1 << 30
# Reads around the page cache, as a tool for backups does that leaves the cache to the database.
_BACKUP = """
import mmap, os, sys, threading
path, size = sys.argv[1], os.path.getsize(sys.argv[1])
def copy(at):
    piece = mmap.mmap(-1, 4 << 20)
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    while True:
        at = at + len(piece) if at + 2 * len(piece) <= size else 0
        os.preadv(file, [piece], at)
for number in range(int(sys.argv[2])):
    threading.Thread(target=copy, args=(number * (64 << 20) % size,)).start()
"""
_LOOKUPS = """
\\set account random(1, 1000000)
select abalance from pgbench_accounts where aid = :account;
"""


@fault(cause="io_by_others", settings={"shared_buffers": "16MB"}, warm_up_s=4.0)
def backup_saturates_disk(server: PrivateServer, dose: Dose) -> Iterator[None]:
    """A backup reads with sixteen requests of 4 MiB at a time, as fast as the disk gives them.

    The buffer pool is small and the page cache was emptied: lookups and commits wait behind those requests.

    Seen: 1 GB a second read by the backup; the light load gets 13 transactions a second instead of 100.

    """
    with _file(server.folder) as path:
        server.evict()
        backup = [sys.executable, "-c", _BACKUP, str(path), str(dose.of(4, 16, 32))]
        with (
            running(backup, server.folder / "backup.log"),
            workload(server, seed=dose.seed, clients=4, script=_LOOKUPS),
        ):
            yield


@fault(cause=None, warm_up_s=3.0)
def base_backup_gentle(server: PrivateServer, _dose: Dose) -> Iterator[None]:
    """The look-alike of backup_saturates_disk: a base backup at 8 MB a second.

    There is nothing to be found: it takes a small part of what the disk gives.
    """
    backup: list[str | Path] = [server.binaries / "pg_basebackup", "--checkpoint=spread", "--max-rate=8M", "-X", "none"]
    with running([*backup, "-D", server.folder / "backup", "-d", server.dsn], server.folder / "backup.log"):
        yield


@contextmanager
def _file(folder: Path) -> Iterator[Path]:
    """A file that lies on the disk, and is in no cache when it is read around it."""
    path = folder / "archive"
    with path.open("wb", buffering=0) as file:
        for _ in range(_FILE_BYTES >> 22):
            file.write(b"x" * (4 << 20))
    yield path
    path.unlink()
