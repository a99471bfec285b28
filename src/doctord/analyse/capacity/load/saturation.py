"""How far CPUs, disks and databases are from saturation: now, after growth, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from doctord.analyse.capacity.forecast import Forecast, When, forecast, when
from doctord.analyse.capacity.load import cpu_queue, queue_fit, scaling
from doctord.analyse.capacity.load.estimate import Estimate
from doctord.analyse.capacity.load.observed import Observed
from doctord.analyse.capacity.load.queue_fit import BINS, Queue
from doctord.analyse.capacity.load.responses import LOAD_OF, WAITS
from doctord.analyse.capacity.load.scaling import Scaling
from doctord.analyse.capacity.series import DAY_S, Labels, Numbers, Series
from doctord.analyse.capacity.thresholds.threshold import Threshold
from doctord.analyse.capacity.whatif import Change, changed

LOADS: Final = {"cpu": "cpu_used_pct", "disk": "disk_requests_per_s", "wait": WAITS.name}
BUSY_DAYS: Final = 7
FAST_S: Final = 0.001  # Casebook of latency maps (L. Canali, 2013): 1 ms and less is a cache, no turning disk does it
VAGUE: Final = 3.0  # times the lower end of an interval: what ends above that is no answer
KNEE_NOT_TOLD: Final = "the points tell that load no better than this"
CPUS_NOT_TOLD: Final = "how many CPUs there are is not in these data (sar -P ALL, or lscpu's)"
QUEUE_NOT_TOLD: Final = "neither run queue nor pressure was measured"


@dataclass(frozen=True, eq=False)
class Resource:
    """The CPUs of a host, one of its disks, or the storage as an event of a database sees it.

    Attributes:
        kind: Which of them.
        labels: Host, and device; or database, and instance and event.
        queue: Response against load: busy CPUs, and seconds that a second of work takes; or requests per second, and
            seconds of a request.
        cpus: How many CPUs the host has; null for a disk, and where it is not told.
    """

    kind: Literal["cpu", "disk", "wait"]
    labels: Labels
    queue: Queue
    cpus: int | None = None


@dataclass(frozen=True, eq=False)
class Grown:
    """What if the load were another: the change, the load of the busy hour with it, and the response."""

    change: Change
    load: float
    response: Estimate
    is_far: bool


@dataclass(frozen=True, slots=True)
class Passed:
    """A threshold on the response, and the load at which it is passed; null: it is passed without any load."""

    threshold: Threshold
    load: Estimate | None


@dataclass(frozen=True, eq=False)
class Saturation:
    """How far a resource is from saturation.

    Attributes:
        resource: Which one.
        load: Of its busiest hour of the last seven days that were measured; null where it was not.
        knee: The load at which the response is twice that without a queue; null where nothing can be told.
        response: Of the busy hour; null likewise.
        when: When the busy hour reaches the knee; its interval has that of the knee in it.
        grown: With what the user asks about.
        passed: Where thresholds on the response are.
    """

    resource: Resource
    load: float | None
    knee: Estimate | None
    response: Estimate | None
    when: When
    grown: Sequence[Grown] = ()
    passed: Sequence[Passed] = ()

    @property
    def headroom_pct(self) -> float | None:
        """By how much the busy hour may grow until it reaches the knee, %; below nothing beyond it; null: not known."""
        return 100 * (self.knee.value / self.load - 1) if self.knee and self.load and not _is_vague(self.knee) else None


@dataclass(frozen=True, eq=False)
class Database:
    """How a database's throughput scales with its active sessions.

    Attributes:
        labels: Whom it is about.
        done: Name of the figure that its throughput is.
        scaling: The law, fitted.
        users: Active sessions that are exceeded in one step of twenty.
    """

    labels: Labels
    done: str
    scaling: Scaling
    users: float


def resources(seen: Observed) -> Iterator[Resource]:
    """The queue of each host's CPUs, and of each disk that served requests."""
    for (host,), rows in seen.cpus.group_by("host", maintain_order=True):
        labels = Labels(host=None if host is None else str(host))
        count = seen.count.get(labels.host)
        yield Resource("cpu", labels, _of_cpus(rows, count), count)
    for (kind, *names), rows in seen.requests.group_by("kind", "host", "db", "entity", maintain_order=True):
        labels = Labels(*(None if name is None else str(name) for name in names))
        load, response = (rows[name].to_numpy().astype(float) for name in ("load", "response_s"))
        yield Resource(
            "disk" if kind == "disk" else "wait", labels, _with_cache(queue_fit.fitted(load, response), response)
        )


def saturations(
    found: Sequence[Resource],
    loads: Sequence[Series],
    horizon_s: float,
    changes: Sequence[Change] = (),
    thresholds: Sequence[Threshold] = (),
) -> list[Saturation]:
    """Each resource now, after growth, and when its busy hour reaches the knee; the least headroom first.

    Args:
        found: Their queues.
        loads: Histories of `LOADS`, by hour or in longer steps.
        horizon_s: How far to look, seconds.
        changes: What will happen that the history cannot know of.
        thresholds: Those on responses are told by the load at which they are passed.
    """
    by_whose = {(series.figure.name, _key(series.labels)): series for series in loads}
    days = list[Series | None]()
    for resource in found:
        series = by_whose.get((LOADS[resource.kind], _key(resource.labels)))
        days.append(busy_hours(_in_units(series, resource)) if series and resource.queue.curves else None)
    paths = _forecasts([series for series in days if series], horizon_s)
    told = [
        replace(_saturation(resource, series, paths[id(series)], changes), passed=_passed(resource, thresholds))
        if series
        else _unseen(resource)
        for resource, series in zip(found, days, strict=True)
    ]
    return sorted(told, key=lambda one: np.inf if one.headroom_pct is None else one.headroom_pct)


def busy_hours(series: Series) -> Series:
    """The busiest hour of each day; of steps longer than a day each step itself."""
    a_day = DAY_S // series.step_s
    if a_day < 2:
        return series
    over = -len(series.values) % a_day
    days = np.concatenate([np.full(over, np.nan), series.values]).reshape(-1, a_day)
    some = np.isfinite(days).any(axis=1)
    busiest = np.full(len(days), np.nan)
    busiest[some] = np.nanmax(days[some], axis=1)
    start = series.at(a_day - 1 - over)
    return replace(series, step_s=DAY_S, start=start, values=busiest, low=busiest, high=busiest)


def databases(seen: Observed) -> Iterator[Database]:
    """How each database scales; of several figures that tell what it does the first counts."""
    keys = ["host", "db", "entity"]
    for names, rows in seen.databases.group_by(keys, maintain_order=True):
        labels = Labels(*(None if name is None else str(name) for name in names))
        done = str(rows["done"][0])
        points = rows.filter(pl.col("done") == done)
        users, throughput = (points[name].to_numpy().astype(float) for name in ("users", "throughput"))
        law = scaling.fitted(*averaged(users, throughput))
        yield Database(labels, done, law, float(np.quantile(users, 0.95)))


def averaged(users: Numbers, throughput: Numbers) -> tuple[Numbers, Numbers]:
    """Means of many points in bins of equal number, so that the law is not drawn by the usual load alone."""
    known = np.isfinite(users) & np.isfinite(throughput) & (users > 0)
    users, throughput = users[known], throughput[known]
    if len(users) <= 2 * BINS:
        return users, throughput
    parts = queue_fit.in_bins(users[None], throughput[None])
    return parts[0][0].mean(axis=1), parts[1][0].mean(axis=1)


def _of_cpus(rows: pl.DataFrame, count: int | None) -> Queue:
    if not count:
        return Queue(why=CPUS_NOT_TOLD)
    busy = rows["used_pct"].to_numpy().astype(float) / 100 * count
    queue = rows["run_queue"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    if np.isfinite(queue).any():
        # A mean queue shorter than the CPUs that are busy leaves the running tasks out: Solaris' and HP-UX' does.
        runs = np.isfinite(queue)
        return cpu_queue.fitted(busy, queue if queue[runs].mean() < 0.7 * busy[runs].mean() else queue - busy, count)
    pressure = rows["pressure_pct"].cast(pl.Float64).fill_null(np.nan).to_numpy() / 100
    if not np.isfinite(pressure).any():
        return Queue(why=QUEUE_NOT_TOLD)
    # Of M/M/c: while some task waits, as many do on average as 1 / (1 - rho).
    return cpu_queue.fitted(busy, pressure / np.maximum(1 - busy / count, 1e-3), count)


def _with_cache(queue: Queue, response: Numbers) -> Queue:
    usual = float(np.median(response[np.isfinite(response)])) if np.isfinite(response).any() else np.nan
    if not queue.why or not usual <= FAST_S:
        return queue
    why = f"{queue.why}; {1000 * usual:.2g} ms is a cache's or flash's time, and tells nothing of disks behind it"
    return replace(queue, why=why)


def _in_units(series: Series, resource: Resource) -> Series:
    if resource.kind == "disk" or not resource.cpus:
        return series
    busy = series.values / 100 * resource.cpus
    return replace(series, values=busy, low=busy, high=busy)


def _is_vague(knee: Estimate) -> bool:
    return knee.high is None or knee.high > VAGUE * knee.low


def _key(labels: Labels) -> tuple[str | None, ...]:
    return labels.host, labels.db, labels.entity or ""


def _passed(resource: Resource, thresholds: Sequence[Threshold]) -> list[Passed]:
    """The loads at which a response passes its limits, which are in ms."""
    return [
        Passed(threshold, resource.queue.load_at(threshold.limit / 1000))
        for threshold in thresholds
        if resource.kind != "cpu"
        and not threshold.of
        and threshold.worse == "above"
        and LOAD_OF.get(threshold.figure) == LOADS[resource.kind]
        and threshold.holds_for(resource.labels)
    ]


def _forecasts(days: Sequence[Series], horizon_s: float) -> dict[int, Forecast]:
    """The forecast of each busy hour, those of equal steps together: they learn from each other."""
    found = dict[int, Forecast]()
    for step_s in {series.step_s for series in days}:
        alike = [series for series in days if series.step_s == step_s]
        told = forecast(alike, max(1, round(horizon_s / step_s)))
        found |= {id(series): path for series, path in zip(alike, told, strict=True)}
    return found


def _unseen(resource: Resource) -> Saturation:
    queue = resource.queue
    why = queue.why or "its load by hour is not known"
    return Saturation(resource, None, queue.knee() if queue.curves else None, None, When("cannot be told", why=why))


def _saturation(resource: Resource, days: Series, path: Forecast, changes: Sequence[Change]) -> Saturation:
    queue, knee = resource.queue, resource.queue.knee()
    load = float(np.nanmax(days.values[-max(1, BUSY_DAYS * DAY_S // days.step_s) :]))
    told = [
        Grown(change, load * change.factor, queue.response(load * change.factor), queue.is_far(load * change.factor))
        for change in changes
        if change.factor != 1 and change.concerns(days)
    ]
    if _is_vague(knee):
        reached = When("cannot be told", why=KNEE_NOT_TOLD)
    elif load >= knee.value:
        reached = When("violated", why="the busy hour is there")
    else:
        reached = _reached(days, path, knee, changes)
    return Saturation(resource, load, knee, queue.response(load), reached, told)


def _reached(days: Series, path: Forecast, knee: Estimate, changes: Sequence[Change]) -> When:
    """When the busy hour reaches the knee, with what-ifs: by its own interval, and by that of the knee."""
    moved = changed(path, days, changes)
    is_changed = moved is not path
    told = when(days, moved, knee.value, "above", is_changed=is_changed)
    if told.verdict not in {"date", "not within the horizon"}:
        return told
    soonest = when(days, moved, knee.low, "above", is_changed=is_changed)
    latest = None
    if told.date and knee.high is not None:
        latest = when(days, moved, knee.high, "above", is_changed=is_changed).latest
    earliest = days.end if soonest.verdict == "violated" else soonest.earliest
    return replace(told, earliest=earliest, latest=latest)
