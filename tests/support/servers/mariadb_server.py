"""Private MariaDB servers for tests: started in a temporary folder, as an unprivileged user, and stopped again."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pymysql
import pytest

from alone import alone
from servers import data_folder, free_port

START_S = 120


@dataclass
class MariaDBServer:
    """A running server. `start` and `stop` may be called again and again; the data stay until the end of the test."""

    folder: Path
    port: int
    settings: Mapping[str, object]
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text()

    def execute(self, *statements: str) -> list[tuple[Any, ...]]:
        """Rows of the last statement, as root."""
        with closing(pymysql.connect(user="root", unix_socket=str(self.socket), ssl_disabled=True)) as connection:
            cursor = connection.cursor()
            for statement in statements:
                cursor.execute(statement)
            rows = list(cursor.fetchall())
            cursor.execute("DO 0")  # a statement is counted after its answer was sent: by now the last one is
            return rows

    def start(self) -> None:
        options = {
            "datadir": self.folder / "data",
            "socket": self.socket,
            "port": self.port,
            "bind-address": "127.0.0.1",
            "innodb-buffer-pool-size": "16M",
            "innodb-flush-log-at-trx-commit": 0,
            **self.settings,
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [binary("mariadbd"), "--no-defaults", *arguments], stdout=log, stderr=log, cwd="/", **_unprivileged()
            )
        deadline = time.monotonic() + START_S
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"MariaDB does not start:\n{self.log}")
            time.sleep(0.02)

    def _ready(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(how)
        try:
            self.process.wait(timeout=START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=START_S)
        self.process = None


@contextmanager
def running_mariadb(**settings: object) -> Iterator[MariaDBServer]:
    """A server with these settings (`_` for `-` in their names); `doctord` has the rights that the manual names."""
    with tempfile.TemporaryDirectory(prefix="doctord-test-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        shutil.copytree(_template(), folder / "data")
        _give_away(folder)
        given = {key.replace("_", "-"): value for key, value in settings.items()}
        server = MariaDBServer(folder, free_port(), given)
        try:
            server.start()
            server.execute(
                "CREATE USER doctord@'127.0.0.1' IDENTIFIED BY 'open sesame'",
                "GRANT SELECT ON performance_schema.* TO doctord@'127.0.0.1'",
            )
            yield server
        finally:
            server.stop(signal.SIGKILL)  # the data go anyway


@cache
def _template() -> Path:
    """A fresh data directory to copy: to make one takes seconds."""
    version = subprocess.run([binary("mariadbd"), "--version"], capture_output=True, text=True, check=True).stdout
    cached = data_folder() / "data-mariadb"
    stamp = cached / "made-by"
    with alone(cached.name):
        if not (stamp.exists() and stamp.read_text() == version):
            _install(cached)
            stamp.write_text(version)
    return cached / "data"


def _install(cached: Path) -> None:
    shutil.rmtree(cached, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="doctord-install-") as name:
        Path(name).chmod(0o755)
        _give_away(Path(name))
        command = [binary("mariadb-install-db"), "--no-defaults", f"--datadir={name}/data", "--skip-test-db"]
        command.append("--auth-root-authentication-method=normal")
        subprocess.run(command, check=True, capture_output=True, cwd="/", **_unprivileged())
        shutil.copytree(f"{name}/data", cached / "data")


def _give_away(folder: Path) -> None:
    if os.geteuid() == 0:
        user = _user()
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)


def binary(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        pytest.skip("MariaDB is not installed: apt-get install mariadb-server")
    return found


def _unprivileged() -> dict[str, Any]:
    """Arguments of Popen that make the child run as a user MariaDB accepts."""
    if os.geteuid() != 0:
        return {}
    user = _user()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("mysql")
    except KeyError:
        return pwd.getpwnam("nobody")
