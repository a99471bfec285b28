"""How often the check-up names the injected fault first: runs every fault of the lab and writes the table.

    .venv/bin/python benchmarks/lab_accuracy.py --runs 10 --faults all --for 20s --out /var/tmp/lab-accuracy

Runs follow each other, all faults in turn, so that what changes on the machine meanwhile meets all of them. Each run's
JSON document is appended to OUT/runs.jsonl, and the table is made of all lines there: a second call with the same
folder adds to it, with another `--intensity` or `--load` say. About 30 seconds per run. With `--resume` a run of a
fault, intensity, load and seed that is there already is left out, where src/ and native/ have not changed since.

What each check-up measured is kept in a lake beside, OUT/FAULT-TIME, so that `--again` judges all runs by the code of
today, in seconds, and writes the table of that:

    .venv/bin/python benchmarks/lab_accuracy.py --again --out /var/tmp/lab-accuracy
"""

import argparse
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from lab_page import combination, page, progress
from lab_runs import Run, current_commit, git, judged_again, keep, kept, parser

from doctord.app.lab import first_cause
from doctord.lab.dose import INTENSITIES, Intensity
from doctord.lab.fault import all_faults
from doctord.report.diagnosis.document import document

# What a run depends on.
JUDGED = ("src", "native")


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = arguments.out / "runs.jsonl"
    if not arguments.again:
        wanted = list(_wanted(_names(arguments.faults), arguments))
        if arguments.resume and lines.exists():
            wanted = missing(wanted, kept(lines), arguments.load)
        for number, (name, intensity, seed) in enumerate(wanted):
            done = run_once(name, intensity, arguments.window, arguments.load, seed=seed, folder=arguments.out)
            keep(done, lines)
            print(f"{number + 1}/{len(wanted)} {progress(done)}", flush=True)
    runs = kept(lines)
    if arguments.again:
        runs = [
            again(run, arguments.out) for run in runs if run.get("lake") and run["fault"] in _names(arguments.faults)
        ]
        for run in runs:
            print(progress(run))
    arguments.table.write_text(page(runs, arguments.window))
    print(f"wrote {arguments.table}")


def _names(faults: str) -> list[str]:
    return list(all_faults()) if faults == "all" else faults.split(",")


def _wanted(names: list[str], arguments: argparse.Namespace) -> Iterator[tuple[str, Intensity, int]]:
    """Fault, intensity and seed of each run: all faults in turn, each in those intensities that it has."""
    asked = INTENSITIES if arguments.intensity == "all" else (arguments.intensity,)
    for number, name, intensity in itertools.product(range(arguments.runs), names, asked):
        if intensity in all_faults()[name].intensities:
            yield name, intensity, number + 1


def missing(
    wanted: Iterable[tuple[str, Intensity, int]], runs: list[Run], load: str
) -> list[tuple[str, Intensity, int]]:
    """Those of which there is no run yet that did not fail, and that is as good as one of today."""
    there = {(*combination(run), run["seed"]) for run in runs if not run["error"] and _is_of_today(run["commit"])}
    return [(name, intensity, seed) for name, intensity, seed in wanted if (name, intensity, load, seed) not in there]


def run_once(name: str, intensity: str, window: str, load: str, *, seed: int, folder: Path) -> Run:
    """One run of the lab with its diagnosis, or with the error that it ended in; its recording goes into the folder."""
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", name, "--diagnose", "--json"]
    began, moment = time.monotonic(), datetime.now(UTC)
    lake = folder / f"{name}-{moment:%Y%m%dT%H%M%S}"
    command += ["--for", window, "--load", load, "--intensity", intensity, "--seed", str(seed), "--lake", lake]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(ended.stdout) if ended.returncode in {0, 1} and ended.stdout else {"fault": name}
    return document | {
        "intensity": intensity,
        "load": load,
        "seed": seed,
        "at": f"{moment:%F %T}",
        "commit": current_commit(),
        "lake": lake.name if lake.exists() else None,
        "took_s": round(time.monotonic() - began, 1),
        "error": None if "correct" in document else f"status {ended.returncode}: {ended.stderr.strip()[-2000:]}",
    }


def again(run: Run, folder: Path) -> Run:
    """The same run, judged by its recording with the causes of today."""
    diagnosis = judged_again(folder / run["lake"])
    first = first_cause(diagnosis)
    return run | {
        "first_cause": first,
        "correct": first == all_faults()[run["fault"]].cause,
        "diagnosis": document(diagnosis),
    }


@cache
def _is_of_today(commit: str) -> bool:
    """Whether what a run depends on is as it was at a commit; not where that is not known."""
    return git("diff", "--quiet", commit, "--", *JUDGED).returncode == 0


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "runs.jsonl", "lab-accuracy.md")
    options.add_argument("--runs", type=int, default=10, help="runs per fault and intensity (default 10)")
    options.add_argument("--faults", default="all", help="names separated by commas (default: all)")
    options.add_argument("--load", default="tpcb", choices=("tpcb", "orders"), help="the light load (default tpcb)")
    options.add_argument(
        "--intensity", default="moderate", choices=(*INTENSITIES, "all"), help="how much of it (default moderate)"
    )
    options.add_argument("--resume", action="store_true", help="leave out runs that are there, by the code of today")
    return options.parse_args()


if __name__ == "__main__":
    main()
