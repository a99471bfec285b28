"""How often the check-up names the injected fault first: runs every fault of the lab and writes the table.

    .venv/bin/python benchmarks/lab_accuracy.py --runs 10 --faults all --for 20s --out /var/tmp/lab-accuracy

Runs follow each other, all faults in turn, so that what changes on the machine meanwhile meets all of them. Each run's
JSON document is appended to OUT/runs.jsonl, and the table is made of all lines there: a second call with the same
folder adds to it. About 30 seconds per run.

What each check-up measured is kept in a lake beside, OUT/FAULT-TIME, so that `--again` judges all runs by the code of
today, in seconds, and writes the table of that:

    .venv/bin/python benchmarks/lab_accuracy.py --again --out /var/tmp/lab-accuracy
"""

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from doctord.app.lab import first_cause, judged_again
from doctord.lab.binaries import find_binaries, version_of
from doctord.lab.fault import all_faults
from doctord.report.diagnosis.document import document

Run = dict[str, Any]
# First, and no cause: that nobody explains a wait, and what to collect. It counts as honest, never as right.
UNEXPLAINED = "other_waits"
TABLE = Path(__file__).parents[1] / "docs/reference/lab-accuracy.md"


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = arguments.out / "runs.jsonl"
    if not arguments.again:
        for number, name in itertools.product(range(arguments.runs), _names(arguments.faults)):
            done = run_once(name, arguments.window, arguments.load, seed=number + 1, folder=arguments.out)
            with lines.open("a") as file:
                file.write(json.dumps(done) + "\n")
            print(f"{number + 1}/{arguments.runs} {_progress(done)}", flush=True)
    runs = [json.loads(line) for line in lines.read_text().splitlines()]
    if arguments.again:
        runs = [
            again(run, arguments.out) for run in runs if run.get("lake") and run["fault"] in _names(arguments.faults)
        ]
        for run in runs:
            print(_progress(run))
    arguments.table.write_text(page(runs, arguments.window))
    print(f"wrote {arguments.table}")


def _names(faults: str) -> list[str]:
    return list(all_faults()) if faults == "all" else faults.split(",")


def run_once(name: str, window: str, load: str, *, seed: int, folder: Path) -> Run:
    """One run of the lab with its diagnosis, or with the error that it ended in; its recording goes into the folder."""
    command = [Path(sys.executable).with_name("doctord"), "lab", "run", name, "--diagnose", "--json"]
    began, moment = time.monotonic(), datetime.now(UTC)
    lake = folder / f"{name}-{moment:%Y%m%dT%H%M%S}"
    command += ["--for", window, "--load", load, "--seed", str(seed), "--lake", lake]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    document = json.loads(ended.stdout) if ended.returncode in {0, 1} and ended.stdout else {"fault": name}
    return document | {
        "load": load,
        "seed": seed,
        "at": f"{moment:%F %T}",
        "commit": _commit(),
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


def _commit() -> str:
    told = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(told, capture_output=True, text=True, check=False).stdout.strip()


def page(runs: list[Run], window: str) -> str:
    """The page of the reference: what was run where, and the table."""
    return f"""\
# How often the check-up names the injected fault

Made by `benchmarks/lab_accuracy.py` on {datetime.now(UTC):%Y-%m-%d}; do not edit. Each run is
`doctord lab run FAULT --diagnose --json --for {window}` of [the lab](../how-to/lab.md), all faults in turn.
To make it again, as root, on a machine that does nothing else meanwhile:

```
.venv/bin/python benchmarks/lab_accuracy.py --runs 10 --faults all --for {window} --out /var/tmp/lab-accuracy
```

The target: the injected cause first in at least 9 of 10 runs of each fault, and no finding in 10 of 10 healthy runs.

{_machine()}

*Named first* counts the runs in which the first finding was the injected cause; for `none`, those without any finding.
*Honest* are those in which it was `other_waits`: a wait that no cause explains, with what to collect. *First instead*
and *also named* list the other causes, with the number of runs. *Light load* is what pgbench reported of the paced load
of 100 transactions per second, median over the runs, before the fault and during it.

{table(runs)}

{calibration(runs)}
"""


def table(runs: list[Run]) -> str:
    """One row per fault."""
    head = ("fault", "cause", "runs", "named first", "honest", "first instead", "also named", "light load")
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join(lines + [_row(name, [run for run in runs if run["fault"] == name]) for name in all_faults()])


def calibration(runs: list[Run]) -> str:
    """How sure the first findings were, beside how often they were right."""
    first = [(run["diagnosis"]["findings"][0]["confidence"], run["correct"]) for run in runs if _causes(run)]
    if not first:
        return "No run had a finding."
    stated, right = statistics.mean(confidence for confidence, _ in first), statistics.mean(good for _, good in first)
    said = f"Calibration: first findings stated a confidence of {stated:.0%} (mean of {len(first)})"
    return f"{said}; {right:.0%} were right."


def _row(name: str, all_runs: list[Run]) -> str:
    runs = [run for run in all_runs if not run.get("skipped")]
    expected = all_faults()[name].cause
    if not runs:
        return f"| `{name}` | {_code(expected)} | {'skipped' if all_runs else 'not run'} | | | | | |"
    correct = sum(bool(run.get("correct")) for run in runs)
    wrong = Counter(_named_first(run) for run in runs if not run.get("correct"))
    honest = wrong.pop(UNEXPLAINED, 0)
    others = Counter(cause for run in runs for cause in _causes(run)[1:] if cause != expected)
    numbers = [str(number) for number in (len(runs), correct, honest)]
    cells = [f"`{name}`", _code(expected), *numbers, _counted(wrong), _counted(others), _load(runs)]
    return f"| {' | '.join(cells)} |"


def _named_first(run: Run) -> str:
    return "failed" if run.get("error") else run["first_cause"] or "nothing"


def _causes(run: Run) -> list[str]:
    found = (run.get("diagnosis") or {}).get("findings", [])
    return list(dict.fromkeys(finding["cause"] for finding in found))


def _counted(causes: Counter[str]) -> str:
    return ", ".join(f"{_code(cause)} {count}" for cause, count in causes.most_common())


def _code(cause: str | None) -> str:
    return f"`{cause}`" if cause else "none"


def _load(runs: list[Run]) -> str:
    before, during = (_median_pace(run["throughput"][when] for run in runs if run.get("throughput")) for when in _WHEN)
    return f"{before} → {during}"


_WHEN = ("before", "during")


def _median_pace(paces: Iterable[dict[str, float | None] | None]) -> str:
    measured = [pace for pace in paces if pace]
    if not measured:
        return "not reported"
    tps = statistics.median(pace["tps"] or 0.0 for pace in measured)
    latencies = [pace["latency_ms"] for pace in measured if pace["latency_ms"] is not None]
    return f"{tps:.0f}/s" + (f" at {statistics.median(latencies):.1f} ms" if latencies else "")


def _machine() -> str:
    memory_gib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (
        f"Machine: {os.cpu_count()} CPUs, {memory_gib:.0f} GiB, Linux {platform.release()}. "
        f"PostgreSQL {version_of(find_binaries())}, Python {platform.python_version()}, doctord {version('doctord')}."
    )


def _progress(run: Run) -> str:
    verdict = "failed" if run["error"] else "skipped" if run.get("skipped") else _named_first(run)
    mark = "" if run.get("correct") or run.get("skipped") else "  <- wrong"
    return f"{run['fault']}: {verdict}{mark} ({run['took_s']} s; all: {', '.join(_causes(run)) or 'no finding'})"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10, help="runs per fault (default 10)")
    parser.add_argument("--faults", default="all", help="names separated by commas (default: all)")
    parser.add_argument("--for", dest="window", default="20s", help="length of a check-up (default 20s)")
    parser.add_argument("--load", default="tpcb", choices=("tpcb", "orders"), help="the light load (default tpcb)")
    parser.add_argument("--out", type=Path, required=True, help="folder for runs.jsonl")
    parser.add_argument("--again", action="store_true", help="judge the recordings of the runs in OUT; no new ones")
    parser.add_argument("--table", type=Path, default=TABLE, help="page to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
