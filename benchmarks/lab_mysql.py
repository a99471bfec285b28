"""How often the check-up names the injected fault first on MariaDB and MySQL: runs their faults and writes the table.

    .venv/bin/python benchmarks/lab_mysql.py --minutes 30
    .venv/bin/python benchmarks/lab_mysql.py --again

Targets are MariaDB with performance_schema off (as it comes) and on, and MySQL, where $DOCTORD_MYSQL names its unpacked
folder. As in lab_accuracy.py each run is a committed row, its recording stays in OUT, and what is there by the code of
today is not run again. The kinds of database that do not judge these servers are left out of what "the code" is.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from lab_page import is_case, progress, stood_still
from lab_runs import (
    NOT_JUDGING,
    Run,
    counted,
    judged_by,
    judged_today,
    keep,
    keep_judged_again,
    kept,
    parser,
    told_by_lab,
)

from doctord.lab.errors import LabError
from doctord.lab.fault import Engine, Fault, all_faults
from doctord.lab.load.workload import LOADS
from doctord.lab.mysql.binaries import find_program

ELSEWHERE: Final = (*(name for name in NOT_JUDGING if name != "collect/mysql"), "collect/postgres", "collect/pgbouncer")
FAULTS: Final = all_faults("mysql")


class Target(NamedTuple):
    """A kind of server, and what names it in the table."""

    name: str
    engine: Engine
    options: tuple[str, ...] = ()


TARGETS: Final = (
    Target("MariaDB", "mariadb", ("--no-performance-schema",)),
    Target("MariaDB, performance_schema", "mariadb", ("--performance-schema",)),
    Target("MySQL", "mysql"),
)


class Wanted(NamedTuple):
    """A run that is to be made."""

    fault: str
    target: str
    intensity: str
    load: str
    seed: int


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    if arguments.again:
        keep_judged_again(arguments.rows, lambda run: _again(run, arguments.out), arguments.out, ELSEWHERE)
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        with suppress(KeyboardInterrupt):
            _run_all(arguments)
    arguments.table.write_text(page(kept(arguments.rows), arguments.window))
    print(f"wrote {arguments.table}")


def _run_all(arguments: argparse.Namespace) -> None:
    until = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    there = {_wanted(run) for run in counted(kept(arguments.rows), ELSEWHERE) if not (run["error"] or stood_still(run))}
    names = list(FAULTS) if arguments.faults == "all" else arguments.faults.split(",")
    for one in wanted(names, arguments.runs):
        if one in there or not _is_here(one.target):
            continue
        if time.monotonic() > until:
            return
        done = run_once(one, arguments.window, arguments.out)
        keep(done, arguments.rows)
        print(f"{one.target}: {progress(done)}", flush=True)


def wanted(names: list[str], runs: int) -> Iterator[Wanted]:
    """Each fault on each target, in its intensities and loads in turn: a run of each before the next of any."""
    for number in range(runs):
        for name, target in itertools.product(names, TARGETS):
            own = list(itertools.product(LOADS, sorted(FAULTS[name].intensities, key=lambda one: one != "moderate")))
            load, intensity = own[number % len(own)]
            yield Wanted(name, target.name, intensity, load, 1 + number // len(own))


def run_once(one: Wanted, window: str, folder: Path) -> Run:
    """One run of the lab with its diagnosis, or with the error that it ended in; its recording goes into the folder."""
    [target] = [target for target in TARGETS if target.name == one.target]
    doctord = Path(sys.executable).with_name("doctord")
    began, moment = time.monotonic(), datetime.now(UTC)
    lake = folder / f"{one.fault}-{target.engine}-{moment:%Y%m%dT%H%M%S}"
    command: list[str | Path] = [doctord, "lab", "run", one.fault, "--engine", target.engine, *target.options]
    command += ["--diagnose", "--json", "--for", window, "--load", one.load, "--intensity", one.intensity]
    command += ["--seed", str(one.seed), "--lake", lake, *_place(target.engine)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(ended.stdout) if ended.returncode in {0, 1} and ended.stdout else None
    return {
        **one._asdict(),
        "server": find_program(target.engine, _folder(target.engine)).version,
        "at": f"{moment:%F %T}",
        **judged_by(ELSEWHERE),
        **(told_by_lab(told) if told else {}),
        "lake": lake.name if lake.exists() else None,
        "took_s": round(time.monotonic() - began, 1),
        "error": None if told else f"status {ended.returncode}: {ended.stderr.strip()[-500:]}",
    }


def page(runs: list[Run], window: str) -> str:
    """The page of the reference: what was run where, and a table of faults by targets."""
    today = counted(runs, ELSEWHERE)
    cases = [run for run in today if not run.get("skipped") and is_case(run)]
    right = sum(bool(run.get("correct")) for run in cases)
    names = {run["fault"] for run in cases}
    servers = {run["target"]: run["server"] for run in runs}
    return f"""\
# How often the check-up names the injected fault on MariaDB and MySQL

Made by `benchmarks/lab_mysql.py` on {datetime.now(UTC):%Y-%m-%d} of [its runs](lab-accuracy-mysql-runs.jsonl); do not
edit. Each run is `doctord lab run FAULT --engine ENGINE --diagnose --for {window}` of [the lab](../how-to/lab.md).

Servers: {", ".join(f"{name} ({version})" for name, version in servers.items())}; Python {sys.version.split()[0]},
{os.cpu_count()} CPUs. {len(today)} of {len(runs)} runs were judged by the code of today and count.

**Right in {right} of {len(cases)} runs, of {len(names)} of {len(FAULTS)} faults and healthy runs.**

A cell has the runs that were right, of how many; then what was said first instead. Runs in which the injection took no
effect from the service, or the machine's own disk stood still, are no case.

{table(today)}
"""


def table(runs: list[Run]) -> str:
    """One row for each fault, one column for each target."""
    lines = [f"| fault | cause | {' | '.join(target.name for target in TARGETS)} |", "|---" * (2 + len(TARGETS)) + "|"]
    return "\n".join([*lines, *(_row(fault, runs) for fault in FAULTS.values())])


def _row(fault: Fault, runs: list[Run]) -> str:
    cells = [_cell([run for run in runs if (run["fault"], run["target"]) == (fault.name, one.name)]) for one in TARGETS]
    return f"| `{fault.name}` | {f'`{fault.cause}`' if fault.cause else 'none'} | {' | '.join(cells)} |"


def _cell(runs: list[Run]) -> str:
    if not runs:
        return "not run"
    cases = [run for run in runs if is_case(run) and not run.get("skipped")]
    wrong = [_instead(run) for run in cases if not run.get("correct")]
    lost = len(runs) - len(cases)
    right = f"{len(cases) - len(wrong)} of {len(cases)}"
    return ", ".join([right, *dict.fromkeys(wrong), *([f"{lost} no case"] if lost else [])])


def _instead(run: Run) -> str:
    return "failed" if run["error"] else f"`{run['first_cause']}`" if run["first_cause"] else "nothing said"


def _again(run: Run, folder: Path) -> Run:
    return judged_today(folder / run["lake"], FAULTS[run["fault"]].cause)


def _wanted(run: Run) -> Wanted:
    return Wanted(*(run[name] for name in Wanted._fields))


def _folder(engine: Engine) -> Path | None:
    named = os.environ.get("DOCTORD_MYSQL")
    return Path(named) / "bin" if named and engine == "mysql" else None


def _place(engine: Engine) -> list[str | Path]:
    folder = _folder(engine)
    return ["--bin-dir", folder] if folder else []


def _is_here(name: str) -> bool:
    [target] = [target for target in TARGETS if target.name == name]
    try:
        find_program(target.engine, _folder(target.engine))
    except LabError:
        return False
    return True


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "lab-accuracy-mysql")
    options.add_argument("--runs", type=int, default=1, help="runs per fault and target (default 1)")
    options.add_argument("--faults", default="all", help="names separated by commas (default: all)")
    options.add_argument("--minutes", type=float, default=0.0, help="begin no run after so long (default: no end)")
    return options.parse_args()


if __name__ == "__main__":
    main()
