"""What the check-up says of published, labelled PostgreSQL anomalies, replayed in the lab: runs them, writes the table.

    .venv/bin/python benchmarks/lab_published.py --parameters CORPUS/dbot/parameters.csv --out /var/tmp/lab-published

Three cases of each label, spread over those that were published (the first, the middle one, the last), scaled to this
machine (src/doctord/lab/published.py). About 40 seconds per run. Each run is a line of JSON in OUT/published.jsonl with
its recording beside; `--again` judges all recordings by the code of today.
"""

import argparse
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab_accuracy import current_commit
from lab_page import machine

from doctord.app.lab import first_cause, judged_again, root_causes, try_fault
from doctord.lab.dose import Dose
from doctord.lab.published import RIGHT, Case, cases, replay
from doctord.report.lab import document
from doctord.units import parse_duration

TABLE = Path(__file__).parents[1] / "docs/reference/lab-published.md"
Run = dict[str, Any]


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = arguments.out / "published.jsonl"
    if not arguments.again:
        for case in chosen(cases(arguments.parameters)):
            done = run_once(case, arguments)
            with lines.open("a") as file:
                file.write(json.dumps(done) + "\n")
            print(progress(done), flush=True)
    runs = [json.loads(line) for line in lines.read_text().splitlines()]
    if arguments.again:
        runs = [run | _judged(arguments.out / run["lake"]) for run in runs]
        print("\n".join(map(progress, runs)))
    arguments.table.write_text(page(runs, arguments.window))
    print(f"wrote {arguments.table}")


def chosen(known: list[Case]) -> Iterator[Case]:
    """Three cases of each label."""
    for label in dict.fromkeys(case.label for case in known):
        own = [case for case in known if case.label == label]
        yield from (own[0], own[len(own) // 2], own[-1])


def run_once(case: Case, arguments: argparse.Namespace) -> Run:
    """One replay with its diagnosis; its recording goes into the folder."""
    moment = datetime.now(UTC)
    lake = arguments.out / f"{case.number}-{moment:%Y%m%dT%H%M%S}"
    tried = try_fault(replay(case), parse_duration(arguments.window), dose=Dose(case.number), lake=lake)
    told = document(tried)
    return {
        "case": case.number,
        "label": case.label,
        "anomaly": case.anomaly,
        "clients": case.clients,
        "rows": case.table_rows,
        "at": f"{moment:%F %T}",
        "commit": current_commit(),
        "lake": lake.name,
        "throughput": told["throughput"],
        "effect": told["effect"],
    } | _judged(lake)


def _judged(lake: Path) -> Run:
    diagnosis = judged_again(lake)
    return {"first": first_cause(diagnosis), "named": root_causes(diagnosis)}


def progress(run: Run) -> str:
    """A line about a run, for who waits for it."""
    verdict = "right" if run["first"] in RIGHT[run["anomaly"]] else "WRONG"
    return f"{run['case']} {run['label']}: {verdict} ({', '.join(run['named']) or 'nothing'})"


def page(runs: list[Run], window: str) -> str:
    """The page of the reference."""
    right = sum(run["first"] in RIGHT[run["anomaly"]] for run in runs)
    rows = "\n".join(map(_row, runs))
    return f"""\
# Published anomalies, replayed

Made by `benchmarks/lab_published.py` on {datetime.now(UTC):%Y-%m-%d}; do not edit. X. Zhou et al. published 270
labelled anomalies of PostgreSQL with the parameters of their generator ("D-Bot: Database Diagnosis System using Large
Language Models", VLDB 2024). Three cases of each label are replayed by our own code, beside the lab's light load of 100
transactions per second, on a quarter of the threads and a twentieth of the rows of large tables. Each run is a
`doctord checkup` of {window}. Which causes are right was written down before the first run.

{machine()}

**The first finding is right in {right} of {len(runs)} runs.**

| label | case | clients | rows | first | others | right is | light load |
|---|---|---|---|---|---|---|---|
{rows}
"""


def _row(run: Run) -> str:
    paces = ", then ".join(_pace(run["throughput"][when]) for when in ("before", "during"))
    first = f"`{run['first']}`" if run["first"] else "nothing"
    others = ", ".join(f"`{cause}`" for cause in run["named"][1:])
    right = ", ".join(f"`{cause}`" for cause in RIGHT[run["anomaly"]])
    cells = [run["label"], str(run["case"]), str(run["clients"]), f"{run['rows']:,}", first, others, right, paces]
    return f"| {' | '.join(cells)} |"


def _pace(pace: dict[str, float | None] | None) -> str:
    if pace is None:
        return "not reported"
    latency = "" if pace["latency_ms"] is None else f" at {pace['latency_ms']:.1f} ms"
    return f"{pace['tps']:.0f}/s{latency}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=Path, help="CSV of the published parameters")
    parser.add_argument("--for", dest="window", default="20s", help="length of a check-up (default 20s)")
    parser.add_argument("--out", type=Path, required=True, help="folder for published.jsonl")
    parser.add_argument("--again", action="store_true", help="judge the recordings of the runs in OUT; no new ones")
    parser.add_argument("--table", type=Path, default=TABLE, help="page to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
