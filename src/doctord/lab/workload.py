"""Paced load by pgbench, and what pgbench itself reports about it."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from doctord.lab.errors import LabError
from doctord.lab.processes import running
from doctord.lab.server import PrivateServer

_PROGRESS = re.compile(r"progress: ([\d.]+) s, ([\d.]+) tps, lat ([\d.]+) ms")


@dataclass(frozen=True, slots=True)
class Pace:
    """How a workload fared over some seconds: transactions per second, and their mean latency, null without any."""

    tps: float
    latency_ms: float | None


@dataclass(frozen=True, slots=True)
class Workload:
    """A running pgbench."""

    report: Path

    def pace(self, since: float, until: float) -> Pace | None:
        """The pace between two times (seconds since the epoch); null when pgbench reported nothing in between."""
        seconds = [tuple(map(float, found)) for found in _PROGRESS.findall(self.report.read_text())]
        inside = [(tps, latency_ms) for at, tps, latency_ms in seconds if since + 1 <= at <= until]
        if not inside:
            return None
        done = sum(tps for tps, _latency_ms in inside)
        mean_ms = sum(tps * latency_ms for tps, latency_ms in inside) / done if done else None
        return Pace(round(done / len(inside), 1), None if mean_ms is None else round(mean_ms, 3))


@contextmanager
def workload(
    server: PrivateServer,
    *,
    seed: int,
    clients: int,
    script: str | None = None,
    rate_per_s: int | None = None,
    reconnect: bool = False,
    threads: int = 1,
) -> Iterator[Workload]:
    """Run pgbench until the context ends.

    Args:
        server: the server to load.
        seed: for pgbench's random numbers.
        clients: connections.
        script: statements in pgbench's language; null: its built-in TPC-B-like transaction.
        rate_per_s: transactions per second; null: as many as it can.
        reconnect: whether each transaction has a connection of its own.
        threads: how many of the clients may connect at the same time.

    Raises:
        LabError: pgbench ended before the context did.
    """
    folder = Path(tempfile.mkdtemp(prefix="load-", dir=server.folder))
    options = ["--no-vacuum", "--time=86400", "--progress=1", "--progress-timestamp", "--protocol=prepared"]
    options += [f"--client={clients}", f"--jobs={threads}", f"--random-seed={seed}"]
    if script is not None:
        (folder / "script.sql").write_text(script)
        options.append(f"--file={folder / 'script.sql'}")
    if rate_per_s is not None:
        options.append(f"--rate={rate_per_s}")
    if reconnect:
        options.append("--connect")
    report = folder / "report.txt"
    with running([server.binaries / "pgbench", *options, server.dsn], report) as process:
        yield Workload(report)
        if process.poll() is not None:
            last = report.read_text(errors="replace").splitlines()[-5:]
            raise LabError("the load ended early", "pgbench's last words were:\n  " + "\n  ".join(last))
