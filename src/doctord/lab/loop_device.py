"""A file system of its own for a fault: an image in the server's folder, on a loop device, mounted beside it."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql

from doctord.lab.errors import UnavailableError
from doctord.lab.processes import server_user
from doctord.lab.server import PrivateServer


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """The device's name (`loop0`), and where its file system is mounted."""

    name: str
    mount: Path

    @contextmanager
    def taking(self, max_sectors_kb: int) -> Iterator[None]:
        """Let it take no larger requests for a while: the device is there for others afterwards."""
        limit = Path(f"/sys/block/{self.name}/queue/max_sectors_kb")
        before = limit.read_text()
        limit.write_text(str(max_sectors_kb))
        try:
            yield
        finally:
            limit.write_text(before)

    def tablespace(self, server: PrivateServer, name: str) -> Path:
        """A new tablespace on it; the folder of its files."""
        folder = self.mount / name
        folder.mkdir()
        if user := server_user():
            shutil.chown(folder, user)
        server.execute(sql.SQL("create tablespace {} location {}").format(sql.Identifier(name), str(folder)))
        return folder


@contextmanager
def loop_device(folder: Path, size_bytes: int) -> Iterator[LoopDevice]:
    """An empty ext4 of that size in a folder, gone in the end. A server may still hold files on it open then.

    Raises:
        UnavailableError: there is no loop device to be had, or a program is missing.
    """
    image, mount = folder / "loop.img", folder / "loop"
    with image.open("wb") as file:
        file.truncate(size_bytes)
    _run("mkfs.ext4", "-q", image)
    with ExitStack() as stack:
        device = _run("losetup", "--find", "--show", image)
        stack.callback(_run, "losetup", "--detach", device)
        mount.mkdir()
        _run("mount", device, mount)
        stack.callback(_run, "umount", "--lazy", mount)
        yield LoopDevice(Path(device).name, mount)


def _run(*command: str | Path) -> str:
    if shutil.which(command[0]) is None:
        raise UnavailableError(f"{command[0]} was not found")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()
