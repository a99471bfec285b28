"""A file system of its own for a fault: an image in the server's folder, on a loop device, mounted beside it."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from psycopg import sql

from doctord.lab.errors import UnavailableError
from doctord.lab.host.folder import give, is_stale
from doctord.lab.host.processes import running, server_user
from doctord.lab.server import PrivateServer

_STARTS_S = 10.0


@dataclass(frozen=True, slots=True)
class LoopDevice:
    """The device's name (`loop0`), and where its file system is mounted."""

    name: str
    mount: Path

    @contextmanager
    def taking(self, **limits: int) -> Iterator[None]:
        """Let its queue have other limits for a while (max_sectors_kb, read_ahead_kb): it is there for others later."""
        queue = Path(f"/sys/block/{self.name}/queue")
        before = {name: (queue / name).read_text() for name in limits}
        try:
            for name, limit in limits.items():
                (queue / name).write_text(str(limit))
            yield
        finally:
            for name, text in before.items():
                (queue / name).write_text(text)

    @contextmanager
    def over(self, folder: Path) -> Iterator[None]:
        """Let what is opened in another folder be opened on it, for a while; what is open there stays as it is."""
        _run("mount", "--bind", self.mount, folder)
        try:
            yield
        finally:
            _run("umount", "--lazy", folder)

    @contextmanager
    def holding_wal(self, server: PrivateServer) -> Iterator[None]:
        """Let the server's log be written there for a while. A server that crashed then would not come back."""
        shutil.copytree(server.data / "pg_wal", self.mount, dirs_exist_ok=True)
        for path in (self.mount, *self.mount.rglob("*")):
            give(path)
        with self.over(server.data / "pg_wal"):
            server.execute("select pg_switch_wal()")
            yield

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Let no write to it end for a while (fsfreeze(8)), as whoever takes a snapshot does."""
        _run("fsfreeze", "--freeze", self.mount)
        try:
            yield
        finally:
            _run("fsfreeze", "--unfreeze", self.mount)

    def tablespace(self, server: PrivateServer, name: str) -> Path:
        """A new tablespace on it; the folder of its files."""
        folder = self.mount / name
        folder.mkdir()
        if user := server_user():
            shutil.chown(folder, user)
        server.execute(sql.SQL("create tablespace {} location {}").format(sql.Identifier(name), str(folder)))
        return folder


@contextmanager
def loop_device(folder: Path, size_bytes: int, *, inodes: int | None = None) -> Iterator[LoopDevice]:
    """An empty ext4 of that size in a folder, gone in the end. A server may still hold files on it open then.

    It has as many inodes as mkfs gives it, or so many (a few more, as they fill blocks).

    Raises:
        UnavailableError: there is no loop device to be had, or a program is missing.
    """
    image = folder / "loop.img"
    with image.open("wb") as file:
        file.truncate(size_bytes)
    with _mounted(image, folder / "loop", *(["-N", str(inodes)] if inodes else [])) as device:
        yield device


@contextmanager
def slow_device(folder: Path, size_bytes: int, *, delay_ms: int) -> Iterator[LoopDevice]:
    """The same in memory, on a device that takes so long for each request: few kernels can delay a device themselves.

    nbdkit waits before it answers, and nbdfuse makes a file for the loop device of it. Who has files open on it has to
    be gone before it: the kernel would tell of a device that fails.

    Raises:
        UnavailableError: there is no loop device to be had, or a program is missing.
    """
    socket, served, log = folder / "nbd", folder / "served", folder / "served.log"
    served.mkdir()
    delays = ["--filter=delay", f"rdelay={delay_ms}ms", f"wdelay={delay_ms}ms"]
    serve: list[str | Path] = ["nbdkit", "--foreground", "--unix", socket, "memory", str(size_bytes), *delays]
    with ExitStack() as stack:
        stack.enter_context(_serving(serve, socket, log))
        stack.enter_context(_serving(["nbdfuse", served / "disk", "--unix", socket], served / "disk", log))
        stack.callback(_run, "umount", "--lazy", served)
        yield stack.enter_context(_mounted(served / "disk", folder / "slow"))


def sweep() -> None:
    """Unmount what labs that were killed have left, and give its loop devices back: folders cannot go before."""
    if os.geteuid() != 0:
        return
    mounts = [Path(line.split()[1]) for line in Path("/proc/self/mounts").read_text().splitlines()]
    for mount in reversed(mounts):
        if _is_left_behind(mount):
            subprocess.run(["fsfreeze", "--unfreeze", mount], capture_output=True, check=False)  # most are not frozen
            subprocess.run(["umount", "--lazy", mount], capture_output=True, check=False)
    for device in Path("/sys/block").glob("loop*"):
        image = device / "loop/backing_file"
        if image.exists() and _is_left_behind(Path(image.read_text())):
            subprocess.run(["losetup", "--detach", Path("/dev", device.name)], capture_output=True, check=False)


def _is_left_behind(path: Path) -> bool:
    return any(map(is_stale, path.parts))


@contextmanager
def _mounted(image: Path, mount: Path, *options: str) -> Iterator[LoopDevice]:
    _run("mkfs.ext4", "-q", "-E", "nodiscard", *options, image)
    with ExitStack() as stack:
        device = _run("losetup", "--find", "--show", image)
        stack.callback(_run, "losetup", "--detach", device)
        mount.mkdir()
        _run("mount", "--options", "noinit_itable", device, mount)
        stack.callback(_run, "umount", "--lazy", mount)
        yield LoopDevice(Path(device).name, mount)


@contextmanager
def _serving(command: Sequence[str | Path], makes: Path, log: Path) -> Iterator[None]:
    """Run a program until the context ends, from when the file that it makes is there."""
    _look_for(str(command[0]))
    deadline = time.monotonic() + _STARTS_S
    with running(command, log):
        while not makes.exists():
            if time.monotonic() > deadline:
                raise UnavailableError(f"{command[0]} did not start")
            time.sleep(0.05)
        yield


def _run(*command: str | Path) -> str:
    _look_for(str(command[0]))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnavailableError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout.strip()


def _look_for(program: str) -> None:
    if shutil.which(program) is None:
        raise UnavailableError(f"{program} was not found")
