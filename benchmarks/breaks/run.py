"""What the check-up says of a server that somebody broke who knows the server's documentation and not our causes.

    .venv/bin/python benchmarks/breaks/run.py benchmarks/breaks/set_7.toml [NAME...]
    .venv/bin/python benchmarks/breaks/run.py benchmarks/breaks/set_7.toml --judge NAME right "names the sequence"
    .venv/bin/python benchmarks/breaks/run.py benchmarks/breaks/set_7.toml --again

A set is written before its first run (break_cases.py says how), with what is right. Each break is put into a private
server beside the service that it hurts, and looked at once. A run is a row of SET-runs.jsonl beside the set, with
what the check-up said, what the service lost, and the slowest synced write beside it (`disk`); whoever judges it
(right, half, honest, wrong, false alarm) reads that against what was written down. False healthy is judged here:
nothing above a note, and the service lost something. The recording stays in OUT, so that `--again` asks the causes of
today.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, Final

from break_cases import Break, Session, read
from break_clients import ERRORS, Place, Request, connected, serving
from break_servers import server_of, shell

sys.path.append(str(Path(__file__).parents[1]))
from lab_runs import Run, judged_again, judged_by, keep, keep_judged_again, kept

from doctord.app.diagnose import diagnose
from doctord.app.source import Live
from doctord.diagnose.finding import Diagnosis
from doctord.lab.host import folder
from doctord.lab.host.disk import DiskPace, synced_writes
from doctord.lab.host.processes import orderly_end
from doctord.lake.writer import write
from doctord.report.diagnosis.terminal import render

BEFORE_S: Final = 5.0
LATENCY_GROWS, THROUGHPUT_FALLS, MORE_FAIL = 1.5, 0.8, 0.05
VERDICTS: Final = ("right", "half", "honest", "wrong", "false alarm", "no case")


def main() -> None:
    """Run the breaks of a set that are not there yet, or judge them; then print the table."""
    arguments = _arguments()
    rows = arguments.set.with_name(f"{arguments.set.stem}-runs.jsonl")
    out = arguments.out / arguments.set.stem
    out.mkdir(parents=True, exist_ok=True)
    if arguments.judge:
        _judge(rows, *arguments.judge)
    elif arguments.again:
        keep_judged_again(rows, lambda run: said(judged_again(out / run["lake"])) | {"judged": None, "why": None}, out)
    else:
        there = {run["name"] for run in kept(rows) if not run["error"]}
        for one in read(arguments.set):
            if one.name in arguments.names or not (arguments.names or one.name in there):
                done = run_once(one, arguments.seconds, arguments.past, out)
                keep(done, rows)
                print(f"{one.name}: {done['error'] or done['health']}: {', '.join(done.get('causes', ()))}", flush=True)
    print(table(read(arguments.set), kept(rows)))


def run_once(one: Break, seconds: float, past_s: float, out: Path) -> Run:
    """One break, looked at once: the row, with the error that it ended in."""
    moment, began = datetime.now(UTC), time.monotonic()
    lake = out / f"{one.name}-{moment:%Y%m%dT%H%M%S}"
    try:
        told = _looked_at(one, seconds, past_s, lake)
    except Exception as error:  # noqa: BLE001 - whatever a break does to the harness is told in its row
        told = {"error": f"{type(error).__name__}: {error}"[:500]}
    return {
        "name": one.name,
        "at": f"{moment:%F %T}",
        **judged_by(),
        "past_s": past_s,
        "lake": lake.name if lake.exists() else None,
        "took_s": round(time.monotonic() - began, 1),
        "judged": None,
        "why": None,
        "error": None,
        **told,
    }


def _looked_at(one: Break, seconds: float, past_s: float, lake: Path) -> Run:
    with orderly_end(), ExitStack() as stack:
        home = stack.enter_context(folder.private_folder())
        server = stack.enter_context(server_of(one, home))
        clients = stack.enter_context(serving(one.services, server.place))
        writes = stack.enter_context(synced_writes(home))
        time.sleep(max(past_s, BEFORE_S))
        begun = time.time()
        server.run(one.sql)
        stack.enter_context(shell(server, one.shell))
        if one.restart and server.restart:
            server.restart()
        for session in one.sessions:
            Thread(target=_stays, args=(session, server.place), daemon=True).start()
        time.sleep(one.warm_up_s)
        bites = time.time()
        examination = diagnose(Live(seconds, [server.dsn]), servers=1)
        requests = clients.requests()
        disk = DiskPace(writes.slowest_ms(begun - BEFORE_S, begun), writes.slowest_ms(bites, time.time()))
        write(lake, examination.seen.batches)
    return said(examination.diagnosis) | {"lost": lost(one, requests, begun, bites), "disk": asdict(disk)}


def said(diagnosis: Diagnosis) -> Run:
    """What a user is told: the health, the causes above a note, those of notes, and the page at 100 columns."""
    above = [finding.cause for finding in diagnosis.findings if finding.severity != "note"]
    notes = [finding.cause for finding in diagnosis.findings if finding.severity == "note"]
    return {"health": diagnosis.health, "causes": above, "notes": notes, "page": render(diagnosis, 100, colour=False)}


def lost(one: Break, requests: Sequence[Request], begun: float, bites: float) -> list[dict[str, Any]]:
    """What each service had before the break and has while it is looked at, and whether it lost something."""
    return [
        {"service": service.name, "before": (b := _pace(mine, begun - BEFORE_S, begun)),
         "during": (d := _pace(mine, bites, time.time())), "is_less": is_less(b, d)}
        for service in one.services
        for mine in [[request for request in requests if request.service == service.name]]
    ]  # fmt: skip


def is_less(before: dict[str, Any], during: dict[str, Any]) -> bool:
    """Whether more fail, fewer are served, or it takes longer."""
    slower = before["median_ms"] and during["median_ms"] and during["median_ms"] >= LATENCY_GROWS * before["median_ms"]
    return bool(
        during["failed"] >= before["failed"] + MORE_FAIL
        or during["served_per_s"] <= THROUGHPUT_FALLS * before["served_per_s"]
        or slower
    )


def _pace(requests: Sequence[Request], since: float, until: float) -> dict[str, Any]:
    sent = [one for one in requests if since <= one.sent_s < until]
    served = [one.took_s * 1e3 for one in sent if one.took_s is not None and one.error is None]
    ended = [one for one in sent if one.took_s is not None]
    failed = [one for one in ended if one.error]
    return {
        "served_per_s": round(len(served) / (until - since), 1),
        "median_ms": round(statistics.median(served), 2) if served else None,
        "failed": round(len(failed) / len(ended), 3) if ended else 0.0,
        "error": failed[0].error if failed else None,
        "under_way": len(sent) - len(ended),
    }


def table(breaks: Sequence[Break], rows: Sequence[Run]) -> str:
    """The breaks with what was said of them, as Markdown; the newest run of each counts."""
    newest = {run["name"]: run for run in rows}
    lines = ["| break | what the service lost | said first | also | verdict |", "|---|---|---|---|---|"]
    for one in breaks:
        if run := newest.get(one.name):
            causes = run.get("causes") or []
            first = f"`{causes[0]}`" if causes else run["error"] or "nothing above a note"
            also = ", ".join(f"`{cause}`" for cause in dict.fromkeys(causes[1:]) if cause not in causes[:1])
            lines.append(f"| {one.says} | {_lost_words(run)} | {first} | {also} | {verdict(one, run)} |")
    return "\n".join(lines)


def verdict(one: Break, run: Run) -> str:
    """Ours where it is plain, else that of who judged it."""
    if run["error"]:
        return "not looked at"
    if run["judged"]:
        return f"{run['judged']}: {run['why']}" if run["why"] else str(run["judged"])
    if one.healthy:
        return "false alarm" if run["causes"] else "right"
    if not any(service["is_less"] for service in run["lost"]):
        return "no loss was measured"
    return "to be judged" if run["causes"] else "**false healthy**"


def _lost_words(run: Run) -> str:
    told = []
    for service in run.get("lost") or ():
        before, during = service["before"], service["during"]
        parts = [f"{before['served_per_s']:g} → {during['served_per_s']:g}/s"]
        if before["median_ms"] and during["median_ms"]:
            parts.append(f"{before['median_ms']:g} → {during['median_ms']:g} ms")
        if during["failed"]:
            parts.append(f"{during['failed']:.0%} fail")
        told.append(f"{service['service']}: {', '.join(parts)}")
    return "; ".join(told)


def _judge(rows: Path, name: str, judged: str, why: str) -> None:
    if judged not in VERDICTS:
        sys.exit(f"{judged} is none of {', '.join(VERDICTS)}")
    runs = kept(rows)
    newest = max(number for number, run in enumerate(runs) if run["name"] == name)
    runs[newest] |= {"judged": judged, "why": why}
    rows.unlink()
    for run in runs:
        keep(run, rows)


def _stays(session: Session, place: Place) -> None:
    with suppress(*ERRORS):  # the server may end it
        connection = connected(session, place)
        for statement in session.sql:
            connection.execute(statement)
        time.sleep(3600)


def _arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("set", type=Path, help="file of the breaks")
    options.add_argument("names", nargs="*", help="those to run; all that have no run yet where none is named")
    options.add_argument("--for", dest="seconds", type=float, default=20.0, help="seconds of the check-up (default 20)")
    told = f"seconds that the service runs before the break (default {BEFORE_S:g}): so long a past have its counters"
    options.add_argument("--past", type=float, default=BEFORE_S, help=told)
    out = Path("/var/tmp/breaks")  # noqa: S108 - there after a restart, which /tmp is not
    options.add_argument("--out", type=Path, default=out, help=f"folder for recordings (default {out})")
    options.add_argument("--judge", nargs=3, metavar=("NAME", "VERDICT", "WHY"), help="judge the newest run of a break")
    options.add_argument("--again", action="store_true", help="ask the causes of today of the recordings")
    return options.parse_args()


if __name__ == "__main__":
    main()
