"""Paced load by pgbench, and what pgbench itself reports about it."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from doctord.lab.errors import LabError
from doctord.lab.host.network import FarEnd
from doctord.lab.host.processes import running
from doctord.lab.load import order_entry
from doctord.lab.server import DATABASE, PrivateServer
from doctord.regex import regex

Load = Literal["tpcb", "orders"]
LOADS: Final[Mapping[Load, Mapping[str, tuple[str, int]] | None]] = {"tpcb": None, "orders": order_entry.SCRIPTS}
"""The light loads: pgbench's own transaction, and order entry."""

_PROGRESS = regex(r"progress: ([\d.]+) s, ([\d.]+) tps, lat ([\d.]+) ms")


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
    scripts: Mapping[str, tuple[str, int]] | None = None,
    script: str | None = None,
    rate_per_s: int | None = None,
    reconnect: bool = False,
    restarts: bool = False,
    threads: int = 1,
    role: str = "postgres",
    far: FarEnd | None = None,
    dsn: str | None = None,
) -> Iterator[Workload]:
    """Run pgbench until the context ends.

    Args:
        server: the server to load.
        seed: for pgbench's random numbers.
        clients: connections.
        script: statements in pgbench's language; null: its built-in TPC-B-like transaction.
        scripts: several of them by name, in place of one, with how often each comes.
        rate_per_s: transactions per second; null: as many as it can.
        reconnect: whether each transaction has a connection of its own.
        restarts: whether it is begun anew when the server has ended its sessions.
        threads: how many of the clients may connect at the same time.
        role: who they log in as.
        far: where it runs; null: here. Its report is in a folder `far-...` of the server's.
        dsn: the address of a pooler before the server, which keeps no prepared statements; null: the server's own.

    Raises:
        LabError: pgbench ended before the context did.
    """
    folder = Path(tempfile.mkdtemp(prefix="far-" if far else "load-", dir=server.folder))
    options = ["--no-vacuum", "--time=86400", "--progress=1", "--progress-timestamp"]
    options.append(f"--protocol={'simple' if dsn else 'prepared'}")
    options += [f"--client={clients}", f"--jobs={threads}", f"--random-seed={seed}"]
    for name, (text, weight) in (scripts or ({"script": (script, 1)} if script else {})).items():
        (folder / f"{name}.sql").write_text(text)
        options.append(f"--file={folder / name}.sql@{weight}")
    if rate_per_s is not None:
        options.append(f"--rate={rate_per_s}")
    if reconnect:
        options.append("--connect")
    report = folder / "report.txt"
    place = dsn or f"host={far.address if far else server.folder} port={server.port} user={role} dbname={DATABASE}"
    pgbench: list[str | Path] = [*(far.entrance if far else ()), server.binaries / "pgbench", *options, place]
    again = ["sh", "-c", 'while :; do "$@"; sleep 0.2; done', "sh"] if restarts else []
    with running([*again, *pgbench], report) as process:
        yield Workload(report)
        if process.poll() is not None:
            last = report.read_text(errors="replace").splitlines()[-5:]
            raise LabError("the load ended early", "pgbench's last words were:\n  " + "\n  ".join(last))
