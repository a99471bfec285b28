"""How long forecasts of a fleet take, beside AutoETS and prophet; a table of docs/reference/forecast-accuracy.md.

    .venv/bin/python -m pip install prophet
    OPENBLAS_NUM_THREADS=1 .venv/bin/python benchmarks/capacity/capacity_forecast.py

100 hosts with 60 figures each, a year of hours, 90 days ahead, told by day: 6,000 series in two processes, each with
the 90 days that follow to measure the forecast on. The peers forecast the days of a sample of them.
"""

import argparse
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime

import numpy as np
import pandas as pd
from forecasting import LEVEL, Score, Told, average, cpu_s, scored, series_of, write
from simulated import AHEAD_DAYS, KINDS, START, shape_of
from statsforecast.models import AutoETS

from doctord.analyse.capacity.forecast import forecast
from doctord.analyse.capacity.series import HOUR_S, Numbers

try:
    from prophet import Prophet
except ModuleNotFoundError:
    raise SystemExit("the peer is missing: .venv/bin/python -m pip install prophet") from None

DAYS = 364
PROCESSES = 2
TOGETHER = 500  # series that a process forecasts at once


def main() -> None:
    """Forecast them all, then the sample by the peers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=6000, help="how many")
    parser.add_argument("--sample", type=int, default=70, help="how many of them the peers forecast")
    given = parser.parse_args()
    logging.disable(logging.INFO)  # prophet sets its own loggers up
    sample = sorted(np.random.default_rng(20261121).choice(given.series, given.sample, replace=False).tolist())
    scores, wall_s, used_s = fleet(given.series)
    rows = [
        row("doctord, all of them", list(scores.values()), wall_s, used_s),
        row("doctord, the sample", [scores[seed] for seed in sample], None, None),
        *(peer(name, told, sample) for name, told in (("AutoETS", auto_ets), ("prophet", prophet))),
    ]
    said = f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} CPUs, load before {os.getloadavg()[2]:.1f}"
    heading = "| forecasts by | series | wall | CPU | series per CPU second | sMAPE | MSIS | in the interval |"
    write("speed", [f"Measured on {said}.", "", heading, "|---|---|---|---|---|---|---|---|", *rows])


def fleet(series: int) -> tuple[dict[int, Score], float, float]:
    """The score of each, seconds on the clock and of CPU."""
    parts = [range(begin, min(begin + TOGETHER, series)) for begin in range(0, series, TOGETHER)]
    began, used_s = time.perf_counter(), cpu_s()
    with ProcessPoolExecutor(PROCESSES) as pool:
        scores = [score for part in pool.map(a_part, parts) for score in part]
    return dict(enumerate(scores)), time.perf_counter() - began, cpu_s() - used_s


def a_part(seeds: range) -> list[Score]:
    """Forecast a year of hours of each, and score what came."""
    years = [a_year(seed) for seed in seeds]
    found = forecast([series_of(hours, HOUR_S) for hours, _ in years], AHEAD_DAYS * 24, LEVEL)
    return [
        scored(by_day(hours), after, (one.mean, one.low, one.high), 7)
        for (hours, after), one in zip(years, found, strict=True)
    ]


def peer(name: str, told: Callable[[Numbers], Told], sample: list[int]) -> str:
    """What a peer makes of the days of the sample; gaps are filled for it by straight lines."""
    scores, spent_s = [], 0.0
    for seed in sample:
        hours, after = a_year(seed)
        days = by_day(hours)
        at, known = np.arange(len(days)), np.isfinite(days)
        days = np.interp(at, at[known], days[known])
        used_s = cpu_s()
        scores.append(scored(days, after, told(days), 7))
        spent_s += cpu_s() - used_s
    return row(name, scores, None, spent_s)


def row(name: str, scores: list[Score], wall_s: float | None, used_s: float | None) -> str:
    """A row of the table."""
    mean = average(scores)
    took = [f"{seconds:.0f} s" if seconds is not None else "" for seconds in (wall_s, used_s)]
    rate = f"{len(scores) / used_s:.1f}" if used_s else ""
    return (
        f"| {name} | {len(scores)} | {' | '.join(took)} | {rate} "
        f"| {mean.smape:.2f} | {mean.msis:.2f} | {100 * mean.held:.1f} % |"
    )


def auto_ets(days: Numbers) -> Told:
    """AutoETS of statsforecast, with the season of a week; no backtest."""
    said = AutoETS(season_length=7).forecast(y=days, h=AHEAD_DAYS, level=[95])
    return said["mean"], said["lo-95"], said["hi-95"]


def prophet(days: Numbers) -> Told:
    """Prophet as it comes, with intervals of 95 %; no backtest."""
    model = Prophet(interval_width=LEVEL)
    first = START.replace(tzinfo=None)
    model.fit(pd.DataFrame({"ds": pd.date_range(first, periods=len(days)), "y": days}))
    said = model.predict(pd.DataFrame({"ds": pd.date_range(first, periods=len(days) + AHEAD_DAYS)[len(days) :]}))
    return said["yhat"].to_numpy(), said["yhat_lower"].to_numpy(), said["yhat_upper"].to_numpy()


def a_year(seed: int) -> tuple[Numbers, Numbers]:
    """A year of hours, and the means of the days that follow; its kind goes round with the seed."""
    random, kind = np.random.default_rng(seed), tuple(KINDS)[seed % len(KINDS)]
    level = random.uniform(50, 500)
    days = np.maximum(level * shape_of(random, np.arange(DAYS + AHEAD_DAYS, dtype=np.float64), kind), 0.0)
    day = 1 + random.uniform(0, 0.4) * np.sin(2 * np.pi * (np.arange(24) + random.uniform(0, 24)) / 24)
    noise = random.uniform(0.01, 0.1) * random.standard_normal((len(days), 24))
    hours = days[:, None] * np.maximum(day + noise, 0.01)
    known = hours[:DAYS].ravel()
    if "gaps" in kind:
        begin = int(random.integers(500, len(known) - 1000))
        known[begin : begin + int(random.integers(10, 300))] = np.nan
    return known, hours[DAYS:].mean(axis=1)


def by_day(hours: Numbers) -> Numbers:
    """The mean of each day; NaN where less than a quarter of it was measured."""
    days = hours.reshape(-1, 24)
    enough = np.isfinite(days).sum(axis=1) >= 6
    found = np.full(len(days), np.nan)
    found[enough] = np.nanmean(days[enough], axis=1)
    return found


if __name__ == "__main__":
    main()
