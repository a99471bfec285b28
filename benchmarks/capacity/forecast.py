"""How good forecasts are; two tables of docs/reference/forecast-accuracy.md.

    .venv/bin/python benchmarks/capacity/forecast.py --m4 FOLDER

FOLDER holds Weekly-train.csv, Weekly-test.csv, Hourly-train.csv and Hourly-test.csv of the public repository
Mcompetitions/M4-methods (or DOCTORD_M4 names it). Simulated histories need no data: `--only simulated`.
"""

import argparse
import csv
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from forecasting import LEVEL, average, cpu_s, scored, series_of, write
from simulated import AHEAD_DAYS, GROWING, START, STILL, Simulated, simulated

from doctord.analyse.capacity.forecast import When, forecast, when
from doctord.analyse.capacity.series import DAY_S, HOUR_S, Numbers

M4 = {"weekly": (7 * DAY_S, 13, 1), "hourly": (HOUR_S, 48, 24)}  # step, steps ahead, season of MSIS
GOALS = {"weekly": ("8.0", "16.2"), "hourly": ("10", "9")}
SEED = 20261121


def main() -> None:
    """Run what is asked for, print it, and put it on the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--m4", type=Path, default=os.environ.get("DOCTORD_M4"), help="folder with M4's files")
    parser.add_argument("--only", choices=["published", "simulated"], help="one of the parts")
    parser.add_argument("--histories", type=int, default=100, help="simulated ones of each kind")
    given = parser.parse_args()
    if given.only != "simulated":
        if given.m4 is None:
            parser.error("name the folder that holds M4 with --m4")
        heading = "| data | series | sMAPE | goal | MSIS | goal | in the interval | goal | CPU |"
        rows = [published(Path(given.m4), name) for name in M4]
        write("published", [dated(), heading, "|---|---|---|---|---|---|---|---|---|", *rows])
    if given.only != "published":
        write("simulated", [dated(), *times_to_threshold(given.histories)])


def dated() -> str:
    """When it was measured."""
    return f"Measured on {datetime.now(UTC):%Y-%m-%d}.\n"


def published(folder: Path, name: str) -> str:
    """Errors and intervals on M4: means over the series, as the competition's organisers defined them."""
    step_s, horizon, season = M4[name]
    train, test = (numbers_in(folder / f"{name.title()}-{part}.csv") for part in ("train", "test"))
    began_s = cpu_s()
    found = forecast([series_of(one, step_s) for one in train], horizon, LEVEL)
    took_s = cpu_s() - began_s
    told = [(one.mean, one.low, one.high) for one in found]
    mean = average(scored(*three, season) for three in zip(train, test, told, strict=True))
    smape, msis = GOALS[name]
    return (
        f"| M4 {name}, {horizon} steps ahead | {len(train)} | {mean.smape:.2f} | {smape} | {mean.msis:.2f} | {msis} "
        f"| {100 * mean.held:.1f} % | 93 to 97 % | {took_s:.0f} s |"
    )


def numbers_in(file: Path) -> list[Numbers]:
    """The series of one of M4's files."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [np.array([float(cell) for cell in row[1:] if cell]) for row in list(csv.reader(lines))[1:]]


def times_to_threshold(histories: int) -> Iterator[str]:
    """When histories of each kind pass their limit, beside when they truly do."""
    random = np.random.default_rng(SEED)
    made = [simulated(random, kind) for kind in (*GROWING, *STILL) for _ in range(histories)]
    series = [series_of(one.values, DAY_S) for one in made]
    told = [
        (one, when(own, said, one.limit, "above"))
        for one, own, said in zip(made, series, forecast(series, AHEAD_DAYS, LEVEL), strict=True)
    ]
    yield "| histories | series | true date in the interval | given a date | median error of the date |"
    yield "|---|---|---|---|---|"
    yield from (judged(kind, [pair for pair in told if pair[0].kind == kind]) for kind in GROWING)
    yield judged("**all that grow** (goal: 90 %, 10 %)", [pair for pair in told if pair[0].kind in GROWING])
    yield from (judged(f"still: {kind}", [pair for pair in told if pair[0].kind == kind]) for kind in STILL)
    yield judged("**all that stand still** (goal: no date)", [pair for pair in told if pair[0].kind in STILL])


def judged(name: str, told: Sequence[tuple[Simulated, When]]) -> str:
    """A row of the table."""
    given = [(one, answer.date) for one, answer in told if answer.date]
    held = [_held(answer, _moment(one.true)) for one, answer in told if one.true is not None]
    errors = [
        abs((date - _moment(one.true)).total_seconds()) / DAY_S / (one.true - len(one.values) + 1)
        for one, date in given
        if one.true is not None
    ]
    share = f"{100 * np.mean(held):.1f} %" if held else ""
    error = f"{100 * np.median(errors):.1f} % of the lead time" if errors else ""
    return f"| {name} | {len(told)} | {share} | {len(given)} | {error} |"


def _moment(day: int) -> datetime:
    return START + timedelta(days=day)


def _held(answer: When, true: datetime) -> bool:
    """Whether the interval of a date holds the true one; without a later end it is open there."""
    return answer.earliest is not None and answer.earliest <= true <= (answer.latest or true)


if __name__ == "__main__":
    main()
