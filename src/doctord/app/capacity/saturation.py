"""How far resources are from saturation, and how databases scale: queues, and the Universal Scalability Law."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from doctord.analyse.capacity.load import saturation
from doctord.analyse.capacity.load.observed import DONE, NEEDS, SHORT_STEP_S, STEP_S, Observed, observed, step_of
from doctord.analyse.capacity.load.responses import WAITS
from doctord.analyse.capacity.load.saturation import LOADS, Database, Saturation
from doctord.analyse.capacity.load.scaling import fitted
from doctord.analyse.capacity.series import HOUR_S, Labels, Series, series_of
from doctord.analyse.capacity.whatif import Change
from doctord.app.capacity.history import renewed, series_in
from doctord.app.capacity.rules import rules_of
from doctord.app.source import Files, Recorded
from doctord.app.watcher import SILENT, Watcher
from doctord.dataset.figure import Figure, own_figures
from doctord.errors import UserError
from doctord.lake.place import default_lake
from doctord.lake.query import Lake

OBSERVED = timedelta(days=14)  # minute by minute: load and response of the same time
LOOKED_BACK = timedelta(days=2 * 365)  # hour by hour: where the load goes
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
MOST = 1e15  # users, or throughput: far more would overflow in the fit
HINT_EXTRA = "pip install 'doctord[forecast]' brings statsforecast and ruptures"
HINT_POINTS = "one line each: users or CPUs, and the throughput with so many; a heading first if you like"


@dataclass(frozen=True, eq=False)
class Saturated:
    """How far each resource is from saturation, and how each database, or load test, scales; how far was looked."""

    resources: list[Saturation]
    databases: list[Database]
    horizon_s: float
    changes: Sequence[Change]

    @property
    def healthy(self) -> bool | None:
        """False when something reaches its knee within the horizon, or is beyond it; null when nothing can be told."""
        if {one.when.verdict for one in self.resources} & {"violated", "date"}:
            return False
        can_tell = any(one.knee for one in self.resources) or any(not one.scaling.why for one in self.databases)
        return True if can_tell else None


def saturated(
    source: Files | Recorded | None,
    file: Path | None,
    horizon_s: float,
    changes: Sequence[Change],
    watcher: Watcher = SILENT,
    *,
    points: Path | None = None,
) -> Saturated:
    """How far each resource is from saturation, and how each database, or a load test, scales.

    Args:
        source: Where loads and responses come from; null: only the load test is judged.
        file: The thresholds that are told of; null takes Doctor D's own.
        horizon_s: How far to look ahead.
        changes: What-ifs.
        watcher: Who is told how it goes on.
        points: A CSV file of a load test, its users and throughput; null: there is none.

    Raises:
        UserError: nothing was measured, the libraries that forecast are not installed, or the file is none of points.
    """
    resources, databases = _measured(source, file, horizon_s, changes, watcher) if source else ([], [])
    return Saturated(resources, [*databases, *([_scaled(points)] if points else [])], horizon_s, changes)


def _measured(
    source: Files | Recorded, file: Path | None, horizon_s: float, changes: Sequence[Change], watcher: Watcher
) -> tuple[list[Saturation], list[Database]]:
    seen, loads = _of_files(source, watcher) if isinstance(source, Files) else _of_lake(source, watcher)
    queues, rules = list(saturation.resources(seen)), rules_of(file)
    try:
        held = saturation.saturations(queues, loads, horizon_s, changes, rules.thresholds)
    except ModuleNotFoundError as error:
        raise UserError(f"forecasts need {error.name}, which is not installed", HINT_EXTRA) from error
    return held, list(saturation.databases(seen))


def _scaled(path: Path) -> Database:
    """The law through the points of a CSV file: N and X in its first two columns."""
    users, throughput = _points(path)
    law = fitted(np.array(users), np.array(throughput))
    return Database(Labels(entity=path.name), "throughput", law, max(users, default=np.nan))


def _of_files(source: Files, watcher: Watcher) -> tuple[Observed, list[Series]]:
    dataset = source.joined(watcher=watcher)
    figures = {figure.name: figure for figure in own_figures()}
    loads = _loads(figures)
    return observed(dataset, figures, step_of(dataset)), list(series_of(dataset, loads, HOUR_S))


def _of_lake(recorded: Recorded, watcher: Watcher) -> tuple[Observed, list[Series]]:
    """The last days by the minute, day by day so that memory holds one of them, and the load of years by the hour."""
    lake, figures = Lake(recorded.lake or default_lake()), {figure.name: figure for figure in own_figures()}
    loads = _loads(figures)
    watched = [*loads, *(figures[name] for name in DONE)]
    renewed(lake, watched, watcher)
    last = recorded.history(lake, watched).until
    if last is None:
        raise UserError(f"{lake.path}: nothing was measured", "record with `doctord record`, or name files")
    hours = series_in(recorded.history(lake, loads), loads, last - LOOKED_BACK, last)
    step_s = SHORT_STEP_S if max((len(series.values) for series in hours), default=0) <= 1 else STEP_S
    days = (lake.dataset(since, since + DAY, NEEDS) for since in _days(last))
    parts = [observed(recorded.rows(day), figures, step_s) for day in days]
    of_each_cpu = recorded.rows(lake.dataset(last - HOUR, last, {"cpu": "cpu IS NOT NULL"}))  # tells how many
    return Observed.joined([*parts, observed(of_each_cpu, figures)]), hours


def _loads(figures: Mapping[str, Figure]) -> list[Figure]:
    known = {**figures, WAITS.name: WAITS}
    return [known[name] for name in LOADS.values()]


def _days(last: datetime) -> list[datetime]:
    return [last - OBSERVED + day * DAY for day in range(OBSERVED // DAY)]


def _points(path: Path) -> tuple[list[float], list[float]]:
    try:
        lines = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: {error}", "name a CSV file that you may read") from error
    users, throughput = list[float](), list[float]()
    for number, cells in enumerate(lines, 1):
        try:
            pair = float(cells[0]), float(cells[1])
        except (ValueError, IndexError) as error:
            if number == 1 or not any(cells):
                continue
            raise UserError(f"{path}:{number}: {','.join(cells)!r} is not two numbers", HINT_POINTS) from error
        if max(map(abs, pair)) > MOST:
            raise UserError(f"{path}:{number}: {','.join(cells)!r}: no system has or does so many", HINT_POINTS)
        users.append(pair[0])
        throughput.append(pair[1])
    if not users:
        raise UserError(f"{path}: there are no points in it", HINT_POINTS)
    return users, throughput
