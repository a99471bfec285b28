"""Prepared clusters: initdb and `pgbench -i` cost seconds, so each version's is made once, kept, and copied per run."""

import fcntl
import logging
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from doctord.lab.binaries import version_of
from doctord.lab.errors import LabError
from doctord.lab.host.processes import server_user, tied
from doctord.lab.load.order_entry import TABLES
from doctord.lab.server import DATABASE, PrivateServer, running_server

log = logging.getLogger("doctord.lab")

_RECIPE: Final = 2  # raise it when what a template holds changes


def provide_cluster(binaries: Path, scale: int, data: Path) -> None:
    """Make `data` a data directory with pgbench's tables at that scale: a copy of a kept one, or a new one to keep.

    It is synced, so that its write-back does not fall into the run.
    """
    kept = f"postgresql-{version_of(binaries)}-scale{scale}-recipe{_RECIPE}"
    provide(kept, data, lambda: _prepare(binaries, scale, data))


def provide(kept: str, data: Path, prepare: Callable[[], None]) -> None:
    """Make `data` a copy of what is kept under a name, or let it be prepared and keep it; synced.

    Raises:
        LabError: it cannot be made.
    """
    folder = cache_folder() / kept
    with folder.with_name("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            _copy(folder, data)
        else:
            log.info("preparing %s, once", kept)
            prepare()
            _keep(data, folder)
    quietly(["sync", "--file-system", data])


def cache_folder() -> Path:
    """Where prepared clusters are kept: $XDG_CACHE_HOME/doctord/lab, else a folder of our own in /var/tmp.

    Raises:
        LabError: it cannot be made, or others could put a cluster of theirs there.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    folder = Path(home, "doctord", "lab") if home else Path(f"/var/tmp/doctord-clusters-{os.geteuid()}")  # noqa: S108 - its owner is checked
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    except OSError as error:
        hint = "set XDG_CACHE_HOME to a folder that you may write"
        raise LabError(f"{folder}: {error.strerror}", hint) from error
    seen = folder.lstat()
    if seen.st_uid != os.geteuid() or not stat.S_ISDIR(seen.st_mode) or seen.st_mode & 0o022:
        raise LabError(f"{folder} can be written by others", "remove it, or set XDG_CACHE_HOME to a folder of yours")
    return folder


def _copy(source: Path, target: Path) -> None:
    quietly(["cp", "--archive", "--reflink=auto", "--no-target-directory", source, target])


def _keep(data: Path, kept: Path) -> None:
    partial = kept.with_name("partial")
    if partial.exists():
        shutil.rmtree(partial)
    try:
        _copy(data, partial)
        partial.rename(kept)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _prepare(binaries: Path, scale: int, data: Path) -> None:
    options = ["--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync", "--auth=peer"]
    quietly(tied([binaries / "initdb", *options, "--pgdata", data], user=server_user()))
    # Without replicas in mind, loading a new table writes no WAL.
    loading = {"wal_level": "minimal", "max_wal_senders": "0"}
    with running_server(binaries, data.parent, data, loading, orderly=True) as server:
        _fill(server, scale)


def _fill(server: PrivateServer, scale: int) -> None:
    with server.connect(dbname="postgres") as connection:
        connection.execute(f"create database {DATABASE}")
    with server.connect() as connection:
        offered = connection.execute("select from pg_available_extensions where name = 'pg_stat_statements'")
        if offered.fetchone() is not None:
            connection.execute("create extension pg_stat_statements")
            with (server.data / "postgresql.conf").open("a") as configuration:
                configuration.write("shared_preload_libraries = 'pg_stat_statements'\n")
    quietly([server.binaries / "pgbench", "--initialize", "--quiet", f"--scale={scale}", server.dsn])
    for statement in TABLES:
        server.execute(statement)
    server.execute("vacuum analyze")
    server.execute("checkpoint")


def quietly(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> None:
    """Run a command, in our own environment or another one.

    Raises:
        LabError: it fails; the hint has its last words.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        last = "\n  ".join(done.stderr.splitlines()[-3:])
        raise LabError("the cluster could not be prepared", f"the last words were:\n  {last}")
