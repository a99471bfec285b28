"""Finding the programs of PostgreSQL."""

import re
import shutil
import subprocess
from pathlib import Path

from doctord.lab.errors import LabError

_NEEDED = ("initdb", "postgres", "pgbench")
_HOMES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin")
_HINT = "install PostgreSQL with its contrib programs, or name the folder with --bin-dir"


def find_binaries(chosen: Path | None = None) -> Path:
    """The folder with initdb, postgres and pgbench.

    Args:
        chosen: the folder that the user named; without it, the newest version in the usual places, then the PATH.

    Raises:
        LabError: there is none, or the chosen one is not complete.
    """
    if chosen is not None:
        missing = [name for name in _NEEDED if not (chosen / name).is_file()]
        if missing:
            raise LabError(f"{chosen} holds no {' and no '.join(missing)}", _HINT)
        return chosen
    for folder in _candidates():
        if all((folder / name).is_file() for name in _NEEDED):
            return folder
    raise LabError("no PostgreSQL server was found", _HINT)


def version_of(binaries: Path) -> str:
    """The server's version, such as `15.18`."""
    printed = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d[\w.]*", printed)
    if found is None:
        raise LabError(f"{binaries}/postgres --version printed {printed!r}, which holds no version", _HINT)
    return found[0]


def _candidates() -> list[Path]:
    packaged = [folder for pattern in _HOMES for folder in Path("/").glob(pattern)]
    packaged.sort(key=lambda folder: float((re.findall(r"\d+(?:\.\d+)?", str(folder)) or ["0"])[-1]), reverse=True)
    on_path = shutil.which("postgres")
    return packaged + ([Path(on_path).resolve().parent] if on_path else [])
