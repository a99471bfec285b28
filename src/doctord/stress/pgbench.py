"""One step of a load on PostgreSQL, given by pgbench, and what it logged of each transaction.

pgbench with `--rate` begins transactions at random moments of a Poisson process, whatever the server does, and counts
latency from the moment at which each was due: a stall is felt by all that were due in it. PostgreSQL's documentation,
pgbench, "--rate" and "Per-Transaction Logging".
"""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from doctord.analyse.stress.latencies import Latencies, counted
from doctord.errors import UserError
from doctord.lab.host.processes import tied
from doctord.stress.ground import PROGRAM
from doctord.stress.kits import Kit

_COLUMNS: Final = ("client", "number", "latency_us", "script", "ended_s", "ended_us", "lag_us")
_HOMES: Final = "/usr/lib/postgresql/*/bin/pgbench"
_GRACE_S: Final = 20.0
MOST_LAG: Final = 0.05  # of a step, by which the last transactions begin late: the server does not keep up
BEHIND: Final = 0.95  # of what was offered


class Given(NamedTuple):
    """What a step gave, and what came of it.

    Attributes:
        offered_per_s: Transactions due in a second; null: each client begins the next when one is done.
        clients: Connections.
        seconds: How long.
        latencies: Of each transaction, from the moment at which it was due.
        failed: Transactions that the server refused.
        late_s: By how much the last twentieth of them began after it was due, in the median; null where none is due.
        cpu_s: What pgbench itself took of the CPUs.
        last_words: What pgbench said last, where it ended badly; empty else.
        ended_us: When that was, since the epoch.
    """

    offered_per_s: float | None
    clients: int
    seconds: int
    latencies: Latencies
    failed: int
    late_s: float | None
    cpu_s: float
    last_words: str = ""
    ended_us: int = 0

    @property
    def achieved_per_s(self) -> float:
        """Transactions done in a second."""
        return self.latencies.number / self.seconds

    @property
    def keeps_up(self) -> bool:
        """Whether the server did what was due, but for chance, and without being late ever more."""
        if self.offered_per_s is None or self.last_words:
            return not self.last_words
        due = self.offered_per_s * self.seconds
        chance = 3 * due**0.5  # of a Poisson process
        is_done = self.latencies.number + self.failed >= BEHIND * due - chance
        return is_done and (self.late_s or 0.0) <= MOST_LAG * self.seconds


def program() -> Path:
    """Where pgbench is.

    Raises:
        UserError: it is not installed.
    """
    found = shutil.which("pgbench") or max(map(str, Path("/").glob(_HOMES[1:])), default=None)
    if found is None:
        raise UserError(
            "pgbench was not found", "install it: Debian's postgresql-contrib, Red Hat's postgresql-contrib"
        )
    return Path(found)


def build(dsn: str, scale: int) -> None:
    """Make pgbench's own tables.

    Raises:
        UserError: it cannot.
    """
    place, environment = _without_password(dsn)
    command: list[str | Path] = [program(), "--initialize", "--quiet", f"--scale={scale}", place]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise UserError(f"pgbench's tables could not be made: {_last(done.stderr)}", "see the server's log")


def step(
    dsn: str, kit: Kit, *, seconds: int, clients: int, rate_per_s: float | None = None, seed: int = 0, threads: int = 2
) -> Given:
    """Give a load for so long."""
    with tempfile.TemporaryDirectory(prefix="doctord-stress-", dir="/var/tmp") as name:
        folder = Path(name)
        command: list[str | Path] = [
            *(program(), "--no-vacuum", "--protocol=prepared", "--log", f"--log-prefix={folder / 'log'}"),
            *(f"--time={seconds}", f"--client={clients}", f"--jobs={min(threads, clients)}", f"--random-seed={seed}"),
            *([] if rate_per_s is None else [f"--rate={rate_per_s}"]),
            *([f"--builtin={kit.builtin}"] if kit.builtin else []),
        ]
        for script, (text, weight) in kit.scripts.items():
            (folder / f"{script}.sql").write_text(text, encoding="utf-8")
            command.append(f"--file={folder / script}.sql@{weight}")
        place, environment = _without_password(dsn)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        is_late = ""
        with subprocess.Popen(tied([*command, place]), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=environment) as process:  # fmt: skip
            try:
                _, errors = process.communicate(timeout=seconds + _GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                _, errors = process.communicate()
                is_late = f"it did not end within {_GRACE_S:g} s after its time"
            except BaseException:
                process.kill()
                raise
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        words = is_late or (_last(errors) or f"it ended with status {process.returncode}" if process.returncode else "")
        latencies, failed, late_s = _read(folder, began, seconds)
        ended_us = round((began + seconds) * 1e6)
        return Given(rate_per_s, clients, seconds, latencies, failed, late_s, cpu_s, words, ended_us)


def _read(folder: Path, began: float, seconds: int) -> tuple[Latencies, int, float | None]:
    """Latencies, failures, and by how much the last ones began late, of what pgbench logged."""
    files = [file for file in sorted(folder.glob("log.*")) if file.stat().st_size]
    parts = [
        pl.read_csv(file, separator=" ", has_header=False, infer_schema=False, truncate_ragged_lines=True)
        for file in files
    ]
    if not parts:
        return counted(np.zeros(0), np.zeros(0), seconds), 0, None
    rows = pl.concat([part.rename(dict(zip(part.columns, _COLUMNS, strict=False))) for part in parts])
    rows = rows.with_columns(pl.exclude("script").cast(pl.Float64, strict=False))
    done = rows.filter(pl.col("latency_us").is_not_null()).sort("ended_s", "ended_us")
    ended_s = (done["ended_s"] + done["ended_us"] / 1e6 - began).to_numpy()
    late_s = None
    if "lag_us" in done.columns and len(done):
        late_s = float(done.tail(max(len(done) // 20, 1)).select(pl.col("lag_us").median()).item()) / 1e6
    return counted(ended_s, done["latency_us"].to_numpy(), seconds), len(rows) - len(done), late_s


def _without_password(dsn: str) -> tuple[str, dict[str, str]]:
    """An address for a command line, which everybody may read, and the environment that holds what belongs to it."""
    told = conninfo_to_dict(dsn)
    password = told.pop("password", None)
    place = make_conninfo("", **{**told, "application_name": PROGRAM})
    return place, os.environ | ({"PGPASSWORD": str(password)} if password else {})


def _last(text: str) -> str:
    return text.strip().rpartition("\n")[2]
