"""What the check-up says of published, labelled PostgreSQL anomalies, replayed in the lab: runs them, writes the table.

    .venv/bin/python benchmarks/lab_published.py --parameters CORPUS/dbot/parameters.csv --out /var/tmp/lab-published

Three cases of each label, spread over those that were published (the first, the middle one, the last), scaled to this
machine (published_anomalies.py). About 40 seconds per run. Each run is a line of JSON in OUT/published.jsonl with
its recording beside; `--again` judges all recordings by the code of today.
"""

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from lab_runs import Run, current_commit, judged_again, keep, kept, light_load, machine, parser, root_causes
from published_anomalies import RIGHT, Case, cases, replay

from doctord.app.lab import first_cause, try_fault
from doctord.lab.dose import Dose
from doctord.report.lab import document
from doctord.units import parse_duration


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = arguments.out / "published.jsonl"
    if not arguments.again:
        for case in chosen(cases(arguments.parameters)):
            done = run_once(case, arguments)
            keep(done, lines)
            print(progress(done), flush=True)
    runs = kept(lines)
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
`doctord checkup` of {window}. Which causes are right was written down before the first run. To make it again:

```
.venv/bin/python benchmarks/lab_published.py --parameters CORPUS/dbot/parameters.csv \\
    --for {window} --out /var/tmp/lab-published
```

{machine()}

**The first finding is right in {right} of {len(runs)} runs.**

| label | case | clients | rows | first | others | right is | light load |
|---|---|---|---|---|---|---|---|
{rows}
"""


def _row(run: Run) -> str:
    paces = ", then ".join(light_load(run["throughput"][when]) for when in ("before", "during"))
    first = f"`{run['first']}`" if run["first"] else "nothing"
    others = ", ".join(f"`{cause}`" for cause in run["named"][1:])
    right = ", ".join(f"`{cause}`" for cause in RIGHT[run["anomaly"]])
    cells = [run["label"], str(run["case"]), str(run["clients"]), f"{run['rows']:,}", first, others, right, paces]
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "published.jsonl", "lab-published.md")
    options.add_argument("--parameters", type=Path, help="CSV of the published parameters")
    return options.parse_args()


if __name__ == "__main__":
    main()
