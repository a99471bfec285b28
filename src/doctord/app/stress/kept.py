"""Load tests as rows of a lake: what `study` compares, `map` draws and `sql` asks for.

The names are those that files of fio and pgbench give (read/loadtest/): `statistic` of each step, and `latency` of each
second, all steps in turn.
"""

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from doctord._native import Batch
from doctord.analyse.stress.latencies import EDGES_US, Latencies
from doctord.app.stress.database import Stress
from doctord.app.stress.device_found import DeviceStress
from doctord.dataset.dataset import Dataset
from doctord.dataset.rows import rows
from doctord.lake.imports import keep
from doctord.stress.fio import Done
from doctord.stress.pgbench import Given

PERCENTILES: Final = (50.0, 95.0, 99.0)
_SECOND_US: Final = 1_000_000


class Names(NamedTuple):
    """How a generator's figures are called: requests a second, their mean time, its percentiles, and their unit."""

    component: str
    rate: str
    mean: str
    percentile: str
    unit: str
    one_us: float


FIO: Final = Names("fio", "fio.iops", "fio.lat_mean", "fio.lat_p{:g}", "us", 1.0)
PGBENCH: Final = Names(
    "pgbench", "pgbench.run_tps", "pgbench.run_latency_avg_ms", "pgbench.run_latency_p{:g}_ms", "ms", 1e-3
)


class Kept(NamedTuple):
    """Latencies of a step: by whose names, what tells it from other steps, what was timed, and when it ended."""

    names: Names
    entity: str
    subject: str
    ended_us: int
    latencies: Latencies
    request_bytes: int | None = None


def keep_device(found: DeviceStress, lake: Path) -> None:
    """Put what was measured of storage into a lake, with what the check-ups beside it saw.

    Raises:
        LakeError: it cannot be written to.
    """
    seen = [batch for ran in found.steps if ran.examination for batch in ran.examination.seen.batches or ()]
    own = [batch for ran in found.steps for part in _of_fio(ran.done) for batch in batches(part)]
    keep(lake, Dataset.from_batches([*own, *seen]).tables)


def keep_database(found: Stress, lake: Path) -> None:
    """Put what was measured of a database into a lake.

    Raises:
        LakeError: it cannot be written to.
    """
    given = [*found.probes, *(ran.given for ran in found.steps)]
    keep(lake, Dataset.from_batches([batch for one in given for batch in batches(_of_pgbench(one))]).tables)


def batches(kept: Kept) -> Iterator[Batch]:
    """The rows of a step; none where nothing ended in it."""
    if kept.latencies.number:
        yield rows("statistic", _figures(kept))
        yield rows("latency", _buckets(kept))


def _of_fio(done: Done) -> Iterator[Kept]:
    for way, latencies in done.by_direction.items():
        entity = f"{done.job.name} {way}"
        yield Kept(FIO, entity, f"fio {way}", done.ended_us, latencies, done.job.block_bytes)


def _of_pgbench(given: Given) -> Kept:
    clients = f"{given.clients} {'client' if given.clients == 1 else 'clients'}"
    entity = clients if given.offered_per_s is None else f"{given.offered_per_s:g}/s"
    return Kept(PGBENCH, entity, "pgbench transaction", given.ended_us, given.latencies)


def _figures(kept: Kept) -> Iterator[Mapping[str, Any]]:
    """One of each for a step: repeats tell how far chance goes, seconds that follow each other do not."""
    names, latencies, seconds = kept.names, kept.latencies, len(kept.latencies.counts)
    about = _at(kept, seconds - 1) | {"component": names.component, "entity": kept.entity, "interval_s": float(seconds)}
    yield about | _figure(names.rate, latencies.number / seconds, "per_s")
    if kept.request_bytes is not None:
        yield about | _figure("fio.bw", latencies.number * kept.request_bytes / seconds, "bytes_per_s")
    told = {names.mean: latencies.mean_us()}
    told |= {names.percentile.format(share): latencies.quantile_us(share / 100) for share in PERCENTILES}
    for name, time_us in told.items():
        if time_us is not None:
            yield about | _figure(name, time_us * names.one_us, names.unit)


def _figure(name: str, value: float, unit: str) -> dict[str, Any]:
    return {"name": name, "value": float(value), "unit": unit, "kind": "rate" if unit.endswith("per_s") else "gauge"}


def _at(kept: Kept, second: int) -> dict[str, Any]:
    ended_us = kept.ended_us - (len(kept.latencies.counts) - second - 1) * _SECOND_US
    return {"ts": ended_us, "interval_s": 1.0, "host": socket.gethostname()}


def _buckets(kept: Kept) -> Iterator[Mapping[str, Any]]:
    counts = kept.latencies.counts
    for second, bucket in zip(*counts.nonzero(), strict=True):
        edges = {"gt_us": float(EDGES_US[bucket]), "le_us": float(EDGES_US[bucket + 1])}
        yield _at(kept, int(second)) | edges | {"subject": kept.subject, "count": int(counts[second, bucket])}
