"""How often the check-up names both of two faults in one server: runs pairs of the lab's faults and writes the table.

    .venv/bin/python benchmarks/lab_pairs.py --runs 2 --for 20s

Each run measures the light load alone, with the first fault, with both while the check-up looks, and with the second,
so that each one's share of the loss is known. Each is a row of docs/reference/lab-pairs-runs.jsonl, of which the table
is made; its recording is kept in OUT. About 50 seconds per run. `--again` judges all recordings by the code of today.
"""

import argparse
import time
from dataclasses import asdict
from datetime import UTC, datetime

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
from two_faults import run_pair

from doctord.app.lab import diagnosed
from doctord.lab.dose import INTENSITIES, Dose
from doctord.lab.fault import all_faults
from doctord.units import parse_duration

# Faults that do not hide each other: another resource, or another part of the service, each.
PAIRS = (
    ("cpu_hog", "row_lock_convoy"),
    ("missing_index", "checkpoint_storm"),
    ("abandoned_slot", "connection_churn"),
    ("work_mem_spill", "idle_in_transaction"),
    ("failing_archiver", "cartesian_joins"),
    ("missing_index", "synchronous_standby_missing"),
    ("old_snapshot_hot_row", "stale_statistics"),
    ("jit_everything", "deadlock_loop"),
    ("foreign_key_without_index", "serialization_failures"),
    ("trigger_scans_table", "connections_exhausted"),
    ("partitions_not_pruned", "ddl_queue"),
    ("unused_indexes", "clients_do_not_take_results"),
)


def main() -> None:
    """Run, or judge again, then write the table."""
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    pairs = [tuple(pair.split("+")) for pair in arguments.pairs.split(",")] if arguments.pairs else PAIRS
    for seed in () if arguments.again else range(1, arguments.runs + 1):
        for first, second in pairs:
            done = run_once(first, second, seed, arguments)
            keep(done, arguments.rows)
            print(progress(done), flush=True)
    if arguments.again:
        keep_judged_again(
            arguments.rows,
            lambda run: {"named": root_causes(judged_again(arguments.out / run["lake"]))},
            arguments.out,
        )
    arguments.table.write_text(page(kept(arguments.rows), arguments.window))
    print(f"wrote {arguments.table}")


def run_once(first: str, second: str, seed: int, arguments: argparse.Namespace) -> Run:
    """One run of a pair with its diagnosis; its recording goes into the folder."""
    moment, began = datetime.now(UTC), time.monotonic()
    lake = arguments.out / f"{first}+{second}-{moment:%Y%m%dT%H%M%S}"
    known, seconds = all_faults(), parse_duration(arguments.window)
    outcome = run_pair(
        known[first],
        known[second],
        lambda server: diagnosed(server, seconds, lake),
        dose=Dose(seed, arguments.intensity),
    )
    return {
        "faults": [first, second],
        "intensity": arguments.intensity,
        "seed": seed,
        "at": f"{moment:%F %T}",
        **judged_by(),
        "lake": lake.name if lake.exists() else None,
        "took_s": round(time.monotonic() - began, 1),
        "skipped": outcome.skipped,
        "is_case": outcome.is_case,
        "before": asdict(outcome.before) if outcome.before else None,
        "alone": [asdict(one.pace) if one.pace else None for one in outcome.alone],
        "both": asdict(outcome.both) if outcome.both else None,
        "named": root_causes(outcome.seen) if outcome.seen else None,
    }


def expected(run: Run) -> set[str]:
    """The causes of the two faults."""
    return {cause for name in run["faults"] if (cause := all_faults()[name].cause)}


def progress(run: Run) -> str:
    """A line about a run, for who waits for it."""
    if run["named"] is None:
        return f"{' + '.join(run['faults'])}: skipped: {run['skipped']}"
    found = expected(run) & {*run["named"]}
    verdict = (
        "exact" if expected(run) == {*run["named"]} else "both" if len(found) == len(expected(run)) else "not both"
    )
    case = "" if run["is_case"] else ", one of them without effect"
    return f"{' + '.join(run['faults'])}: {verdict}{case} ({', '.join(run['named']) or 'nothing'})"


def page(runs: list[Run], window: str) -> str:
    """The page of the reference."""
    today = counted(runs)
    older = [run for run in runs if run not in today]
    return f"""\
# Two faults at once

Made by `benchmarks/lab_pairs.py` on {datetime.now(UTC):%Y-%m-%d} of [its runs](lab-pairs-runs.jsonl); do not edit. Two
faults of [the lab](../how-to/lab.md) in one server: the light load of 100 transactions per second is measured alone,
with the first fault, with both while `doctord checkup` looks for {window}, and with the second, so that it is known
what each takes alone. To make it again, as root, on a machine that does nothing else meanwhile:

```
.venv/bin/python benchmarks/lab_pairs.py --runs 2 --for {window}
```

{machine()}

{left_out(runs)}

*Both* counts the runs in which both causes were among the findings above a note that nothing else explains; *exact*
those in which there was no other. Runs in which one of the two took no effect are no cases.

{table(today)}
{f"{chr(10)}## Judged by older code{chr(10)}{chr(10)}{table(older)}{chr(10)}" if older else ""}"""


def table(runs: list[Run]) -> str:
    """A row for each pair that was run, below how often both were named."""
    cases = [run for run in runs if run["named"] is not None and run["is_case"]]
    both = sum(expected(run) <= {*run["named"]} for run in cases)
    exact = sum(expected(run) == {*run["named"]} for run in cases)
    lines = [
        f"**Both in {both} of {len(cases)} runs, the exact set in {exact}.** Wanted are 85 % and 60 %.",
        "",
        "| first | second | runs | both | exact | named instead or besides | light load: before, first, both, second |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join(lines + [_row(pair, runs) for pair in dict.fromkeys(tuple(run["faults"]) for run in runs)])


def _row(pair: tuple[str, ...], runs: list[Run]) -> str:
    mine = [run for run in runs if tuple(run["faults"]) == pair]
    cases = [run for run in mine if run["named"] is not None and run["is_case"]]
    both = sum(expected(run) <= {*run["named"]} for run in cases)
    exact = sum(expected(run) == {*run["named"]} for run in cases)
    others = sorted({cause for run in cases for cause in run["named"]} - expected(mine[0]))
    last = mine[-1]
    paces = [last["before"], *last["alone"][:1], last["both"], *last["alone"][1:]]
    cells = [f"`{pair[0]}`", f"`{pair[1]}`", str(len(cases)), str(both), str(exact)]
    cells += [", ".join(f"`{cause}`" for cause in others), ", ".join(map(light_load, paces))]
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "lab-pairs")
    options.add_argument("--runs", type=int, default=2, help="runs per pair (default 2)")
    options.add_argument("--pairs", default="", help="FIRST+SECOND, separated by commas (default: those of the page)")
    options.add_argument("--intensity", default="moderate", choices=INTENSITIES)
    return options.parse_args()


if __name__ == "__main__":
    main()
