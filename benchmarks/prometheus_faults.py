"""What `doctord diagnose --prometheus` says of the lab's faults, by what exporters told a real Prometheus of them.

    .venv/bin/python benchmarks/prometheus_faults.py

Each fault is injected into a private PostgreSQL. Debian's node_exporter and postgres_exporter tell of it, and two
Prometheus servers ask them every second: one has what postgres_exporter tells of itself, the other has sessions
counted by wait event besides, as postgres_exporter does from 0.17 on (Debian 12 has 0.11). Each run is a row of
docs/reference/prometheus-accuracy-runs.jsonl, of which the table is made; what the servers held is kept in OUT, so that
`--again` judges all of it by the code of today, through Prometheus once more. About 40 seconds a run; needs root, and
`apt-get install prometheus prometheus-node-exporter prometheus-postgres-exporter`.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import psycopg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests/support/servers"))

from lab_runs import Run, judged_by, keep, kept, machine, parser, root_causes

from doctord.app.asked import Interval
from doctord.app.diagnose import diagnose
from doctord.app.lab import first_cause
from doctord.app.source import Prometheus
from doctord.diagnose.finding import Diagnosis
from doctord.lab.dose import MODERATE
from doctord.lab.errors import UnavailableError
from doctord.lab.fault import Fault, all_faults
from doctord.lab.host.processes import server_user
from doctord.lab.load.workload import Workload
from doctord.lab.run import BEFORE_S, effect_of, loaded_server
from doctord.lab.server import PrivateServer
from doctord.report.diagnosis.document import document
from doctord.units import parse_duration
from exporters import NODE, POSTGRES, PROMETHEUS, missing, node_exporter, postgres_exporter, prometheus, reopened

EVERY_S: Final = 1
SETTLE_S: Final = 2 * EVERY_S
WORDS: Final = {
    "first": "first",
    "named": "more named",
    "noted": "as a note",
    "said": "said to be unseen",
    "missed": "missed",
    "wrong": "wrong",
}
OWN, WAITS = "own metrics", "with wait events"
FOLDERS: Final = {OWN: "own", WAITS: "waits"}
SUBJECTS: Final = {
    "waits": "what sessions wait for",
    "sessions": "who waits for whom",
    "statements": "which statements run",
    "log": "what the server's log says",
    "processes": "which processes use",
}
# Each fault, and what its cause is known by; written down before the first run. `figures`: exporters tell of it.
FAULTS: Final = {
    "none": "figures",
    "bulk_load": "figures",
    "nightly_report": "figures",
    "index_build": "figures",
    "row_lock_convoy": "waits",
    "advisory_lock_chain": "waits",
    "ddl_queue": "waits",
    "notify_commits": "waits",
    "synchronous_standby_missing": "waits",
    "wal_frozen": "waits",
    "subtransactions_overflow": "waits",
    "clients_do_not_take_results": "waits",
    "idle_in_transaction": "sessions",
    "prepared_transaction_hot_row": "sessions",
    "deadlock_loop": "figures",
    "checkpoint_storm": "figures",
    "abandoned_slot": "figures",
    "failing_archiver": "figures",
    "connections_exhausted": "figures",
    "connection_churn": "figures",
    "many_clients": "figures",
    "neighbour_fills": "figures",
    "packets_lost": "figures",
    "server_crashes": "figures",
    "cpu_hog": "processes",
    "cpu_quota": "processes",
    "disk_throttled": "processes",
    "memory_squeeze": "processes",
    "cartesian_joins": "statements",
    "missing_index": "statements",
    "work_mem_spill": "figures",
    "n_plus_one": "statements",
    "jit_everything": "statements",
    "serialization_failures": "log",
}


def main() -> None:
    """Run, then judge what was recorded, or judge all again, and write the table."""
    arguments = _arguments()
    if lacking := missing(PROMETHEUS, NODE, POSTGRES):
        raise SystemExit(lacking)
    arguments.out.mkdir(parents=True, exist_ok=True)
    with suppress(KeyboardInterrupt):
        for name in () if arguments.again else arguments.faults.split(","):
            keep(run_once(name, parse_duration(arguments.window), arguments.out), arguments.rows)
            print(f"{name} recorded", flush=True)
    if not arguments.record_only:
        runs = [_judged_run(run, arguments) for run in kept(arguments.rows)]
        arguments.rows.unlink(missing_ok=True)
        for run in runs:
            keep(run, arguments.rows)
        arguments.table.write_text(page(runs, arguments.window))
        print(f"wrote {arguments.table}")


def run_once(name: str, seconds: float, out: Path) -> Run:
    """One run of the lab, recorded by both servers."""
    fault, moment = all_faults()[name], datetime.now(UTC)
    folder = out / f"{name}-{moment:%Y%m%dT%H%M%S}"
    run = {"fault": name, "at": f"{moment:%F %T}", "folder": folder.name, "skipped": None, "effect": None}
    try:
        with loaded_server(fault, MODERATE, "tpcb", None) as (server, light):
            return run | _recorded(fault, server, light, seconds, folder)
    except (UnavailableError, psycopg.OperationalError) as reason:  # it leaves no room for exporters, or none for it
        return run | {"skipped": " ".join(str(reason).split())[-120:]}


def _recorded(fault: Fault, server: PrivateServer, light: Workload, seconds: float, folder: Path) -> Run:
    """From when to when both servers hold something of a fault, which is kept in a folder, and its effect."""
    with tempfile.TemporaryDirectory(prefix="doctord-prometheus-") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        with _monitored(server, scratch):
            started = time.time()
            time.sleep(BEFORE_S)
            figure = fault.effect.read(server) if fault.effect else None
            begun = time.time()
            with fault.inject(server, MODERATE):
                time.sleep(fault.warm_up_s)
                bites = time.time()
                time.sleep(seconds)
                until = time.time()
                before, during = light.pace(started, begun), light.pace(bites, until)
                effect = effect_of(fault, server, figure, before, during)
        shutil.copytree(scratch, folder, ignore=shutil.ignore_patterns("*.yaml", "lock"))
    span = {end: datetime.fromtimestamp(at, UTC).isoformat() for end, at in (("since", begun), ("until", until))}
    return {"effect": effect and effect.found, **span}


@contextmanager
def _monitored(server: PrivateServer, folder: Path) -> Iterator[None]:
    """Exporters of the host and of the server, and two Prometheus servers that ask them, beside it."""
    dsn = f"user=postgres host={server.folder} port={server.port} dbname=pgbench sslmode=disable"
    user = server_user() or "nobody"
    with ExitStack() as stack:
        node = stack.enter_context(node_exporter(folder))
        for kind, waits in ((OWN, False), (WAITS, True)):
            port = stack.enter_context(postgres_exporter(folder, dsn, with_waits=waits, user=user))
            jobs = {"node": node, "postgres": port}
            stack.enter_context(prometheus(folder / FOLDERS[kind], jobs, EVERY_S))
        time.sleep(SETTLE_S)
        yield


def _judged_run(run: Run, arguments: argparse.Namespace) -> Run:
    """A run with what is diagnosed of it by the code of today; as it is where that was done, or it was skipped."""
    is_done = OWN in run and not arguments.again
    if run["skipped"] or is_done or not (arguments.out / run["folder"]).exists():
        return run
    since, until = (datetime.fromisoformat(run[end]) for end in ("since", "until"))
    told = {}
    for kind, name in FOLDERS.items():
        with tempfile.TemporaryDirectory(prefix="doctord-prometheus-") as scratch:
            copy = Path(scratch) / name
            Path(scratch).chmod(0o755)
            shutil.copytree(arguments.out / run["folder"] / name, copy)
            with reopened(copy) as address:
                told[kind] = _judged(address, since, until)
    judged = run | told | judged_by()
    print(f"{run['fault']}: {progress(judged)}", flush=True)
    return judged


def _judged(address: str, since: datetime, until: datetime) -> Run:
    diagnosis = diagnose(Prometheus(address), Interval(since, until, 0.0)).diagnosis
    return {
        "health": diagnosis.health,
        "first": first_cause(diagnosis),
        "named": root_causes(diagnosis),
        "notes": _notes(diagnosis),
        "not_measured": [one["what"] for one in document(diagnosis)["not_measured"]],
        "not_judged": list(diagnosis.not_judged),
    }


def _notes(diagnosis: Diagnosis) -> list[str]:
    return list(dict.fromkeys(one.cause for one in diagnosis.findings if one.severity == "note"))


def verdict(run: Run, kind: str) -> str:
    """What came of a run: `first`, `named`, `noted`, `said`, `missed` or `wrong`; of a healthy load `right`."""
    cause, told = all_faults()[run["fault"]].cause, run[kind]
    if cause is None:
        return "right" if told["first"] is None else "wrong"
    if told["first"] == cause:
        return "first"
    if cause in told["named"]:
        return "named"
    if cause in told["notes"]:
        return "noted"
    subject = SUBJECTS.get(FAULTS[run["fault"]], "nothing")
    if any(subject in one for one in told["not_measured"]):
        return "said"
    return "missed" if told["first"] is None else "wrong"


def progress(run: Run) -> str:
    """A line about a run, for who waits for it."""
    if run["skipped"]:
        return f"skipped: {run['skipped']}"
    told = (f"{kind}: {verdict(run, kind)} ({', '.join(run[kind]['named']) or 'nothing'})" for kind in (OWN, WAITS))
    return f"{'' if run['effect'] in {True, None} else 'no effect; '}{'; '.join(told)}"


def page(runs: list[Run], window: str) -> str:
    """The page of the reference."""
    done = [run for run in runs if not run["skipped"] and run["effect"] is not False]
    left = [f"`{run['fault']}` ({run['skipped'] or 'the injection took no effect'})" for run in runs if run not in done]
    ill = [run for run in done if all_faults()[run["fault"]].cause]
    healthy = [run for run in done if run not in ill]
    not_counted = f"Not counted: {', '.join(left)}." if left else ""
    text = f"""\
# What a Prometheus can tell of a fault

Made by `benchmarks/prometheus_faults.py` on {datetime.now(UTC):%Y-%m-%d} of [its runs](prometheus-accuracy-runs.jsonl);
do not edit. Each fault of the lab is injected into a private PostgreSQL; Debian's node_exporter 1.5 and
postgres_exporter 0.11 tell a Prometheus 2.42 of it every second (as many scrapes as a few minutes have elsewhere), and
`doctord diagnose --prometheus` is asked about the time from its injection until {window} after it bites. *Own metrics*
is what postgres_exporter 0.11 tells by itself; *with wait events* is the same with sessions counted by wait event, as
it does from 0.17 on, which a file of queries does here. To make it again:

```
.venv/bin/python benchmarks/prometheus_faults.py
```

{machine()}

{_sums(ill, healthy)}

A fault is *first* where its cause is the first finding, *named* where it is another above a note, *noted* where it is a
note, *said* where it is not named and the report says that it could not see what the cause is known by, else *missed*,
or *wrong* where another cause is first. What each cause is known by was written down before the first run.

| fault | cause | known by | own metrics | | with wait events | |
|---|---|---|---|---|---|---|
{chr(10).join(map(_row, (*ill, *healthy)))}

{not_counted}
"""
    return text.rstrip() + "\n"


def _sums(ill: list[Run], healthy: list[Run]) -> str:
    lines = []
    for kind in (OWN, WAITS):
        words = [verdict(run, kind) for run in ill]
        right = sum(verdict(run, kind) == "right" for run in healthy)
        each = ", ".join(f"{words.count(word)} {told}" for word, told in WORDS.items())
        beside = sum(verdict(run, kind) == "said" and run[kind]["first"] is not None for run in ill)
        lines.append(
            f"- **{kind}**: of {len(ill)} faults {each}; {right} of {len(healthy)} "
            f"healthy loads in peace. Of those said to be unseen {beside} have another finding first."
        )
    return "\n".join(lines)


def _row(run: Run) -> str:
    cause = all_faults()[run["fault"]].cause
    cells = [f"`{run['fault']}`", f"`{cause}`" if cause else "none", FAULTS[run["fault"]]]
    for kind in (OWN, WAITS):
        named = ", ".join(f"`{one}`" for one in run[kind]["named"])
        cells += [verdict(run, kind), named or "nothing above a note"]
    return f"| {' | '.join(cells)} |"


def _arguments() -> argparse.Namespace:
    options = parser(__doc__, "prometheus-accuracy")
    options.set_defaults(window="15s")
    options.add_argument("--record-only", action="store_true", help="judge nothing yet: --again does, of all")
    options.add_argument("--faults", default=",".join(FAULTS), help="names separated by commas (default: all)")
    return options.parse_args()


if __name__ == "__main__":
    main()
