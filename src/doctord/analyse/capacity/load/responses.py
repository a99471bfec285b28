"""Figures that are responses: what load they depend on, and what becomes of them when it grows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from doctord.analyse.capacity.load.queue_fit import Queue, fitted
from doctord.analyse.capacity.series import Numbers, Series
from doctord.dataset.figure import Figure

WAITS: Final = Figure(
    "waits_per_s",
    "waits",
    "waits",
    "wait",
    "waits_per_s",
    "per_s",
    where="db IS NOT NULL AND wait_class IN ('User I/O', 'System I/O', 'Commit')",
    each=("instance", "event"),
)
# Figures in ms, and the requests per second on which they depend.
LOAD_OF: Final = {
    "disk_read_ms": "disk_requests_per_s",
    "disk_write_ms": "disk_requests_per_s",
    "wait_ms": WAITS.name,
}
MOST: Final = 0.99  # of saturation: the response there stands for any beyond it


def with_loads(used: Iterable[Figure], own: Iterable[Figure]) -> tuple[Figure, ...]:
    """Figures, and the loads on which those of them that are responses depend."""
    by_name = {figure.name: figure for figure in (*own, WAITS)}
    kept = {figure.name: figure for figure in used}
    needed = (LOAD_OF[name] for name in list(kept) if name in LOAD_OF)
    return tuple((kept | {name: by_name[name] for name in needed if name in by_name}).values())


def queues_of(responses: Iterable[Series], histories: Sequence[Series]) -> Mapping[int, Queue]:
    """The queue behind each response of which the load was measured too, by the `id` of its series."""
    loads = {(series.figure.name, series.labels): series for series in histories if not series.of}
    found = {}
    for series in responses:
        load = loads.get((LOAD_OF.get(series.figure.name, ""), series.labels))
        if load is not None and load.step_s == series.step_s:
            found[id(series)] = fitted(_beside(load, series), series.values / 1000)
    return found


def grown(responses: Numbers, queue: Queue, factor: float) -> Numbers:
    """Responses when the load is so many times what it is: back to their load by the queue's best curve, and forth."""
    curve = queue.curves[0].best()
    most = MOST * float(curve.saturation[0])
    loads = np.linspace(0, most, 2000)
    seconds = np.array([curve.response(load)[0] for load in loads])
    load = np.interp(responses / 1000, seconds, loads)
    return np.asarray(responses * np.interp(load * factor, loads, seconds) / np.interp(load, loads, seconds))


def _beside(load: Series, series: Series) -> Numbers:
    """The values of one series at the steps of another; NaN where it has none."""
    first = round((series.start - load.start).total_seconds() / load.step_s)
    places = first + np.arange(len(series.values))
    inside = (places >= 0) & (places < len(load.values))
    found = np.full(len(series.values), np.nan)
    found[inside] = load.values[places[inside]]
    return found
