"""Finding the server programs of MariaDB and MySQL."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

from doctord.lab.errors import LabError
from doctord.lab.fault import Engine

_PROGRAMS: Final = {"mariadb": ("mariadbd",), "mysql": ("mysqld",)}
_PLACES: Final = ("/usr/sbin", "/usr/local/sbin", "/usr/libexec", "/usr/local/mysql/bin")
_HINT: Final = {
    "mariadb": "install mariadb-server, or name the folder of its programs with --bin-dir",
    "mysql": "name the folder of MySQL's programs with --bin-dir: it has mysqld",
}


class Program(NamedTuple):
    """A server's program, and its version, such as `10.11.14`."""

    path: Path
    version: str
    is_mariadb: bool

    @property
    def environment(self) -> dict[str, str]:
        """What it wants to be started with: one that was unpacked by hand brings libraries of its own."""
        home = self.path.parent.parent
        libraries = [str(folder) for folder in (home / "lib/private", home / "lib/mysql/private") if folder.is_dir()]
        return {**os.environ, **({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})}


def find_program(engine: Engine, chosen: Path | None = None) -> Program:
    """The server's program of an engine, in the folder that the user named, else in the usual places.

    Raises:
        LabError: there is none, it is of the other engine, or it does not say its version.
    """
    places = str(chosen) if chosen else os.pathsep.join((os.environ.get("PATH", ""), *_PLACES))
    found = next(filter(None, (shutil.which(name, path=places) for name in _PROGRAMS[engine])), None)
    if found is None:
        raise LabError(f"no {engine} server was found{f' in {chosen}' if chosen else ''}", _HINT[engine])
    program = Program(Path(found).resolve(), "", is_mariadb=engine == "mariadb")
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False, env=program.environment)
    version = re.search(r"Ver (\d+\.\d+\.\d+)", told.stdout)
    if version is None:
        raise LabError(f"{found} --version tells no version", (told.stderr or told.stdout).strip()[-300:])
    if ("MariaDB" in told.stdout) != program.is_mariadb:
        raise LabError(f"{found} is no {engine}", _HINT[engine])
    return program._replace(version=version[1])
