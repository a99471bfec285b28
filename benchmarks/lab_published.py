"""What the check-up says of published, labelled PostgreSQL anomalies, replayed in the lab: runs them, writes the table.

    .venv/bin/python benchmarks/lab_published.py

Three cases of each set of labels, scaled to this machine (published_anomalies.py). About 40 seconds per run. Each run
is a row of docs/reference/lab-published-runs.jsonl, of which the table is made; its recording is kept in OUT. `--again`
judges all recordings by the code of today.
"""

import argparse
from datetime import UTC, datetime
from pathlib import Path

from lab_runs import (
    Run,
    counted,
    judged_again,
    judged_by,
    keep,
    keep_judged_again,
    kept,
    left_out,
    light_load,
    machine,
    parser,
    root_causes,
)
from published_anomalies import RIGHT, Case, cases, replay

from doctord.app.lab import first_cause, try_fault
from doctord.lab.dose import Dose
from doctord.report.lab import document
from doctord.units import parse_duration


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.again:
        keep_judged_again(arguments.rows, lambda run: _judged(arguments.out / run["lake"]), arguments.out)
    else:
        for case in cases():
            if not arguments.cases or str(case.number) in arguments.cases.split(","):
                done = run_once(case, arguments)
                keep(done, arguments.rows)
                print(progress(done), flush=True)
    arguments.table.write_text(page(kept(arguments.rows), arguments.window))
    print(f"wrote {arguments.table}")


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
        **judged_by(),
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
    today = counted(runs)
    older = [run for run in runs if run not in today]
    return f"""\
# Published anomalies, replayed

Made by `benchmarks/lab_published.py` on {datetime.now(UTC):%Y-%m-%d} of [its runs](lab-published-runs.jsonl); do not
edit. X. Zhou et al. published 539 labelled anomalies of PostgreSQL with the programs that made them ("D-Bot: Database
Diagnosis System using Large Language Models", VLDB 2024), of eight sets of labels. Three cases of each are replayed by
our own code, beside the lab's light load of 100 transactions per second, on a quarter of the threads and a twentieth of
the rows of large tables. Each run is a `doctord checkup` of {window}. Which causes are right was written down before
the first run. To make it again:

```
.venv/bin/python benchmarks/lab_published.py --for {window}
```

{machine()}

{left_out(runs)}

{table(today)}
{f"{chr(10)}## Judged by older code{chr(10)}{chr(10)}{table(older)}{chr(10)}" if older else ""}"""


def table(runs: list[Run]) -> str:
    """A row for each run, below how often the first finding was right."""
    right = sum(run["first"] in RIGHT[run["anomaly"]] for run in runs)
    lines = [
        f"**The first finding is right in {right} of {len(runs)} runs.**",
        "",
        "| label | case | clients | rows | first | others | right is | light load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + list(map(_row, runs)))


def _row(run: Run) -> str:
    paces = ", then ".join(light_load(run["throughput"][when]) for when in ("before", "during"))
    first = f"`{run['first']}`" if run["first"] else "nothing"
    others = ", ".join(f"`{cause}`" for cause in run["named"][1:])
    right = ", ".join(f"`{cause}`" for cause in RIGHT[run["anomaly"]])
    cells = [run["label"], str(run["case"]), str(run["clients"]), f"{run['rows']:,}", first, others, right, paces]
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "lab-published")
    options.add_argument("--cases", default="", help="numbers separated by commas (default: all)")
    return options.parse_args()


if __name__ == "__main__":
    main()
