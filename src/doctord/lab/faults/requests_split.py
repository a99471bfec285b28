"""A device that takes no request as large as a block."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from psycopg import sql

from doctord.lab.errors import UnavailableError
from doctord.lab.fault import fault
from doctord.lab.processes import server_user
from doctord.lab.server import PrivateServer
from doctord.lab.workload import workload

_IMAGE_BYTES = 3 << 30
# 262,144 rows that each fill a block of 8 KiB: 2 GiB, which takes half a minute to read in the order of chance.
_LOAD = """
create unlogged table wide (id int, filling text) tablespace split;
alter table wide alter filling set storage plain;
insert into wide select id, repeat('x', 7000) from generate_series(1, 262144) as id;
create index on wide (id);
vacuum analyze wide
"""
_SCRIPT = """
\\set id random(1, 262144)
select length(filling) from wide where id = :id;
"""


@fault(cause="requests_split", needs_root=True, settings={"shared_buffers": "64MB"})
def requests_split(server: PrivateServer, seed: int) -> Iterator[None]:
    """A tablespace lies on a loop device that takes requests of 4 KiB: each block of 8 KiB is read in two.

    Its table of 2 GiB is read block by block and is in no cache at the beginning.

    Seen: 22,000 reads of 4 KiB per second for 12,000 queries, three quarters of the time in `IO: DataFileRead`.
    """
    with ExitStack() as stack:
        device = _loop_device(server, stack)
        folder = server.folder / "split"
        folder.mkdir()
        _run("mount", device, folder)
        stack.callback(_run, "umount", "--lazy", folder)
        data = folder / "data"
        data.mkdir()
        if user := server_user():
            shutil.chown(data, user)
        server.execute(sql.SQL("create tablespace split location {}").format(str(data)))
        for statement in _LOAD.split(";"):
            server.execute(sql.SQL(statement))  # type: ignore[arg-type]  # made of constants
        server.execute("checkpoint")
        Path(f"/sys/block/{Path(device).name}/queue/max_sectors_kb").write_text("4")
        server.forget(data)
        with workload(server, seed=seed, clients=4, script=_SCRIPT):
            yield


def _loop_device(server: PrivateServer, stack: ExitStack) -> str:
    image = server.folder / "split.img"
    with image.open("wb") as file:
        file.truncate(_IMAGE_BYTES)
    _run("mkfs.ext4", "-q", image)
    try:
        device = _run("losetup", "--find", "--show", image)
    except UnavailableError as error:
        raise UnavailableError(f"no loop device can be had: {error}") from error
    stack.callback(_run, "losetup", "--detach", device)
    return device


def _run(*command: str | Path) -> str:
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"{command[0]} was not found")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()
