"""How good forecasts are, and how long they take; prints the tables of docs/reference/forecast-accuracy.md.

    .venv/bin/python benchmarks/forecast.py --m4 FOLDER

FOLDER holds Weekly-train.csv, Weekly-test.csv, Hourly-train.csv and Hourly-test.csv of the public repository
Mcompetitions/M4-methods (or DOCTORD_M4 names it). Simulated histories need no data: `--only simulated`.
"""

import argparse
import csv
import os
import resource
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from statsforecast.models import AutoETS

from doctord.analyse.capacity.figure import Figure
from doctord.analyse.capacity.forecast import Forecast, forecast, when
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Numbers, Series, Whose

FIGURE = Figure("figure", "figure", "workload", "disk", "reads_per_s", "per_s")
START = datetime(2025, 1, 1, tzinfo=UTC)
M4 = {"Weekly": (7 * DAY_S, 13, 1), "Hourly": (HOUR_S, 48, 24)}  # step, steps ahead, season of MSIS
LEVEL = 0.95
AHEAD_DAYS = 90


def main() -> None:
    """Run what is asked for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m4", type=Path, default=os.environ.get("DOCTORD_M4"), help="folder with M4's files")
    parser.add_argument("--only", choices=["weekly", "hourly", "simulated", "speed"], help="one of the parts")
    parser.add_argument("--every", type=int, default=1, help="of M4, take each so many-th series only")
    parser.add_argument("--series", type=int, default=6000, help="series of a year of hours, for the speed")
    given = parser.parse_args()
    for name in M4:
        if given.only in (None, name.lower()):
            if given.m4 is None:
                parser.error("name the folder that holds M4 with --m4")
            published(Path(given.m4), name, given.every)
    if given.only in (None, "simulated"):
        simulated()
    if given.only in (None, "speed"):
        speed(given.series)


def series_of(values: Numbers, step_s: int) -> Series:
    """A series of values."""
    return Series(FIGURE, Whose(), step_s, START, values, values, values)


def published(folder: Path, name: str, every: int) -> None:
    """Errors and intervals on M4: means over the series, as the competition's organisers defined them."""
    step_s, horizon, season = M4[name]
    train, test = (rows(folder / f"{name}-{part}.csv")[::every] for part in ("train", "test"))
    began = time.process_time()
    found = forecast([series_of(one, step_s) for one in train], horizon, LEVEL)
    cpu_s = time.process_time() - began
    scores = [scored(*three, season) for three in zip(train, test, found, strict=True)]
    smape, msis, held = (np.array(each) for each in zip(*scores, strict=True))
    figures = f"{smape.mean():.2f} | {msis.mean():.2f} | {100 * held.mean():.1f} %"
    print(f"| M4 {name.lower()} | {len(train)} | {figures} | {cpu_s:.0f} s |")
    print("most used:", Counter(one.model for one in found).most_common(3))


def rows(file: Path) -> list[Numbers]:
    """The series of one of M4's files."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [np.array([float(cell) for cell in row[1:] if cell]) for row in list(csv.reader(lines))[1:]]


def scored(train: Numbers, test: Numbers, found: Forecast, season: int) -> tuple[float, float, float]:
    """SMAPE in %, MSIS (S. Makridakis and others, "The M4 Competition", 2020) and the share in the interval."""
    smape = 200 * np.mean(np.abs(found.mean - test) / (np.abs(found.mean) + np.abs(test)))
    outside = np.maximum(found.low - test, 0) + np.maximum(test - found.high, 0)
    scale = np.abs(train[season:] - train[:-season]).mean()
    msis = np.mean(found.high - found.low + 2 / (1 - LEVEL) * outside) / scale
    return float(smape), float(msis), float(np.mean(outside == 0))


def simulated(histories: int = 400) -> None:
    """Time to a threshold on histories whose truth is known: a year of days, the limit 15 to 75 days away."""
    random = np.random.default_rng(20261121)
    grown = [history(random, grows=True) for _ in range(histories)]
    flat = [history(random, grows=False) for _ in range(histories)]
    found = forecast([series_of(values, DAY_S) for values, _ in grown + flat], AHEAD_DAYS, LEVEL)
    held, wrong, dated, false = 0, [], 0, 0
    for (values, truth), one in zip(grown + flat, found, strict=True):
        days = len(values)
        if truth is None:
            limit = float(np.nanmax(values) + np.nanstd(values))
            false += when(series_of(values, DAY_S), one, limit, "above").date is not None
            continue
        lead = int(random.integers(15, 76))
        limit = float(truth[days + lead])
        true = days + int(np.flatnonzero(truth[days:] > limit - 1e-9)[0])
        answer = when(series_of(values, DAY_S), one, limit, "above")
        step = (START + timedelta(days=true)) if answer.earliest else None
        held += step is not None and answer.earliest <= step and (answer.latest is None or step <= answer.latest)
        if answer.date is not None:
            dated += 1
            wrong.append(abs((answer.date - START).days - true) / (true - days + 1))
    error = f"{100 * np.median(wrong):.1f} % of the lead"
    print(f"| grows | {histories} | in the interval {100 * held / histories:.1f} % | dated {dated} | {error} |")
    print(f"| stands still | {histories} | dated {false} |")


def history(random: np.random.Generator, *, grows: bool) -> tuple[Numbers, Numbers | None]:
    """A history with noise, a weekly season, sometimes a step, an outlier and gaps; and its truth, years ahead."""
    days = int(random.integers(120, 400))
    at = np.arange(days + AHEAD_DAYS)
    level = random.uniform(50, 500)
    slope = level / 365 * random.uniform(0.3, 2.0) if grows else 0.0
    season = level * random.uniform(0, 0.05) * np.sin(2 * np.pi * at / 7)
    truth = level + slope * at + season
    if random.random() < 0.5:
        truth += level * random.uniform(-0.3, 0.3) * (at >= random.integers(days // 4, days * 3 // 4))
    values = (truth + level * random.uniform(0.002, 0.05) * random.standard_normal(len(at)))[:days]
    if random.random() < 0.5:
        values[random.integers(0, days)] *= 3
    if random.random() < 0.5:
        gap = int(random.integers(1, 20))
        begin = int(random.integers(10, days - 30))
        values[begin : begin + gap] = np.nan
    return values, truth if grows else None


def speed(series: int) -> None:
    """Series per second on two cores, a year of hours each, 90 days ahead; AutoETS on days of a sample beside it."""
    parts = [range(begin, min(begin + 500, series)) for begin in range(0, series, 500)]
    began = time.perf_counter()
    with ProcessPoolExecutor(2) as pool:
        said = sum(pool.map(a_part, parts))
    took_s = time.perf_counter() - began
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = cpu.ru_utime + cpu.ru_stime
    print(f"| doctord | {said} series | {took_s:.0f} s | {said / took_s:.1f} per s | {said / cpu_s:.1f} per s of CPU |")
    sample = [a_year(seed).reshape(-1, 24).mean(axis=1) for seed in range(20)]
    began_cpu = time.process_time()
    for days in sample:
        AutoETS(season_length=7).forecast(y=days, h=AHEAD_DAYS, level=[95])
    cpu_s = time.process_time() - began_cpu
    print(f"| AutoETS, days, no backtest | {len(sample)} series | | | {len(sample) / cpu_s:.1f} per s of CPU |")


def a_part(seeds: range) -> int:
    """Forecast a year of hours of each; how many were told."""
    found = forecast([series_of(a_year(seed), HOUR_S) for seed in seeds], AHEAD_DAYS * 24)
    return sum(not one.why for one in found)


def a_year(seed: int) -> Numbers:
    """A year of hours that grow, with days and weeks in them."""
    random, hours = np.random.default_rng(seed), np.arange(364 * 24)
    day, week = np.sin(2 * np.pi * hours / 24), np.sin(2 * np.pi * hours / 168)
    noise = random.standard_normal(len(hours))
    return np.asarray(100 + random.uniform(0, 0.01) * hours + 20 * day + 10 * week + 5 * noise)


if __name__ == "__main__":
    main()
