"""How often the check-up names the injected fault first: runs faults of the lab and writes the table.

    .venv/bin/python benchmarks/lab_accuracy.py --square --minutes 30

Each run is a row of docs/reference/lab-accuracy-runs.jsonl, and the table is made of all rows that were judged by the
code of today; commit both. About 30 seconds per run. `--square` goes through each fault's three intensities and two
loads, one run of each fault before the next one of any, so that what changes on the machine meanwhile meets all of
them. It goes on where the rows end, as `--resume` does without it: a run that is there by the code of today is left
out. Ctrl-C ends it at any time, and the table is written all the same.

What each check-up measured is kept in a lake, OUT/FAULT-TIME, so that `--again` judges all runs that are there by the
code of today, in seconds; a row that was judged again counts again.
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from lab_page import page, progress, stood_still
from lab_runs import Run, counted, judged_by, judged_today, keep, keep_judged_again, kept, parser, told_by_lab

from doctord.lab.binaries import find_binaries, version_of
from doctord.lab.dose import INTENSITIES
from doctord.lab.fault import all_faults
from doctord.lab.host.folder import parent_folder
from doctord.lab.load.workload import LOADS


class Wanted(NamedTuple):
    """A run that is to be made."""

    fault: str
    intensity: str
    load: str
    seed: int


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    if arguments.again:
        keep_judged_again(arguments.rows, lambda run: _again(run, arguments.out), arguments.out)
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        with suppress(KeyboardInterrupt):
            _run_all(_asked(arguments), arguments)
    arguments.table.write_text(page(kept(arguments.rows), arguments.window))
    print(f"wrote {arguments.table}")


def _run_all(wanted: list[Wanted], arguments: argparse.Namespace) -> None:
    until = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    for number, one in enumerate(wanted):
        if time.monotonic() > until:
            return
        done = run_once(one, arguments.window, folder=arguments.out, bin_dir=arguments.bin_dir)
        keep(done, arguments.rows)
        print(f"{number + 1}/{len(wanted)} {progress(done)}", flush=True)


def _asked(arguments: argparse.Namespace) -> list[Wanted]:
    names = list(all_faults()) if arguments.faults == "all" else arguments.faults.split(",")
    asked = INTENSITIES if arguments.intensity == "all" else (arguments.intensity,)
    wanted = list(square(names) if arguments.square else in_turn(names, asked, arguments.load, arguments.runs))
    if not (arguments.square or arguments.resume):
        return wanted
    return missing(wanted, kept(arguments.rows), _server(arguments.bin_dir))


def in_turn(names: list[str], intensities: Iterable[str], load: str, runs: int) -> Iterator[Wanted]:
    """All faults in turn, each in those intensities that it has."""
    for number, name, intensity in itertools.product(range(runs), names, intensities):
        if intensity in all_faults()[name].intensities:
            yield Wanted(name, intensity, load, number + 1)


def square(names: list[str]) -> Iterator[Wanted]:
    """Each fault in each of its intensities and loads: in each round all faults, each with another of its own.

    A Latin square: the fault beside begins with the next one, so that no intensity or load is measured at one time.
    """
    for turn in range(len(INTENSITIES) * len(LOADS)):
        for number, name in enumerate(names):
            own = list(itertools.product(all_faults()[name].intensities, LOADS))
            if turn < len(own):
                intensity, load = own[(turn + number) % len(own)]
                yield Wanted(name, intensity, load, 1)


def missing(wanted: Iterable[Wanted], runs: list[Run], server: str) -> list[Wanted]:
    """Those of which there is no run yet on that version of the server that did not fail, by the code of today.

    One in which the disk stood still is not there.
    """
    there = {
        Wanted(run["fault"], run["intensity"], run["load"], run["seed"])
        for run in counted(runs)
        if not run["error"] and not stood_still(run) and run["server"] == server
    }
    return [one for one in wanted if one not in there]


def run_once(wanted: Wanted, window: str, *, folder: Path, bin_dir: Path | None = None) -> Run:
    """One run of the lab with its diagnosis, or with the error that it ended in; its recording goes into the folder."""
    doctord = Path(sys.executable).with_name("doctord")
    command: list[str | Path] = [doctord, "lab", "run", wanted.fault, "--diagnose", "--json"]
    began, moment = time.monotonic(), datetime.now(UTC)
    lake = folder / f"{wanted.fault}-{moment:%Y%m%dT%H%M%S}"
    command += ["--for", window, "--load", wanted.load, "--intensity", wanted.intensity, "--seed", str(wanted.seed)]
    command += ["--lake", lake, *(["--bin-dir", bin_dir] if bin_dir else [])]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(ended.stdout) if ended.returncode in {0, 1} and ended.stdout else None
    return {
        **wanted._asdict(),
        "window": window,
        "server": _server(bin_dir),
        "folder": str(parent_folder()),
        "at": f"{moment:%F %T}",
        **judged_by(),
        **(told_by_lab(told) if told else {}),
        "lake": lake.name if lake.exists() else None,
        "took_s": round(time.monotonic() - began, 1),
        "error": None if told else f"status {ended.returncode}: {ended.stderr.strip()[-500:]}",
    }


def _again(run: Run, folder: Path) -> Run:
    return judged_today(folder / run["lake"], all_faults()[run["fault"]].cause)


def _server(bin_dir: Path | None) -> str:
    return version_of(find_binaries(bin_dir))


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "lab-accuracy")
    options.add_argument("--runs", type=int, default=10, help="runs per fault and intensity (default 10)")
    options.add_argument("--faults", default="all", help="names separated by commas (default: all)")
    options.add_argument("--load", default="tpcb", choices=tuple(LOADS), help="the light load (default tpcb)")
    options.add_argument(
        "--intensity", default="moderate", choices=(*INTENSITIES, "all"), help="how much of it (default moderate)"
    )
    options.add_argument("--square", action="store_true", help="each intensity with each load once, what is missing")
    options.add_argument("--resume", action="store_true", help="leave out runs that are there, by the code of today")
    options.add_argument("--minutes", type=float, default=0.0, help="begin no run after so long (default: no end)")
    options.add_argument("--bin-dir", type=Path, help="folder of PostgreSQL's programs (default: the newest)")
    return options.parse_args()


if __name__ == "__main__":
    main()
