"""pgbench's output (PostgreSQL 9 to 18): what the client of a load test saw, one run or several in a file.

Tables: `statistic` of `pgbench`, the entity being the run's number of clients (`10 clients`): `pgbench.run_tps` per
second over the time of the run, `.run_latency_avg_ms`, `.run_latency_stddev_ms`, `.run_failed` transactions; of each
report of --progress `pgbench.tps` and `.latency_avg_ms`.

They say how quick the server answered, and not what it waited for: no cause is claimed from them. The output has no
times: the last run ends when the file was last written. Left out: figures by script and by command.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from doctord._native import Batch
from doctord.dataset.rows import micros, rows
from doctord.read.clock import last_written
from doctord.read.format import Rank
from doctord.read.loadtest.sysbench import NOT_THE_SERVER
from doctord.read.source import SourceFile
from doctord.regex import regex

NAME = "pgbench"
RANK = Rank.NAMED
BEGINS: Final = regex(r"^(?:pgbench \(\d|transaction type: )", re.MULTILINE)
CLIENTS: Final = regex(r"number of clients: (\d+)")
DURATION: Final = regex(r"duration: (\d+) s")
PROGRESS: Final = regex(r"progress: (?P<s>[\d.]+) s, (?P<tps>[\d.]+) tps, lat (?P<ms>[\d.]+) ms")
SUMS: Final = (
    ("run_latency_avg_ms", regex(r"latency average(?: =|:) ([\d.]+) ms"), "ms"),
    ("run_latency_stddev_ms", regex(r"latency stddev(?: =|:) ([\d.]+) ms"), "ms"),
    ("run_failed", regex(r"number of failed transactions: (\d+)"), "transactions"),
)
TPS: Final = regex(r"tps = ([\d.]+)(?: \((?:without|including|excluding).*)?$")


def sniff(head: str) -> bool:
    """Whether its first line, or the heading of a run, is among the first lines."""
    return BEGINS.search(head) is not None


def read(source: SourceFile) -> Iterator[Batch]:
    """Rows of `statistic`."""
    end, found = last_written(source), list[dict[str, Any]]()
    reports, clients, duration_s = list[tuple[float, float, float]](), "", None
    for _, line in source.lines():
        if told := CLIENTS.match(line):
            clients, duration_s = f"{told[1]} {'client' if told[1] == '1' else 'clients'}", None
        elif told := DURATION.match(line):
            duration_s = float(told[1])
        elif told := PROGRESS.match(line):
            reports.append((float(told["s"]), float(told["tps"]), float(told["ms"])))
        elif told := TPS.match(line):
            found.append(_figure("run_tps", float(told[1]), "per_s", clients) | {"interval_s": duration_s})
        else:
            sums = ((name, unit, told[1]) for name, shape, unit in SUMS if (told := shape.match(line)))
            found += [_figure(name, float(value), unit, clients) for name, unit, value in sums]
    last_s = max((at_s for at_s, _, _ in reports), default=0.0)
    for at_s, tps, ms in reports:
        at = {"ts": micros(end - timedelta(seconds=last_s - at_s))}
        found += [_figure("tps", tps, "per_s", clients) | at, _figure("latency_avg_ms", ms, "ms", clients) | at]
    if found:
        source.note(NOT_THE_SERVER)
        yield rows("statistic", [{"ts": micros(end), "host": source.host} | row for row in found])


def _figure(name: str, value: float, unit: str, entity: str) -> dict[str, Any]:
    kind = "rate" if unit == "per_s" else "gauge"
    about = {"component": "pgbench", "name": f"pgbench.{name}", "entity": entity}
    return about | {"value": value, "unit": unit, "kind": kind}
